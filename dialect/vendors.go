package dialect

import "github.com/headgate-go/headgate/throttle"

// The dialects that this version knows.
var (
	Generic   Dialect = generic
	OpenAI    Dialect = openAI
	Anthropic Dialect = anthropic
	Gemini    Dialect = gemini
	Twilio    Dialect = twilio
)

// The dialects that are planned. Read returns an error for them that matches
// throttle.ErrNotBuilt, ByName doesn't find them, and their answers are judged
// as those of Generic.
var (
	AzureOpenAI = planned("azure_openai")
	Vertex      = planned("vertex")
	Bedrock     = planned("bedrock")
	Mistral     = planned("mistral")
	Cohere      = planned("cohere")
	Groq        = planned("groq")
	DeepSeek    = planned("deepseek")
	XAI         = planned("xai")
	OpenRouter  = planned("openrouter")
	Together    = planned("together")
	Fireworks   = planned("fireworks")
	Perplexity  = planned("perplexity")
	HuggingFace = planned("huggingface")
	Vonage      = planned("vonage")
	MessageBird = planned("messagebird")
	Plivo       = planned("plivo")
	Sinch       = planned("sinch")
	SES         = planned("ses")
	SNS         = planned("sns")
	SendGrid    = planned("sendgrid")
	Mailgun     = planned("mailgun")
	Stripe      = planned("stripe")
	Slack       = planned("slack")
	GitHub      = planned("github")
	Shopify     = planned("shopify")
	WhatsApp    = planned("whatsapp")
	MetaGraph   = planned("meta_graph")
	IETF        = planned("ietf")
)

var known = []*vendor{generic, openAI, anthropic, gemini, twilio}

// ByName returns the dialect of that name: "generic", "openai", "anthropic",
// "gemini" or "twilio".
func ByName(name string) (Dialect, bool) {
	for _, v := range known {
		if v.name == name {
			return v, true
		}
	}
	return nil, false
}

func planned(name string) Dialect {
	v := *generic
	v.name, v.unbuilt = name, true
	return &v
}

// generic is plain HTTP: a credential in one of the usual headers, the model,
// if any, in a JSON body, and the status' own meaning. A limit is taken to be
// the whole key's, since nothing tells what else it could belong to.
var generic = &vendor{
	name:      "generic",
	key:       headerKey("Authorization", "X-Api-Key", "Api-Key"),
	bodyModel: true,
	busyScope: throttle.ScopeKey,
	codes:     []string{"error.code", "error.type", "code", "type", "error"},
	messages:  []string{"error.message", "message", "detail", "error"},
	rules:     []rule{deniedAccess, deniedModel},
}

// What a refusal of a model says at vendors that have no code for it.
var (
	deniedAccess = rule{status: 403, says: []string{"access to model"}, class: throttle.ModelDenied}
	deniedModel  = rule{status: 403, says: []string{"model", "not allowed"}, class: throttle.ModelDenied}
)
