package dialect_test

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// usage is a cost of a Meter: input, cached and output.
func usage(in, cached, out int64) throttle.Cost {
	return throttle.Cost{InputTokens: in, CachedTokens: cached, OutputTokens: out, Points: -1, MicroUSD: -1}
}

// metered feeds a body to a meter in pieces of random size.
func metered(d dialect.Dialect, body string) (throttle.Cost, bool) {
	m := dialect.NewMeter(d, answer(200, ""))
	for len(body) > 0 {
		n := 1 + rand.IntN(min(len(body), 20))
		m.Write([]byte(body[:n]))
		body = body[n:]
	}
	return m.Usage()
}

func TestMeterReadsWhatVendorsReport(t *testing.T) {
	tests := []struct {
		name    string
		dialect dialect.Dialect
		body    string
		want    throttle.Cost
	}{
		{"chat", dialect.OpenAI, `{"model":"m","usage":{"prompt_tokens":16,"completion_tokens":5,"total_tokens":21}}`, usage(16, -1, 5)},
		{"cached", dialect.OpenAI, `{"usage":{"prompt_tokens":16,"completion_tokens":5,"total_tokens":21,"prompt_tokens_details":{"cached_tokens":10}}}`, usage(16, 10, 5)},
		{"responses", dialect.OpenAI, `{"usage":{"input_tokens":1200,"input_tokens_details":{"cached_tokens":0},"output_tokens":3500}}`, usage(1200, 0, 3500)},
		{"embeddings", dialect.OpenAI, `{"data":[{"embedding":[0.1,-2e-5]}],"usage":{"prompt_tokens":8,"total_tokens":8}}`, usage(8, -1, 0)},
		{"reasoning apart", dialect.OpenAI, `{"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115}}`, usage(10, -1, 105)},
		{"a total that makes no sense", dialect.OpenAI, `{"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":0}}`, usage(10, -1, 5)},
		{"both versions", dialect.OpenAI, `{"usage":{"prompt_tokens":10,"input_tokens":10,"completion_tokens":5,"output_tokens":5}}`, usage(10, -1, 5)},
		{"zero is a count", dialect.OpenAI, `{"usage":{"prompt_tokens":0,"completion_tokens":0}}`, usage(0, -1, 0)},
		{"the last counts", dialect.OpenAI, `{"usage":{"prompt_tokens":1}} {"usage":{"prompt_tokens":2}}`, usage(2, -1, -1)},
		{"cut off in the middle", dialect.OpenAI, `{"usage":{"prompt_tokens":16,"completion_tokens":5`, usage(16, -1, -1)},
		{"part of it unreadable", dialect.OpenAI, `{"usage":{"prompt_tokens":16,"completion_tokens":-5}}`, usage(16, -1, -1)},

		{"Anthropic", dialect.Anthropic, `{"usage":{"input_tokens":9,"output_tokens":16}}`, usage(9, -1, 16)},
		{"with a cache", dialect.Anthropic, `{"usage":{"input_tokens":317,"cache_creation_input_tokens":4425,"cache_read_input_tokens":100,"output_tokens":7}}`, usage(4842, 100, 7)},
		{"nested counts aside", dialect.Anthropic, `{"usage":{"input_tokens":9,"cache_creation":{"input_tokens":5},"output_tokens":1,"server_tool_use":{"output_tokens":3}}}`, usage(9, -1, 1)},

		{"Gemini", dialect.Gemini, `{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":20,"totalTokenCount":35,"cachedContentTokenCount":4}}`, usage(10, 4, 25)},
		{"thoughts within candidates", dialect.Gemini, `{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":25,"thoughtsTokenCount":20,"totalTokenCount":35}}`, usage(10, -1, 25)},
		{"without a total", dialect.Gemini, `{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":20}}`, usage(10, -1, 25)},
		{"chunks", dialect.Gemini, `[{"usageMetadata":{"promptTokenCount":10,"totalTokenCount":11}},` + "\n" + `{"usageMetadata":{"promptTokenCount":10,"totalTokenCount":35}}]`, usage(10, -1, 25)},
		{"compatible with OpenAI", dialect.Gemini, `{"usage":{"prompt_tokens":16,"completion_tokens":5}}`, usage(16, -1, 5)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, known := metered(tt.dialect, tt.body); got != tt.want || !known {
				t.Errorf("%+v, %v, want %+v", got, known, tt.want)
			}
		})
	}
}

