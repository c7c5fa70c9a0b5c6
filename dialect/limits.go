package dialect

import (
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// AnthropicLimits returns the limits of one model class as Anthropic states
// them: requests, input and output tokens per minute. A zero leaves that limit
// out; New refuses a negative one.
//
// Anthropic documents a token bucket with continuous refill, and that 60
// requests per minute may be enforced as one per second ("Rate limits"). So
// these are token buckets: of one second's requests, and of a hundredth fewer
// tokens than the vendor's, so that jitter on the way there doesn't overdraw
// his. Unlike the vendor's, the input limit counts tokens read from the cache
// too, and so is the stricter one.
func AnthropicLimits(rpm, inputTPM, outputTPM int64) []throttle.Limit {
	return some(
		everySecond(throttle.Requests(rpm, time.Minute)),
		nearlyFull(throttle.InputTokens(inputTPM, time.Minute)),
		nearlyFull(throttle.OutputTokens(outputTPM, time.Minute)),
	)
}

// OpenAILimits returns a model's limits as OpenAI states them: requests, and
// input and output tokens together, per minute. A zero leaves that limit out;
// New refuses a negative one.
//
// OpenAI documents no algorithm, but its headers speak of refilling ("Rate
// limits"), and its cookbook says that a limit may be enforced in shorter
// pieces, 60 000 per minute as 1 000 per second. So these are token buckets: of
// one second's requests, and of a hundredth fewer tokens than tpm, so that a
// large call still fits.
func OpenAILimits(rpm, tpm int64) []throttle.Limit {
	return some(
		everySecond(throttle.Requests(rpm, time.Minute)),
		nearlyFull(throttle.Tokens(tpm, time.Minute)),
	)
}

// GeminiLimits returns a model's limits as Gemini states them: requests and
// input tokens per minute. A zero leaves that limit out; New refuses a
// negative one. Google documents no algorithm, so these are sliding windows.
func GeminiLimits(rpm, inputTPM int64) []throttle.Limit {
	return some(
		throttle.Requests(rpm, time.Minute),
		throttle.InputTokens(inputTPM, time.Minute),
	)
}

// everySecond makes a limit per minute a bucket of one second's worth.
func everySecond(l throttle.Limit) throttle.Limit {
	return l.Using(throttle.TokenBucket).WithBurst(max(l.Amount/60, 1))
}

// nearlyFull makes a limit a bucket a hundredth smaller than its amount.
func nearlyFull(l throttle.Limit) throttle.Limit {
	return l.Using(throttle.TokenBucket).WithBurst(max(l.Amount-(l.Amount+99)/100, 1))
}

// some leaves out the limits that aren't set.
func some(limits ...throttle.Limit) []throttle.Limit {
	var set []throttle.Limit
	for _, l := range limits {
		if l.Amount != 0 {
			set = append(set, l)
		}
	}
	return set
}
