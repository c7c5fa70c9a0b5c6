package dialect

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/throttle"
)

// A slip in a vendor's table is silent: a rule that looks where nothing is
// collected never holds.
func TestVendorsTablesHangTogether(t *testing.T) {
	names := map[string]bool{}
	for _, v := range known {
		if v.name == "" || names[v.name] {
			t.Errorf("%q: the name isn't one, or is another's too", v.name)
		}
		names[v.name] = true
		if v.key == nil || v.busyScope == throttle.ScopeNone {
			t.Errorf("%s: no key or no scope", v.name)
		}
		if len(v.usage) > maxUsageFields || len(v.bodyKey) > maxBodyKey {
			t.Errorf("%s: a table is too long", v.name)
		}
		if (len(v.signs) > 0) != (v.unnamed != throttle.OK) {
			t.Errorf("%s: signs of errors, and what those mean, go together", v.name)
		}
		checkPlaces(t, v)
		checkRules(t, v)
		checkShown(t, v)
	}
}

func checkShown(t *testing.T, v *vendor) {
	t.Helper()
	for i, s := range v.shown {
		for _, name := range []string{s.limit, s.remaining, s.refill} {
			if name != http.CanonicalHeaderKey(name) {
				t.Errorf("%s: header %q isn't in canonical form", v.name, name)
			}
		}
		if s.limit == "" || s.remaining == "" || s.instead && i == 0 {
			t.Errorf("%s: %+v isn't a limit", v.name, s)
		}
	}
}

func checkPlaces(t *testing.T, v *vendor) {
	t.Helper()
	places := slices.Concat(v.codes, v.figures, v.messages, v.caps, v.choices)
	for _, field := range v.usage {
		places = append(places, field.at...)
		if field.header != http.CanonicalHeaderKey(field.header) {
			t.Errorf("%s: header %q isn't in canonical form", v.name, field.header)
		}
	}
	for _, s := range v.signs {
		places = append(places, s.at)
	}
	for _, place := range places {
		segments := strings.Split(place, ".")
		if len(segments) > maxPath || slices.ContainsFunc(segments, func(s string) bool { return s == "" || len(s) > maxKey }) {
			t.Errorf("%s: no scanner finds %q", v.name, place)
		}
	}
}

func checkRules(t *testing.T, v *vendor) {
	t.Helper()
	collected := slices.Concat(v.codes, v.figures, v.codeHeaders, v.figureHeaders)
	for _, name := range slices.Concat(v.codeHeaders, v.figureHeaders) {
		if name != http.CanonicalHeaderKey(name) {
			t.Errorf("%s: header %q isn't in canonical form", v.name, name)
		}
	}
	for _, r := range v.rules {
		if r.class == throttle.OK || (r.at == "") != (len(r.is) == 0) {
			t.Errorf("%s: a rule isn't complete: %+v", v.name, r)
		}
		if len(r.says) > 0 && len(v.messages) == 0 {
			t.Errorf("%s: no texts are collected for %q", v.name, r.says)
		}
		for _, phrase := range r.says {
			if phrase != strings.ToLower(phrase) {
				t.Errorf("%s: %q isn't in lower case", v.name, phrase)
			}
		}
		isShared := slices.ContainsFunc(slices.Concat(openAIRules, anthropicRules, geminiRules, awsCommonRules), func(s rule) bool {
			return s.at == r.at && slices.Equal(s.is, r.is)
		})
		if r.at != "" && !isShared && !slices.ContainsFunc(collected, func(at string) bool { return isPlace(at, r.at) }) {
			t.Errorf("%s: nothing is collected at %q", v.name, r.at)
		}
	}
}

func TestCodesAreCompared(t *testing.T) {
	tests := []struct {
		code, want string
		matches    bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"A", "a", false},
		{"x_BLOCKED", "*_BLOCKED", true}, {"_BLOCKED", "*_BLOCKED", true}, {"BLOCKED", "*_BLOCKED", false},
		{"free_tier_daily", "free_tier_*", true}, {"a_free_tier_", "free_tier_*", false},
		{"200", "200-299", true}, {"299", "200-299", true}, {"300", "200-299", false}, {"199", "200-299", false}, {"250x", "200-299", false},
		{"200-299", "200-299", true}, {"5", "global-rate", false}, {"", "global-rate", false},
	}
	for _, tt := range tests {
		if got := matchesAny(tt.code, []string{"other", tt.want}); got != tt.matches {
			t.Errorf("%q as %q: %v, want %v", tt.code, tt.want, got, tt.matches)
		}
	}
}

func TestErrorNames(t *testing.T) {
	for text, want := range map[string]string{
		"ThrottlingException": "ThrottlingException", "ThrottlingException:http://x#y": "ThrottlingException", "com.amazon#X:http://y": "X", " X ": "X", "": "",
	} {
		if got := errorName(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzFacts(f *testing.F) {
	f.Add([]byte(`<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>`))
	f.Add([]byte(`{"__type":"a#b:c","error":{"code":5,"metadata":{"headers":{"X-RateLimit-Reset":"1767229200000"}}}}`))
	f.Add([]byte("<Code>&#xFFFFFF;<Code><![CDATA[x]]>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, v := range known {
			facts := factsOf(v, http.Header{"X-Amzn-Errortype": {"x"}, "Stripe-Rate-Limited-Reason": {string(body)}}, body)
			if len(facts.codes) > maxFacts || len(facts.messages) > maxFacts || len(facts.text) > 2*maxFacts*maxMessage {
				t.Errorf("%s: %d codes, %d texts, %d bytes", v.name, len(facts.codes), len(facts.messages), len(facts.text))
			}
			facts.status()
			facts.say([]string{"x"})
		}
	})
}
