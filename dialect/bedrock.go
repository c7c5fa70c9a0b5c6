package dialect

import (
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// bedrock is Amazon's Bedrock runtime, https://bedrock-runtime.REGION.amazonaws.com.
// Sources: its user guide, "Troubleshooting error codes" and "How tokens are
// counted", and the AWS SDK for Go, bedrockruntime.
//
// Input and the cap of the output are charged at the start. What is charged in
// the end differs from the tokens reported, which are those that are settled:
// the vendor counts an output token of some models five times.
var bedrock = &vendor{
	name:     "bedrock",
	key:      awsKey,
	account:  awsAccount,
	model:    bedrockModel,
	setModel: bedrockSetModel,
	caps: []string{
		"inferenceConfig.maxTokens", "inferenceConfig.max_new_tokens", "max_tokens", "max_tokens_to_sample", "max_gen_len",
		"textGenerationConfig.maxTokenCount", "maxTokens",
	},
	reserves:  true,
	tokens:    true,
	inputOnly: []string{"/count-tokens", "embed", "rerank"},

	busyScope:   throttle.ScopeModel,
	codes:       append([]string{"error.type"}, awsCodes...),
	messages:    awsMessages,
	codeHeaders: []string{awsErrorType},
	// Errors within a stream are frames of their own, or Anthropic's events.
	signs:   []sign{{at: awsBodyType}, anError},
	unnamed: throttle.ServerError,
	rules: in(
		awsRules(throttle.Busy, "ServiceQuotaExceededException"), // with 400
		modelNotReady(),
		awsRules(throttle.Overloaded, "ServiceUnavailableException"),
		awsRules(throttle.ServerError, "ModelTimeoutException", "ModelErrorException", "ModelStreamErrorException", "InternalServerException"),
		awsRules(throttle.ModelDenied, "AccessDeniedException", "ResourceNotFoundException"),
		awsRules(throttle.BadRequest, "ValidationException"),
		awsCommonRules,
		anthropicRules,
	),
	usage: bedrockUsage,
}

// bedrockUsage is that of Converse, whole and in the event that ends its
// stream, that of Anthropic's models, and, of any model, that in an answer's
// header or in the last chunk of a stream.
var bedrockUsage = []usageField{
	{partOfInput, "X-Amzn-Bedrock-Input-Token-Count", []string{
		"usage.inputTokens", "usage.input_tokens", "message.usage.input_tokens", bedrockMetrics + "inputTokenCount"}},
	{partOfInput, "X-Amzn-Bedrock-Cache-Write-Input-Token-Count", []string{
		"usage.cacheWriteInputTokens", "usage.cache_creation_input_tokens", "message.usage.cache_creation_input_tokens", bedrockMetrics + "cacheWriteInputTokenCount"}},
	{cachedPart, "X-Amzn-Bedrock-Cache-Read-Input-Token-Count", []string{
		"usage.cacheReadInputTokens", "usage.cache_read_input_tokens", "message.usage.cache_read_input_tokens", bedrockMetrics + "cacheReadInputTokenCount"}},
	{allOutput, "X-Amzn-Bedrock-Output-Token-Count", []string{
		"usage.outputTokens", "usage.output_tokens", "message.usage.output_tokens", bedrockMetrics + "outputTokenCount"}},
}

const bedrockMetrics = "amazon-bedrock-invocationMetrics."

// bedrockModel reads the model from "/model/ID/converse". The id is escaped
// there, "…-v1%3A0", and an ARN's slashes are too; some write them as they are.
func bedrockModel(r *http.Request) string {
	_, rest, _ := strings.Cut(r.URL.EscapedPath(), "/model/")
	id, _, _ := cutLast(rest, "/")
	return unescaped(id)
}

// bedrockSetModel leaves what is done with the model, the last segment.
func bedrockSetModel(escaped, model string) string {
	before, rest, _ := strings.Cut(escaped, "/model/")
	_, action, more := cutLast(rest, "/")
	if more {
		action = "/" + action
	}
	return before + "/model/" + escapeSegment(model) + action
}

// modelNotReady are rules for a model that is still being loaded, so that the
// request wasn't given to it.
func modelNotReady() []rule {
	rules := awsRules(throttle.Overloaded, "ModelNotReadyException")
	for i := range rules {
		rules[i].undone = true
	}
	return rules
}
