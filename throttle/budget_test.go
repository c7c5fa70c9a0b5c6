package throttle

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"gpt-4o", []string{"gpt-4o"}, []string{"", "gpt-4", "gpt-4o-mini", "xgpt-4o", "GPT-4o"}},
		{"", []string{""}, []string{"x"}},
		{"*", []string{"", "x", "a/b", "a\nb", "*"}, nil},
		{"gpt-4*", []string{"gpt-4", "gpt-4o", "gpt-4/a/b"}, []string{"xgpt-4", "gpt-"}},
		{"*-mini", []string{"-mini", "gpt-4o-mini", "a/b-mini"}, []string{"gpt-4o-mini-2"}},
		{"*/gpt-4*", []string{"openai/gpt-4o", "/gpt-4", "a/b/gpt-4/c"}, []string{"gpt-4"}},
		{"a*a", []string{"aa", "aba", "a/a/a"}, []string{"a", "ab", "ba"}},
		{"a*b*c", []string{"abc", "abbc", "axbxc", "abcbc"}, []string{"ac", "acb", "abcx", "xabc"}},
		{"**", []string{"", "x"}, nil},
		{"a**b", []string{"ab", "a/b"}, []string{"a", "b"}},
		{"a.c", []string{"a.c"}, []string{"abc"}},
		{"[ab]*", []string{"[ab]", "[ab]x"}, []string{"a", "b"}},
		{"a?*", []string{"a?", "a?b"}, []string{"ab"}},
		{"模型*", []string{"模型", "模型-1"}, []string{"模"}},
	}
	for _, tt := range tests {
		for _, s := range tt.yes {
			if !matchPattern(tt.pattern, s) {
				t.Errorf("%q doesn't match %q", tt.pattern, s)
			}
		}
		for _, s := range tt.no {
			if matchPattern(tt.pattern, s) {
				t.Errorf("%q matches %q", tt.pattern, s)
			}
		}
	}
}

// regexpOf says in another language what a pattern means.
func regexpOf(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, `.*`) + `\z`)
}

func FuzzPattern(f *testing.F) {
	f.Add("gpt-4*", "gpt-4o")
	f.Add("*a*b", "xaxbxab")
	f.Add("a*a", "a")
	f.Add("", "")
	f.Add("*\n*", "a\n/")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		// Regular expressions read text, where a broken byte has no meaning.
		pattern, s = strings.ToValidUTF8(pattern, "?"), strings.ToValidUTF8(s, "?")
		if got, want := matchPattern(pattern, s), regexpOf(pattern).MatchString(s); got != want {
			t.Errorf("matchPattern(%q, %q) = %v, want %v", pattern, s, got, want)
		}
	})
}

func TestRandomPatternsMatchAsTheirRegexpDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	word := func(letters string) string {
		b := make([]byte, rnd.IntN(8))
		for i := range b {
			b[i] = letters[rnd.IntN(len(letters))]
		}
		return string(b)
	}
	matched := 0
	for range 5000 {
		pattern, s := word("ab*/*"), word("ab/")
		got := matchPattern(pattern, s)
		if want := regexpOf(pattern).MatchString(s); got != want {
			t.Fatalf("matchPattern(%q, %q) = %v, want %v", pattern, s, got, want)
		}
		if got {
			matched++
		}
	}
	if matched < 100 {
		t.Errorf("only %d of 5000 matched", matched)
	}
}

func TestABudgetIsForAllItsModels(t *testing.T) {
	b := Budget{Models: []string{"gpt-4o", "claude-*"}}
	for model, want := range map[string]bool{"gpt-4o": true, "claude-3": true, "gpt-4": false, "": false} {
		if got := b.matches(model); got != want {
			t.Errorf("matches(%q) = %v", model, got)
		}
	}
	if (Budget{}).matches("") {
		t.Error("a budget without models matches the empty one")
	}
}

func TestABudgetWithoutANameHasItsFirstModels(t *testing.T) {
	for want, b := range map[string]Budget{
		"gpt-*": {Models: []string{"gpt-*", "o1"}},
		"own":   {Name: "own", Models: []string{"gpt-*"}},
		"":      {},
	} {
		if got := b.name(); got != want {
			t.Errorf("name of %v is %q, want %q", b, got, want)
		}
	}
}