func TestUnreadableUsageIsUnknownAndNeverZero(t *testing.T) {
	for _, body := range []string{
		``, `{}`, `null`, `[]`, `{"usage":null}`, `{"usage":{}}`, `{"usage":{"foo":1}}`, `{"usage":5}`, `{"usage":[{"prompt_tokens":5}]}`,
		`{"usage":{"prompt_tokens":"5"}}`, `{"usage":{"prompt_tokens":-1}}`, `{"usage":{"prompt_tokens":1.5}}`, `{"usage":{"prompt_tokens":null}}`,
		`{"usage":{"prompt_tokens":1e300}}`, `{"usage":{"prompt_tokens":9223372036854775807}}`, `{"usage":{"prompt_tokens":` + strings.Repeat("0", 300) + `5}}`,
		`{"usage":{"prompt_tokens":true}}`, `{"usage":{"prompt_tokens":{"x":5}}}`, `{"usage":{"total_tokens":5}}`,
		`{"choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":5}"}}]}`, `{"choices":[{"usage":{"prompt_tokens":5}}]}`,
		`data: {"usage":{"prompt_tokens":5}}`, `<html>`, "\xff\xfe",
	} {
		if got, known := metered(dialect.OpenAI, body); known {
			t.Errorf("%.60s: %+v, want unknown", body, got)
		}
	}
}

func TestNilMeterDoesNothing(t *testing.T) {
	for name, m := range map[string]*dialect.Meter{
		"nil":        nil,
		"no usage":   dialect.NewMeter(dialect.Twilio, answer(200, "{}")),
		"an error":   dialect.NewMeter(dialect.OpenAI, answer(429, "{}")),
		"compressed": dialect.NewMeter(dialect.OpenAI, answer(200, "{}", "Content-Encoding", "br")),
	} {
		n, err := m.Write([]byte(`{"usage":{"prompt_tokens":5}}`))
		if _, known := m.Verdict(); known {
			t.Errorf("%s: a verdict", name)
		}
		if _, known := m.Usage(); m != nil || n != 29 || err != nil || known {
			t.Errorf("%s: %p, wrote %d, %v, known %v", name, m, n, err, known)
		}
	}
}

func TestGetTellsTheUsageOfAnotherCall(t *testing.T) {
	get := answer(200, "{}")
	get.Request, _ = http.NewRequest(http.MethodGet, "https://x/", nil)
	m := dialect.NewMeter(dialect.OpenAI, get)
	m.Write([]byte(`{"usage":{"prompt_tokens":5}}`))
	if got, known := m.Usage(); known {
		t.Errorf("%+v, want unknown", got)
	}
}

func TestMeterOfALongBodyAllocatesNothing(t *testing.T) {
	m := dialect.NewMeter(dialect.OpenAI, answer(200, ""))
	m.Write([]byte(`{"choices":["`))
	piece := []byte(strings.Repeat(`text \u00e9\n","`, 1000))
	if allocs := testing.AllocsPerRun(100, func() { m.Write(piece) }); allocs > 0 {
		t.Errorf("%v allocations for %d bytes, want none", allocs, len(piece))
	}
	m.Write([]byte(`"],"usage":{"prompt_tokens":5}}`))
	if got, known := m.Usage(); !known || got.InputTokens != 5 {
		t.Errorf("%+v, %v, want 5 input tokens", got, known)
	}
}

func FuzzMeter(f *testing.F) {
	f.Add([]byte(`{"usage":{"prompt_tokens":16,"completion_tokens":5,"total_tokens":21}}`))
	f.Add([]byte(`[{"usageMetadata":{"promptTokenCount":1e15,"totalTokenCount":-1}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.Anthropic, dialect.Gemini} {
			whole := dialect.NewMeter(d, answer(200, ""))
			whole.Write(body)
			want, known := whole.Usage()
			if got, ok := metered(d, string(body)); got != want || ok != known {
				t.Errorf("%s: %+v, %v in pieces, %+v, %v whole", d.Name(), got, ok, want, known)
			}
			if known && want.InputTokens < 0 && want.OutputTokens < 0 || want.OutputTokens > 4*throttle.MaxAmount {
				t.Errorf("%s: %+v, %v", d.Name(), want, known)
			}
		}
	})
}

// Complete is known without the end of the file, wherever the pieces are cut.
func TestMeterKnowsACompleteBody(t *testing.T) {
	const stream, lines = "text/event-stream", "application/x-ndjson"
	for _, tt := range []struct {
		kind, body string
		want       bool
	}{
		{"application/json", `{"usage":{}}`, true},
		{"application/json", `{"usage":{}`, false},
		{stream, "data: {\"usage\":{}}\n\ndata: [DONE]\n\n", true},
		{stream, "data:[DONE]\r\n", true},
		{stream, "data: {\"usage\":{}}\n\n", false},
		{stream, "data: [DONE]", false},
		{stream, "data: [DONE]!!\n\n", false},
		{stream, "data: {\"x\":\"[DONE]\"}\n\n", false},
		{stream, "event: [DONE]\n\n", false},
		{stream, ": [DONE]\n\n", false},
		{lines, "{\"usage\":{}}\n[DONE]\n", false},
	} {
		for piece := 1; piece <= len(tt.body); piece++ {
			resp := answer(200, "")
			resp.Header.Set("Content-Type", tt.kind)
			m := dialect.NewMeter(dialect.OpenAI, resp)
			for rest := tt.body; rest != ""; {
				n := min(piece, len(rest))
				m.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if m.Usage(); m.Complete() != tt.want {
				t.Errorf("%s %q in pieces of %d: complete %v, want %v", tt.kind, tt.body, piece, !tt.want, tt.want)
			}
		}
	}
}
