package pause

import (
	"net/http"
	"time"
)

// RetryAfter reads the Retry-After header: seconds with or without a fraction,
// a duration, an HTTP date measured against the answer's own Date header, or
// an instant in unix time. Of several values the largest counts. It is false
// where none is a wait. See RFC 9110, section 10.2.3.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	return largest(h.Values("Retry-After"), time.Second, VendorNow(h, now))
}

// milliHeaders state a wait in milliseconds: OpenAI's and Azure's SDKs read
// the first, Azure's the second, the AWS SDK for Go (aws/retry) the third.
var milliHeaders = []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms", "X-Amz-Retry-After"}

// RetryAfterMillis reads the headers that state a wait in milliseconds:
// Retry-After-Ms, X-Ms-Retry-After-Ms and X-Amz-Retry-After. The first that
// holds a wait decides.
func RetryAfterMillis(h http.Header, now time.Time) (time.Duration, bool) {
	for _, name := range milliHeaders {
		if d, ok := largest(h.Values(name), time.Millisecond, VendorNow(h, now)); ok {
			return d, true
		}
	}
	return 0, false
}

// FromHeaders returns the wait that an answer's headers name:
// RetryAfterMillis, else RetryAfter, else RateLimit.
func FromHeaders(h http.Header, now time.Time) (time.Duration, bool) {
	if d, ok := RetryAfterMillis(h, now); ok {
		return d, true
	}
	if d, ok := RetryAfter(h, now); ok {
		return d, true
	}
	return RateLimit(h, now)
}
