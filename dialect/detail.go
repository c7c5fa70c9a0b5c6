package dialect

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a code that is shown.
const (
	maxCode   = 64
	maxDigits = 6
	maxShown  = 3 // codes of one answer
)

// detail names the status and the vendor's codes: "429 insufficient_quota".
func (v *vendor) detail(a *answer) string {
	shown := []string{strconv.Itoa(a.resp.StatusCode)}
	secrets := v.secretsOf(a.resp)
	for _, c := range a.facts.codes {
		code := a.facts.textOf(c)
		switch {
		case len(shown) > maxShown, !isCode(code), slices.Contains(shown, code), !v.shows(c.at):
		case slices.ContainsFunc(secrets, func(secret string) bool { return overlaps(code, secret) }):
		default:
			shown = append(shown, code)
		}
	}
	return strings.Join(shown, " ")
}

// shows reports whether what stands at a place is a code rather than a figure.
func (v *vendor) shows(at string) bool {
	return slices.Contains(v.codes, at) || slices.Contains(v.codeHeaders, at)
}

// Where a credential may be, whichever vendor it is: a key that was sent in
// the wrong place isn't to be shown either.
var (
	secretHeaders = []string{
		"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "X-Shopify-Access-Token", "X-Amz-Security-Token",
	}
	secretParams = []string{"key", "api_key", "api_secret", "access_token", "token"}
)

// secretsOf returns what of the request the answer must not make known.
func (v *vendor) secretsOf(resp *http.Response) []string {
	r := resp.Request
	if r == nil || r.URL == nil {
		return nil
	}
	secrets := []string{call(v.key, r)}
	for _, name := range secretHeaders {
		secrets = append(secrets, bare(r.Header.Get(name)))
	}
	query := r.URL.Query()
	for _, name := range secretParams {
		secrets = append(secrets, query.Get(name))
	}
	if user, password, ok := r.BasicAuth(); ok {
		secrets = append(secrets, user, password)
	}
	if b := (bodyScan{vendor: v, wantsKey: true, copyOnly: true}); len(v.bodyKey) > 0 {
		b.read(r)
		secrets = append(secrets, b.key[:]...)
	}
	return secrets
}

// overlaps reports whether one text is part of the other.
func overlaps(code, secret string) bool {
	return secret != "" && (strings.Contains(code, secret) || strings.Contains(secret, code))
}

// isCode reports whether a text is a code and can't be a credential: a short
// number, or words without digits and with nothing but "_", "-" and "."
// between them.
func isCode(text string) bool {
	if text == "" || len(text) > maxCode {
		return false
	}
	if strings.Trim(text, "0123456789") == "" {
		return len(text) <= maxDigits
	}
	for _, c := range []byte(text) {
		if !isLower(c|0x20) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
