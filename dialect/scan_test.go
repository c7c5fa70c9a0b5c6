package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// scanLog scans the pieces and returns what the scanner reported.
func scanLog(pieces ...string) []string {
	var log []string
	s := newScanner(maxModel, func(at *path, kind valueKind, text *textBuffer) {
		var keys []string
		for i := range at.depth {
			switch key := &at.keys[i]; {
			case key.isItem:
				keys = append(keys, anyItem)
			case key.size < 0:
				keys = append(keys, "(long)")
			default:
				keys = append(keys, string(key.text[:key.size]))
			}
		}
		log = append(log, fmt.Sprintf("%s %d %s %v", strings.Join(keys, "."), kind, text, text.cut))
	})
	for _, piece := range pieces {
		s.Write([]byte(piece))
	}
	return log
}

// modelOf returns the top-level "model" as a request's scan finds it.
func modelOf(pieces ...string) string {
	b := bodyScan{vendor: openAI}
	s := newScanner(maxModel, b.visit)
	for _, piece := range pieces {
		s.Write([]byte(piece))
	}
	return b.model
}

func bytewise(text string) []string {
	var pieces []string
	for i := range len(text) {
		pieces = append(pieces, text[i:i+1])
	}
	return pieces
}

func TestScanReportsPathsAndValues(t *testing.T) {
	got := scanLog(`{"a":1,"b":[true,{"c":"x\ny"}],"d":{"e":null},"f":-1.5e3 } "next"`)
	want := []string{
		" 3  false", "a 1 1 false", "b 4  false", "b.* 2 true false", "b.* 3  false", "b.*.c 0 x\ny false",
		"d 3  false", "d.e 2 null false", "f 1 -1.5e3 false", " 0 next false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("reported\n%q, want\n%q", got, want)
	}
}

func TestScanIsNotFooledByOtherModels(t *testing.T) {
	tests := map[string]string{
		`{"model":"m"}`:                                                   "m",
		` { "a" : 1 , "model" : "m" } `:                                   "m",
		`{"messages":[{"model":"x"}],"model":"m"}`:                        "m",
		`{"model":"m","messages":[{"model":"x"}]}`:                        "m",
		`{"metadata":{"model":"x"},"model":"m"}`:                          "m",
		`{"messages":[{"content":"\"model\":\"x\""}],"model":"m"}`:        "m",
		`{"messages":[{"content":"\\\"},{\"model\":\"x\""}],"model":"m"}`: "m",
		`{"messages":[{"content":"}],\"model\":\"x\","}],"model":"m"}`:    "m",
		`{"prompt":"model","x":"model","model":"m"}`:                      "m",
		`{"mod\u0065l":"m"}`:                                              "m",
		`{"model":"m\u00e9\/\ud83d\ude00"}`:                               "mé/😀",
		`{"model":"a","model":"m"}`:                                       "m",
		`{"model":"a","model":5}`:                                         "",
		`{"model":"a","model":{"model":"b"}}`:                             "",
		`{"model":["m"]}`:                                                 "",
		`{"model":null}`:                                                  "",
		`{"Model":"m"}`:                                                   "",
		`{"a.model":"m","a":{"model":"x"}}`:                               "",
		`[{"model":"m"}]`:                                                 "",
		`"model"`:                                                         "",
		`{"model" "m"}`:                                                   "",
		`{"a":1,}"model":"m"}`:                                            "",
		`{"a":[1},"model":"m"}`:                                           "",
		`{"a":tru,"model":"m"}`:                                           "",
		`model=m&x={"model":"x"}`:                                         "",
		`{"model":"m`:                                                     "",
		`{"model":""}`:                                                    "",
		`{"model":"` + strings.Repeat("x", 300) + `"}`:                    strings.Repeat("x", 300),
		`{"model":"` + strings.Repeat("x", 5000) + `"}`:                   strings.Repeat("x", maxModel),
		`{"` + strings.Repeat("k", 500) + `":"x","model":"m"}`:            "m",
		`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,"model":"m"}`:                 "m",
		`{"a":` + strings.Repeat(`{"model":`, 100) + `"x"` + strings.Repeat("}", 100) + `,"model":"m"}`: "m",
		`{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `,"model":"m"}`:                 "", // given up
	}
	for text, want := range tests {
		if got := modelOf(text); got != want {
			t.Errorf("%.80s: model %.40q, want %.40q", text, got, want)
		}
		if got := modelOf(bytewise(text)...); got != want {
			t.Errorf("%.80s, byte by byte: model %.40q, want %.40q", text, got, want)
		}
	}
}

func TestScanAllocatesNothingPerByte(t *testing.T) {
	event := []byte(`{"choices":[{"delta":{"content":"` + strings.Repeat("text, \\n", 100) + `"},"n":[1,2,3.5,null]}],"usage":null}`)
	report := newUsageReport(openAIUsage, nil)
	s := newScanner(maxKept, report.visit)
	allocs := testing.AllocsPerRun(100, func() { s.Write(event) })
	if allocs > 0 {
		t.Errorf("%v allocations for %d bytes, want none", allocs, len(event))
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","max_tokens":5}`, `{"messages":[{"content":"\"model\":\"x\""}],"model":"m"}`, `[1,2,{"a":[]}]`,
		`{"model":"\ud83d\ude00\ud800\u0041\u00zz"}`, "{\"model\":\"\xff\"}", `{"a":tru}`, `-1.5e+3 "x" nul`, `{"usage":{"prompt_tokens":3}}`,
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		whole := scanLog(string(text))
		if got := scanLog(bytewise(string(text))...); !slices.Equal(got, whole) {
			t.Errorf("byte by byte\n%q, whole\n%q", got, whole)
		}
		if cut = max(0, min(cut, len(text))); !slices.Equal(scanLog(string(text[:cut]), string(text[cut:])), whole) {
			t.Errorf("cut at %d it differs from\n%q", cut, whole)
		}
		compareWithStandardLibrary(t, text)
	})
}

