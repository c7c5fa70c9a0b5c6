package dialect_test

import (
	"strings"
	"testing"

	"github.com/headgate-go/headgate/dialect"
)

// A chat of 4 KiB, with the model after the messages as openai-go writes it.
func BenchmarkRead(b *testing.B) {
	body := `{"messages":[{"role":"user","content":"` + strings.Repeat("some words, ", 340) + `"}],"model":"gpt-4o"}`
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	r := post(b, "https://api.openai.com/v1/chat/completions", body, "Authorization", "Bearer sk-1")
	for b.Loop() {
		if asked, err := dialect.Read(dialect.OpenAI, r); err != nil || asked.Model != "gpt-4o" {
			b.Fatal(asked.Model, err)
		}
	}
}

func BenchmarkMeter(b *testing.B) {
	body := []byte(`{"choices":[{"message":{"content":"` + strings.Repeat("some words, ", 340) + `"}}],"usage":{"prompt_tokens":16,"completion_tokens":5}}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	resp := answer(200, "")
	for b.Loop() {
		m := dialect.NewMeter(dialect.OpenAI, resp)
		m.Write(body)
		if _, known := m.Usage(); !known {
			b.Fatal("unknown")
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		dialect.Judge(dialect.OpenAI, answer(429, `{"error":{"message":"Please try again in 644ms.","type":"tokens","code":"rate_limit_exceeded"}}`))
	}
}

// A stream of chunks as they come, one to a Write.
func BenchmarkMeterOfAStream(b *testing.B) {
	for name, tt := range map[string]struct {
		dialect dialect.Dialect
		typ     string
		event   string
	}{
		"OpenAI":    {dialect.OpenAI, sse, chatDelta},
		"Anthropic": {dialect.Anthropic, sse, claudeDelta},
		"Bedrock":   {dialect.Bedrock, frames, chunk(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"hello"}}`)},
	} {
		b.Run(name, func(b *testing.B) {
			m := dialect.NewMeter(tt.dialect, answer(200, "", "Content-Type", tt.typ))
			event := []byte(tt.event)
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				m.Write(event)
				m.Verdict()
			}
		})
	}
}
