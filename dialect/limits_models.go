package dialect

import (
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// What all of the functions named after a vendor have in common: they return
// limits for a throttle.Budget, as the vendor states them and, as far as is
// known, as he counts. A zero leaves a limit out; throttle.New refuses a
// negative one. Where no algorithm is documented they are sliding windows,
// which no vendor's counting refuses much of.

// AzureOpenAILimits returns a deployment's limits as Azure states them:
// requests, and input and output tokens together, per minute. Older models
// have 6 requests a minute for each 1000 tokens.
//
// Azure documents (quota.md) that tokens are counted in a window that is reset
// each minute, and that requests are checked over one or ten seconds. So the
// one is a sliding window, since the vendor's reset isn't known, and the other a
// token bucket of one second's requests.
func AzureOpenAILimits(rpm, tpm int64) []throttle.Limit {
	return some(
		everySecond(throttle.Requests(rpm, time.Minute)),
		throttle.Tokens(tpm, time.Minute),
	)
}

// VertexLimits returns a model's limit in a project and region: requests per
// minute. Models of the dynamic shared quota have none that could be stated.
func VertexLimits(rpm int64) []throttle.Limit {
	return some(throttle.Requests(rpm, time.Minute))
}

// BedrockLimits returns a model's limits in a region as AWS states them:
// requests and tokens per minute, and tokens per day. No algorithm is
// documented. Of models whose output the vendor counts several times ("How
// tokens are counted": five times from Claude 3.7 on), give less than his
// figures.
func BedrockLimits(rpm, tpm, tpd int64) []throttle.Limit {
	return some(
		throttle.Requests(rpm, time.Minute),
		throttle.Tokens(tpm, time.Minute),
		throttle.Tokens(tpd, 24*time.Hour),
	)
}

// MistralLimits returns a model's limits as Mistral states them for an
// organization: requests per second, and tokens per minute and per month of 30
// days ("Rate limits and usage tiers"). A limit per second is a token bucket, a
// hundredth smaller than stated for the jitter on the way there.
func MistralLimits(rps, tpm, tokensPerMonth int64) []throttle.Limit {
	return some(
		nearlyFull(throttle.Requests(rps, time.Second)),
		throttle.Tokens(tpm, time.Minute),
		throttle.Tokens(tokensPerMonth, 30*24*time.Hour),
	)
}

// CohereLimits returns an endpoint's limit as Cohere states it: calls per
// minute.
func CohereLimits(rpm int64) []throttle.Limit {
	return some(throttle.Requests(rpm, time.Minute))
}

// GroqLimits returns a model's limits as Groq states them for an organization:
// requests and tokens, per minute and per day ("Rate Limits"). Unlike the
// vendor's, they count tokens read from the cache too.
func GroqLimits(rpm, rpd, tpm, tpd int64) []throttle.Limit {
	return some(
		throttle.Requests(rpm, time.Minute),
		throttle.Requests(rpd, 24*time.Hour),
		throttle.Tokens(tpm, time.Minute),
		throttle.Tokens(tpd, 24*time.Hour),
	)
}

// XAILimits returns a model's limits as xAI states them for a team: requests
// and tokens per minute. It documents ("Rate limits") that requests are
// enforced per second, a 60th each, so they are a token bucket of one second's.
func XAILimits(rpm, tpm int64) []throttle.Limit {
	return some(
		everySecond(throttle.Requests(rpm, time.Minute)),
		throttle.Tokens(tpm, time.Minute),
	)
}

// FireworksLimits returns an account's limits: input and output tokens per
// minute, where each follows what was used ("Serverless rate limits"), so they
// are a start. The vendor has one for input that wasn't cached, too, which
// can't be stated here.
func FireworksLimits(promptTPM, generatedTPM int64) []throttle.Limit {
	return some(
		throttle.InputTokens(promptTPM, time.Minute),
		throttle.OutputTokens(generatedTPM, time.Minute),
	)
}

// PerplexityLimits returns a key's limit, all models together: requests per
// minute. It is said to be a leaky bucket, so this is a token bucket of one
// second's requests.
func PerplexityLimits(rpm int64) []throttle.Limit {
	return some(everySecond(throttle.Requests(rpm, time.Minute)))
}

// HuggingFaceLimits returns a user's limit for one kind of requests to the Hub,
// as Hugging Face states it: per window of five minutes ("Hub rate limits").
func HuggingFaceLimits(requests int64) []throttle.Limit {
	return some(throttle.Requests(requests, 5*time.Minute))
}
