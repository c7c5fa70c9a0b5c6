// Package dialect knows how vendors' APIs are spoken: where a request carries
// its credential and its model, what it will cost, what an answer means, and
// what the call really used.
//
// Read is asked before a request is sent, Judge or JudgeStatus when its answer
// has come, and a Meter while the answer's body streams past.
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
//     means to everybody. Unknown shapes fall back to that.
//   - Usage that can't be read is unknown, never zero.
//   - No credential gets into a Verdict's Detail or an error.
//
// # Costs
//
// InputTokens are all input tokens, those read from a cache included;
// CachedTokens are that part of them. Where a vendor counts them apart, as
// Anthropic does, they are added up, so that the same call costs the same at
// every vendor. OutputTokens include reasoning.
//
// The estimate has two parts. What a request states is certain: its cap of the
// output, where the vendor reserves that (OpenAI). The rest is guessed: four
// bytes of the body to a token, 1000 tokens for an embedded file, 1024 of
// output, or the cap where that is lower and isn't reserved (Anthropic, Gemini).
package dialect
