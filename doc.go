// Package headgate keeps a service within what its vendors allow: an
// http.RoundTripper that every request to a paid API passes, so that a whole
// fleet of processes shares one budget per model, live callers come before
// background work, and a vendor's "slow down" is obeyed by everybody at once.
//
// A service wraps its http.Client once and gives that to the vendor's SDK:
//
//	th, err := throttle.New(throttle.Config{
//		Budgets: []throttle.Budget{{
//			Models: []string{"gpt-4o*"},
//			Limits: []throttle.Limit{throttle.Requests(600, time.Minute), throttle.Tokens(150_000, time.Minute)},
//		}},
//	})
//	if err != nil { … }
//	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI)}
//	ai := openai.NewClient(option.WithHTTPClient(client), option.WithMaxRetries(0))
//
// Without a Store in its Config a throttle keeps its counts in memory, for one
// process.
//
// # A request's way
//
// The dialect reads which key a request uses, which model it is for and what it
// is likely to cost. The throttle admits it, lets it wait or denies it. Only the
// key's fingerprint goes on from here; the key itself reaches no store, log,
// event or error of this module. Then the request is sent as the caller made it.
//
// The answer is judged by its header and, unless its status is 2xx, by the start
// of its body, which the caller still gets whole. What it means (busy, key
// refused, and so on) is told to the throttle. A 2xx body is handed on as it
// arrives, while a meter reads the usage that the vendor reports in it: in JSON,
// in streams of events or lines, and in frames, gzip included. An error in the
// midst of an answer of 200 is told as soon as it has been read.
//
// # What a call costs
//
// A call is charged its estimate when it is let through, and that is corrected
// once, when its answer has ended:
//
//   - usage that was read to the end of the body, of the JSON in it, or of a
//     stream that says "[DONE]", replaces the estimate
//   - an answer that was closed early or cut off costs the larger of the
//     estimate and the usage seen, field by field
//   - tokens and money are given back, and the request kept, for an answer
//     without usage that is a bad request, a refused key, exhausted credit or a
//     denied model, and for any other 3xx or 4xx that isn't a "busy"
//   - everything else keeps the estimate: an answer without usage, a server's
//     error, "busy" and "overloaded", and a request that broke off
//   - a request of which no byte was written is given back whole: no
//     connection, no TLS, or a context that ended before one was there. A base
//     that reports nothing to net/http/httptrace is believed only where its
//     error is that of a dial or a handshake
//
// What a request doesn't state of its cost is guessed. Usage of answers that were
// read whole teaches the budget what guesses are worth, so that later ones come
// near the truth. An answer that was cut off, or was an error, teaches nothing,
// and a Cost in WithCall leaves nothing to guess.
//
// # What vendors say is left
//
// The headers in which a vendor shows his limits are told to the throttle with
// every answer, before its body: see dialect.Reports and throttle's
// Permit.Reported. Where less is left than the fleet has counted, somebody else
// spends the same quota, and the count is raised.
//
// # Lanes
//
// The request's context says who is asking:
//
//	req = req.WithContext(lanes.With(ctx, lanes.Background))
//
// Background calls may draw 60 % of each limit and are denied at once beyond
// that; calls without a lane are live, may draw all of it, and wait up to five
// seconds for room. Config.Lanes changes both. WithCall overrides the rest of
// what the dialect reads.
//
// # Denials and SDKs that retry
//
// A denial is a *throttle.DeniedError, with the reason and when to come back.
// http.Client wraps it in a *url.Error, which errors.As and errors.Is see
// through. Most SDKs do, too, but some send a request again after any error:
// turn their retries off, or use WithDeniedResponses. Each attempt passes the
// throttle anew and is charged if it is sent, so an SDK's retries multiply with
// those of WithRetries. Where an SDK has a timeout per request, waiting counts
// towards it, and some replace the denial by a bare context.DeadlineExceeded
// then.
//
// # Retries and fallbacks
//
// WithRetries has the Transport itself send a request again, which is better
// than an SDK's retries in two ways: a retry waits behind the pause that the
// whole fleet obeys, no longer than its lane may, and nothing that may have
// arrived is sent twice, unless the request says that it may be. What can't be
// retried in time comes back as the vendor answered it.
//
// WithFallbacks names backup models. A call that the throttle denies its own
// model goes to the first of them that has room; FallbackFrom tells which one
// answered.
//
// Both are off unless asked for. Together they make a retry whose model is paused
// for too long go to a backup.
//
// # Credentials in URLs
//
// No error made here contains a URL. But http.Client begins the text of every
// error with the request's URL, its query included, so a key in the query
// (?key=…) is in what the client returns. Send such keys in a header, or log
// the error that errors.Unwrap finds in the *url.Error.
//
// # The status page
//
// StatusHandler is a page to mount beside net/http/pprof: budgets and what each
// lane has left, pauses, refused keys, who shares the store, its outages and the
// last changes of state, live, as HTML or JSON. WithOperator adds buttons that
// pause, resume and probe.
package headgate
