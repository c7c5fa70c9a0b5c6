package dialect

import (
	"net/http"
	"strings"
)

// headerKey returns a function that reads the credential from the first of
// the headers that has one.
func headerKey(names ...string) func(*http.Request) string {
	return func(r *http.Request) string {
		for _, name := range names {
			if key := bare(r.Header.Get(name)); key != "" {
				return key
			}
		}
		return ""
	}
}

// bare returns a header's credential: what follows "Bearer", or the whole
// value for any other scheme and for none. So a key has one fingerprint,
// however it is sent, and it is that of the key as people know it.
func bare(value string) string {
	value = strings.TrimSpace(value)
	scheme, token, _ := strings.Cut(value, " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return value
}

// origin identifies callers without a credential.
func origin(r *http.Request) string { return r.URL.Scheme + "://" + r.URL.Host }
