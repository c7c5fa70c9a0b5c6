// Package pause knows until when a model is closed: every form in which
// vendors say "wait", and the rules by which their figures become a pause.
//
// Invariants:
//
//   - A wait that a vendor names is never trusted as it stands: it is
//     saturated instead of overflowing, a negative, past or unreadable figure
//     counts as none, and Policy.Max bounds the rest.
//   - Of two pauses the one that ends later wins. Nothing that a vendor
//     answers shortens a pause.
//   - After a pause traffic ramps up: with K = Amount*Ramp/Per calls in the
//     ramp's time at full speed, the k-th call (from 0) leaves no earlier than
//     the end plus Ramp*sqrt(2k/K).
//
// The package does no I/O and reads no clock: whatever depends on the present
// takes it as an argument. Its functions are safe for simultaneous use.
//
// # What is honoured
//
// FromHeaders and FromBody are the order that suits most vendors; a dialect
// that needs another one composes the parsers below them. The first source
// that yields a wait decides:
//
//  1. Retry-After-Ms, X-Ms-Retry-After-Ms and X-Amz-Retry-After, all in
//     milliseconds. They come first because those who send them round the same
//     wait up to whole seconds in Retry-After.
//  2. Retry-After: seconds, fractions of them, a duration such as "10s", the
//     three HTTP dates (also with UTC for GMT, which some servers write).
//  3. The IETF's RateLimit fields, drafts 06 to 11. Retry-After takes
//     precedence over them, as the draft demands.
//  4. Fields of a JSON body: retryDelay (google.rpc.RetryInfo), retry_after,
//     retry_after_ms, estimated_time_to_regain_access.
//  5. The text of the body: "try again in 9m38.016s", "retry after 45 seconds".
//
// Dates and instants are measured against the Date header of the same answer
// where it has one, so that a wrong local clock doesn't matter.
//
// Of several values of one source the largest counts: several Retry-After
// lines, "10, 20", several exhausted policies.
//
// # What is ignored
//
//   - Zero, negative, past, NaN, infinite, hexadecimal figures and those with
//     an exponent ("1e309"): they are no wait, never a zero or negative one.
//     The next source is asked.
//   - A date or time in another zone than UTC that names it by letters, or in
//     none: it can't be told what it means.
//   - RateLimit fields that are malformed anywhere (ignored whole, as the draft
//     demands), and policies with something left: they didn't cause the answer.
//   - X-RateLimit-Reset-* and Anthropic-RateLimit-*-Reset. They name the time
//     of full replenishment at one vendor and the end of the window at another,
//     so only a dialect that knows its vendor may read them, with Until.
//
// # Sizes
//
// A wait is at least a microsecond, rounded up, and at most MaxHint. A bare
// number beyond MaxHint is taken for an instant, in unix seconds or
// milliseconds, where that lies within MaxHint of the present: an epoch is
// never read as decades of seconds. What is neither saturates at MaxHint.
package pause
