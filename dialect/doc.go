// Package dialect knows how vendors' APIs are spoken: where a request carries
// its credential and its model, what it will cost, what an answer means, and
// what the call really used.
//
// Read is asked before a request is sent, Judge or JudgeStatus, and Reports, when
// its answer has come, and a Meter while the answer's body streams past.
//
// Invariants:
//
//   - What passes through stays as it was. Read doesn't modify the request; a
//     body that had to be read is put back together, and so is the answer's
//     after Judge: the same bytes, the same end, the same header. A Meter only
//     looks.
//   - Everything is bounded: 1 MiB of a request's body where it has to be kept,
//     64 KiB of an answer's and one second for either, the depth and the keys
//     and values of JSON. What lies beyond isn't seen.
//   - Prompts aren't decoded. JSON is scanned for a few paths, which text in a
//     message can't imitate.
//   - A status alone is never enough, and a text for people is the last resort:
//     a vendor's codes decide first, then its phrases, then what the status
//     means to everybody. Unknown shapes fall back to that. A 200 isn't believed
//     where the vendor is known to hide errors in one.
//   - Usage that can't be read is unknown, never zero.
//   - No credential gets into a Verdict's Detail or an error.
//
// # Answers that stream
//
// Judge reads ahead, also into an answer of 200, and so suits those who have
// the whole answer anyway. A transport, which must hand on every byte as it
// comes, asks JudgeStatus when the header is there, shows the body to a Meter,
// and asks that for its Verdict: after each Write if it wants to act at once.
//
// A Meter takes server-sent events, JSON with a text to a line, JSON (arrays of
// answers too) and AWS event streams apart, wherever the pieces are cut, and
// decompresses a copy of what is in gzip, which is the one case in which it
// has a goroutine, until Usage ends it. Other compressions leave usage unknown.
//
// # Once more, and for another model
//
// JudgeUndone is JudgeStatus for those who might send the request again: it
// tells, too, whether the vendor surely did nothing with it. WithModel puts a
// request for another model, in the path or in a JSON body, and leaves the rest
// of it byte for byte as it was.
//
// # Who and what
//
// The credential is what refusals and probes are about, so it has to outlive a
// request: of a signature it is the access key's id, of Vertex' hourly tokens
// the project, of a Vonage web token the application, of an Entra token the
// Azure resource. The account is what limits are about where that is known to
// be wider (keys of one Azure resource) or narrower (regions of AWS).
//
// A model is whatever a vendor limits apart and can deny alone: an Azure
// deployment, a Slack method, a Stripe endpoint, a kind of GitHub resource, the
// number that sends at Plivo.
//
// # Costs
//
// InputTokens are all input tokens, those read from a cache included;
// CachedTokens are that part of them. Where a vendor counts them apart, as
// Anthropic does, they are added up, so that the same call costs the same at
// every vendor. OutputTokens include reasoning.
//
// Points are what an answer says a query cost (Shopify's GraphQL).
//
// The estimate has two parts. What a request states is certain: its cap of the
// output, where the vendor reserves that (OpenAI, Azure, Bedrock, Groq,
// OpenRouter). The rest is guessed: four bytes of the body to a token, 1000
// tokens for an embedded file, 1024 of output, or the cap where that is lower
// and isn't reserved (all others).
//
// # Limits in headers
//
// Reports reads what an answer's header says of the vendor's limits and of what
// is left of them, if it is sure of it: it is there to raise a count, and must
// take nothing for spent that isn't. Per is the vendor's window.
//
//	OpenAI       x-ratelimit-*-requests, -tokens, -project-tokens    a minute; requests of a day are
//	             told by the time to their full refill
//	Azure        the same, without project; requests of ten seconds, -1 for "no figure"
//	Anthropic    anthropic-ratelimit-requests-*, -input-tokens-*, -output-tokens-*    a minute, tokens
//	             rounded to thousands
//	Groq         as OpenAI, requests of a day
//	xAI          as OpenAI
//	Mistral      x-ratelimitbysize-*-minute, -month, x-ratelimit-*-tokens-minute, -req-minute
//	Together     x-ratelimit-*, x-tokenlimit-*    a second; the dynamic ones, where they are there
//	Fireworks    x-ratelimit-*-tokens-prompt, -generated    a minute
//	HuggingFace  RateLimit of the Hub; as OpenAI of the router
//	GitHub       x-ratelimit-*, by x-ratelimit-resource: core and graphql (points) an hour,
//	             search and code_search a minute
//	Shopify      X-Shopify-Shop-Api-Call-Limit    what is left of the bucket of REST
//	SendGrid     x-ratelimit-limit    of an unknown window
//	Generic,     RateLimit and RateLimit-Policy (drafts 07 to 11), RateLimit-Limit and so on (up to
//	IETF         06), also with X-; X-RateLimit-*-Second, -Minute, -Hour and -Day, as of Kong
//
// A reset says when a limit is full again, or its window over. It isn't read,
// but for OpenAI's day. Not read either: anthropic-ratelimit-tokens-*, which show
// whichever limit is the strictest; Anthropic's priority, fast and unified
// quotas; figures in percent (Meta) or without a limit (Twilio's concurrent
// requests); what is in bodies. What is left in a window that nobody names isn't
// reported. Other vendors send nothing. Custom.Reports adds one's own.
//
// # What isn't covered
//
// Bedrock counts the output of some models several times towards a quota, and
// Fireworks apart what wasn't cached: costs here are tokens as they are. Pools
// that several models share are a Budget's to name. What a vendor's papers don't
// say is decided by its nearest relative; most of it was never tried against the
// vendor itself.
package dialect