// compareWithStandardLibrary fails where encoding/json finds another model.
func compareWithStandardLibrary(t *testing.T, text []byte) {
	var object map[string]any
	tooDeep := bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))
	if json.Unmarshal(text, &object) != nil || object == nil || tooDeep > maxDepth || len(text) > maxModel {
		return
	}
	want, _ := object["model"].(string)
	if got := modelOf(string(text)); got != want || !utf8.ValidString(got) {
		t.Errorf("model %q, encoding/json has %q", got, want)
	}
}

func TestEscapesMeanWhatTheStandardLibrarySays(t *testing.T) {
	for _, text := range []string{
		`\"\\\/\b\f\n\r\t`, `\u0041\u00e9\u6a21`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\ud83d\n`, `\ud83d\u0041`, `\ude00\ud83d`, "é模😀", "\xff\xfe",
	} {
		body := `{"model":"` + text + `"}`
		var want struct{ Model string }
		if err := json.Unmarshal([]byte(body), &want); err != nil {
			t.Fatal(text, err)
		}
		if got := modelOf(body); got != want.Model {
			t.Errorf("%s: %q, want %q", text, got, want.Model)
		}
	}
	for text, want := range map[string]string{`a\qb`: "ab", `a\u00zzb`: "a00zzb"} { // not JSON
		if got := modelOf(`{"model":"` + text + `"}`); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestCountsAreSaturatedOrIgnored(t *testing.T) {
	tests := map[string]int64{
		`5`: 5, `1e5`: 100_000, `"1e5"`: 100_000, `"100"`: 100, `12.7`: 13, `0.1`: 1, `9e18`: maxCount, `1e309`: maxCount,
		`9223372036854775807`: maxCount, `99999999999999999999999`: maxCount, strings.Repeat("9", 9000): maxCount, `2000000000000000`: maxCount,
		`null`: 0, `-1`: 0, `"-1"`: 0, `0`: 0, `true`: 0, `"NaN"`: 0, `"Inf"`: 0, `"0x10"`: 0, `"1_0"`: 0, `""`: 0, `"five"`: 0, `-1e309`: 0,
		`{"x":5}`: 0, `[5]`: 0, `1e-400`: 0, `"-` + strings.Repeat("9", 9000) + `"`: 0, `--5`: 0,
	}
	for text, want := range tests {
		b := bodyScan{vendor: openAI}
		newScanner(maxModel, b.visit).Write([]byte(`{"max_tokens":` + text + `}`))
		if b.outCap != want {
			t.Errorf("%.40s: %d, want %d", text, b.outCap, want)
		}
	}
}
