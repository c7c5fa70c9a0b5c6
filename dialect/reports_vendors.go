package dialect

import (
	"time"

	"github.com/headgate-go/headgate/throttle"
)

const (
	day   = 24 * time.Hour
	month = 30 * day // as MistralLimits has it
)

// What vendors' answers show of their limits, in headers. Those that aren't here
// show nothing, nothing that counts (Twilio-Concurrent-Requests names no limit,
// Meta's usage headers are percentages), or what a function reads; see the
// fields shown and reports of each.
var (
	// openAIShown are limits of a minute, as OpenAI's guide "Rate limits" calls
	// them; but where an account's tier has requests of a day, the same headers
	// have those.
	openAIShown = []shown{
		{unit: throttle.UnitRequests, per: time.Minute, limit: "X-Ratelimit-Limit-Requests", remaining: "X-Ratelimit-Remaining-Requests", refill: "X-Ratelimit-Reset-Requests"},
		{unit: throttle.UnitTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Tokens", remaining: "X-Ratelimit-Remaining-Tokens"},
		{unit: throttle.UnitTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Project-Tokens", remaining: "X-Ratelimit-Remaining-Project-Tokens"},
	}

	// azureShown: requests are those of ten seconds, 20 for 120 a minute. -1
	// stands for no figure.
	azureShown = []shown{
		{unit: throttle.UnitRequests, per: 10 * time.Second, limit: "X-Ratelimit-Limit-Requests", remaining: "X-Ratelimit-Remaining-Requests"},
		{unit: throttle.UnitTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Tokens", remaining: "X-Ratelimit-Remaining-Tokens"},
	}

	// anthropicShown: remaining tokens are rounded to thousands. Not read are
	// …-tokens-*, which show whichever limit is the strictest just now, and
	// …-priority-*, …-fast-* and …-unified-*, which are quotas beside these.
	anthropicShown = []shown{
		{unit: throttle.UnitRequests, per: time.Minute, limit: "Anthropic-Ratelimit-Requests-Limit", remaining: "Anthropic-Ratelimit-Requests-Remaining"},
		{unit: throttle.UnitInputTokens, per: time.Minute, limit: "Anthropic-Ratelimit-Input-Tokens-Limit", remaining: "Anthropic-Ratelimit-Input-Tokens-Remaining", coarse: 1000},
		{unit: throttle.UnitOutputTokens, per: time.Minute, limit: "Anthropic-Ratelimit-Output-Tokens-Limit", remaining: "Anthropic-Ratelimit-Output-Tokens-Remaining", coarse: 1000},
	}

	// mistralShown: ratelimitbysize-* repeat the strictest, without its window.
	mistralShown = []shown{
		{unit: throttle.UnitTokens, per: time.Minute, limit: "X-Ratelimitbysize-Limit-Minute", remaining: "X-Ratelimitbysize-Remaining-Minute"},
		{unit: throttle.UnitTokens, per: month, limit: "X-Ratelimitbysize-Limit-Month", remaining: "X-Ratelimitbysize-Remaining-Month"},
		{unit: throttle.UnitTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Tokens-Minute", remaining: "X-Ratelimit-Remaining-Tokens-Minute"},
		{unit: throttle.UnitRequests, per: time.Minute, limit: "X-Ratelimit-Limit-Req-Minute", remaining: "X-Ratelimit-Remaining-Req-Minute"},
	}

	// groqShown: OpenAI's names, but requests are those of a day.
	groqShown = []shown{
		{unit: throttle.UnitRequests, per: day, limit: "X-Ratelimit-Limit-Requests", remaining: "X-Ratelimit-Remaining-Requests"},
		{unit: throttle.UnitTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Tokens", remaining: "X-Ratelimit-Remaining-Tokens"},
	}

	xAIShown = []shown{
		{unit: throttle.UnitRequests, per: time.Minute, limit: "X-Ratelimit-Limit-Requests", remaining: "X-Ratelimit-Remaining-Requests"},
		{unit: throttle.UnitTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Tokens", remaining: "X-Ratelimit-Remaining-Tokens"},
	}

	// togetherShown are rates per second. The dynamic one is what holds.
	togetherShown = []shown{
		{unit: throttle.UnitRequests, per: time.Second, limit: "X-Ratelimit-Limit-Dynamic", remaining: "X-Ratelimit-Remaining-Dynamic"},
		{unit: throttle.UnitRequests, per: time.Second, limit: "X-Ratelimit-Limit", remaining: "X-Ratelimit-Remaining", instead: true},
		{unit: throttle.UnitTokens, per: time.Second, limit: "X-Tokenlimit-Limit-Dynamic", remaining: "X-Tokenlimit-Remaining-Dynamic"},
		{unit: throttle.UnitTokens, per: time.Second, limit: "X-Tokenlimit-Limit", remaining: "X-Tokenlimit-Remaining", instead: true},
	}

	// fireworksShown: there is one for prompts that weren't cached, too, which
	// no unit here counts.
	fireworksShown = []shown{
		{unit: throttle.UnitInputTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Tokens-Prompt", remaining: "X-Ratelimit-Remaining-Tokens-Prompt"},
		{unit: throttle.UnitOutputTokens, per: time.Minute, limit: "X-Ratelimit-Limit-Tokens-Generated", remaining: "X-Ratelimit-Remaining-Tokens-Generated"},
	}

	// sendGridShown are an endpoint's, in a window that isn't documented.
	sendGridShown = []shown{
		{unit: throttle.UnitRequests, limit: "X-Ratelimit-Limit", remaining: "X-Ratelimit-Remaining"},
	}

	// gatewayShown are Kong's, which stands before many APIs.
	gatewayShown = []shown{
		{unit: throttle.UnitRequests, per: time.Second, limit: "X-Ratelimit-Limit-Second", remaining: "X-Ratelimit-Remaining-Second"},
		{unit: throttle.UnitRequests, per: time.Minute, limit: "X-Ratelimit-Limit-Minute", remaining: "X-Ratelimit-Remaining-Minute"},
		{unit: throttle.UnitRequests, per: time.Hour, limit: "X-Ratelimit-Limit-Hour", remaining: "X-Ratelimit-Remaining-Hour"},
		{unit: throttle.UnitRequests, per: day, limit: "X-Ratelimit-Limit-Day", remaining: "X-Ratelimit-Remaining-Day"},
	}
)
