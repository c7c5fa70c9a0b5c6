package dialect_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

const (
	sse    = "text/event-stream"
	ndjson = "application/x-ndjson"
	frames = "application/vnd.amazon.eventstream"
)

// meterOf feeds a body to a meter in pieces of the given size and returns it.
func meterOf(d dialect.Dialect, body string, piece int, headers ...string) *dialect.Meter {
	m := dialect.NewMeter(d, answer(200, "", headers...))
	for len(body) > 0 {
		n := min(piece, len(body))
		m.Write([]byte(body[:n]))
		body = body[n:]
	}
	return m
}

// streamed is the usage of a body, which must be the same however it is cut.
func streamed(t *testing.T, d dialect.Dialect, body string, headers ...string) (throttle.Cost, bool) {
	t.Helper()
	want, known := meterOf(d, body, len(body)+1, headers...).Usage()
	for _, piece := range []int{1, 2, 7} {
		if len(body) > 100_000 && piece == 1 {
			continue
		}
		if got, ok := meterOf(d, body, piece, headers...).Usage(); got != want || ok != known {
			t.Errorf("in pieces of %d: %+v, %v, whole: %+v, %v", piece, got, ok, want, known)
		}
	}
	return want, known
}

// frame returns a frame of an AWS event stream. Headers come as pairs.
func frame(payload string, headers ...string) string {
	var h bytes.Buffer
	for i := 0; i < len(headers); i += 2 {
		h.WriteByte(byte(len(headers[i])))
		h.WriteString(headers[i])
		h.WriteByte(7) // a string
		binary.Write(&h, binary.BigEndian, uint16(len(headers[i+1])))
		h.WriteString(headers[i+1])
	}
	var f bytes.Buffer
	binary.Write(&f, binary.BigEndian, uint32(16+h.Len()+len(payload)))
	binary.Write(&f, binary.BigEndian, uint32(h.Len()))
	f.WriteString("crc1" + h.String() + payload + "crc2")
	return f.String()
}

// chunk returns a frame with a text of the model's own in it.
func chunk(text string) string {
	return frame(`{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(text))+`","p":"abc"}`,
		":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
}

const (
	chatDelta   = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"some words, \\\"usage\\\" among them\"}}],\"usage\":null}\n\n"
	chatUsage   = "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":5,\"total_tokens\":21}}\n\n"
	chatDone    = "data: [DONE]\n\n"
	claudeStart = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":1,\"output_tokens\":1}}}\n\n"
	claudeDelta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n"
	claudeEnd   = "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	claudeError = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
)

var overloaded = throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeModel, Detail: "200 overloaded_error"}

// B23: an event is read wherever it is cut, however its lines end.
func TestB23StreamIsReadHoweverItIsFramed(t *testing.T) {
	chat := chatDelta + chatUsage + chatDone
	tests := []struct{ name, body string }{
		{"plain", chat},
		{"CRLF", strings.ReplaceAll(chat, "\n", "\r\n")},
		{"CR", strings.ReplaceAll(chat, "\n", "\r")},
		{"a byte order mark", "\xef\xbb\xbf" + chat},
		{"comments", ": ping\n\n:\n" + chat},
		{"no blank after the colon", strings.ReplaceAll(chat, "data: ", "data:")},
		{"other fields", "id: 7\nretry: 100\nunknown\n" + chat},
		{"data in several lines", "data: {\"usage\":{\"prompt_tokens\":16,\ndata:  \"completion_tokens\":5,\ndata: \"total_tokens\"\ndata: :21}}\n\n"},
		{"a broken event before", "data: {\"choices\":[}\n\ndata: oops\n\n" + chat},
		{"an unfinished text before", "data: {\"choices\":[\"\n\n" + chat},
		{"a field like data", "database: {\"usage\":{\"prompt_tokens\":99}}\n\n" + chat},
		{"a large event before", "data: {\"x\":\"" + strings.Repeat("x", 2<<20) + "\"}\n\n" + chat},
		{"no end of the last event", "data: {\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":5,\"total_tokens\":21}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, known := streamed(t, dialect.OpenAI, tt.body, "Content-Type", sse); got != usage(16, -1, 5) || !known {
				t.Errorf("%+v, %v, want 16 and 5", got, known)
			}
		})
	}
}

// B16: start and end of a stream both have running totals.
func TestB16RunningTotalsAreTakenAndNotAdded(t *testing.T) {
	full := "data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":1,\"output_tokens\":16}}\n\n"
	zeros := "data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":16}}\n\n"
	for name, tt := range map[string]struct {
		body string
		want throttle.Cost
	}{
		"output alone":            {claudeStart + claudeDelta + claudeEnd, usage(10, 1, 15)},
		"all of it":               {claudeStart + full, usage(10, 1, 16)},
		"several deltas":          {claudeStart + claudeEnd + full, usage(10, 1, 16)},
		"zeros are no totals":     {claudeStart + zeros, usage(10, 1, 16)},
		"only the start was seen": {claudeStart + claudeDelta, usage(10, 1, 1)},
	} {
		if got, known := streamed(t, dialect.Anthropic, tt.body, "Content-Type", sse); got != tt.want || !known {
			t.Errorf("%s: %+v, %v, want %+v", name, got, known, tt.want)
		}
	}
}

// B14 and B15: without the last event, or one that was never asked for, usage
// is unknown, so that the estimate stays.
func TestB14B15StreamWithoutUsageIsUnknown(t *testing.T) {
	for name, body := range map[string]string{
		"ended":             strings.Repeat(chatDelta, 20) + chatDone,
		"closed early":      strings.Repeat(chatDelta, 3),
		"broke in an event": chatDelta + "data: {\"choices\":[],\"usage\":{\"prompt_to",
		"null":              chatDelta + "data: {\"usage\":null}\n\n",
		"nothing":           "",
	} {
		if got, known := streamed(t, dialect.OpenAI, body, "Content-Type", sse); known {
			t.Errorf("%s: %+v, want unknown", name, got)
		}
	}
	if got, known := streamed(t, dialect.OpenAI, strings.Repeat(chatDelta, 20)+chatUsage+chatDone, "Content-Type", sse); got != usage(16, -1, 5) || !known {
		t.Errorf("%+v, %v, want 16 and 5", got, known)
	}
}

// B18: the newer API's names are known, and unknown ones aren't zero.
func TestB18UsageOfAnUnknownShapeIsUnknown(t *testing.T) {
	if got, known := metered(dialect.OpenAI, `{"usage":{"input_tokens":1200,"output_tokens":3500}}`); got != usage(1200, -1, 3500) || !known {
		t.Errorf("%+v, %v, want 1200 and 3500", got, known)
	}
	if got, known := metered(dialect.OpenAI, `{"usage":{"foo":1}}`); known {
		t.Errorf("%+v, want unknown", got)
	}
}

// B24: gzip is read from a copy, and what can't be read is unknown.
func TestB24CompressedBodiesAreReadOrUnknown(t *testing.T) {
	whole := `{"usage":{"prompt_tokens":16,"completion_tokens":5}}`
	stream := strings.Repeat(chatDelta, 100) + chatUsage + chatDone
	tests := []struct {
		name, body, typ, encoding string
		known                     bool
	}{
		{"JSON", zipped(whole), "application/json", "gzip", true},
		{"in capitals", zipped(whole), "application/json", "GZIP", true},
		{"stream", zipped(stream), sse, "gzip", true},
		{"several members", zipped(stream[:100]) + zipped(stream[100:]), sse, "x-gzip", true},
		{"large", zipped(strings.Repeat(chatDelta, 20_000) + chatUsage), sse, "gzip", true},
		{"more after the end", zipped(whole) + "garbage", "application/json", "gzip", true},
		{"not gzip after all", whole, "application/json", "gzip", false},
		{"nothing", "", "application/json", "gzip", false},
		{"identity", whole, "application/json", "identity", true},
		{"br", zipped(whole), "application/json", "br", false},
		{"two of them", zipped(whole), "application/json", "gzip, br", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, known := streamed(t, dialect.OpenAI, tt.body, "Content-Type", tt.typ, "Content-Encoding", tt.encoding)
			if known != tt.known || known && got != usage(16, -1, 5) {
				t.Errorf("%+v, %v, want 16 and 5: %v", got, known, tt.known)
			}
		})
	}
}

func TestCutOffGzipYieldsWhatWasSeen(t *testing.T) {
	body := zipped(claudeStart + strings.Repeat(claudeDelta, 50) + claudeEnd)
	if got, known := streamed(t, dialect.Anthropic, body[:len(body)-12], "Content-Type", sse, "Content-Encoding", "gzip"); !known || got.InputTokens != 10 {
		t.Errorf("%+v, %v, want 10 input tokens", got, known)
	}
}

// B26: tokens from and into the cache count as input at every vendor.
func TestB26CachedTokensCountAlikeEverywhere(t *testing.T) {
	tests := map[string]struct {
		dialect dialect.Dialect
		body    string
	}{
		"messages":   {dialect.Anthropic, `{"usage":{"input_tokens":317,"cache_creation_input_tokens":4425,"cache_read_input_tokens":0,"output_tokens":7}}`},
		"chat":       {dialect.OpenAI, `{"usage":{"prompt_tokens":4742,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":0}}}`},
		"converse":   {dialect.Bedrock, `{"usage":{"inputTokens":317,"cacheWriteInputTokens":4425,"cacheReadInputTokens":0,"outputTokens":7,"totalTokens":324}}`},
		"generate":   {dialect.Gemini, `{"usageMetadata":{"promptTokenCount":4742,"cachedContentTokenCount":0,"candidatesTokenCount":7,"totalTokenCount":4749}}`},
		"vertex":     {dialect.Vertex, `{"usage":{"input_tokens":317,"cache_creation_input_tokens":4425,"cache_read_input_tokens":0,"output_tokens":7}}`},
		"openrouter": {dialect.OpenRouter, `{"usage":{"prompt_tokens":4742,"completion_tokens":7,"total_tokens":4749,"prompt_tokens_details":{"cached_tokens":0}}}`},
	}
	for name, tt := range tests {
		if got, known := metered(tt.dialect, tt.body); got != usage(4742, 0, 7) || !known {
			t.Errorf("%s: %+v, %v, want 4742 and 7", name, got, known)
		}
	}
}

func TestStreamsOfEveryKindAreRead(t *testing.T) {
	metrics := `{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":12,"outputTokenCount":5,"cacheReadInputTokenCount":2}}`
	tests := []struct {
		name      string
		dialect   dialect.Dialect
		typ, body string
		want      throttle.Cost
	}{
		{"responses", dialect.OpenAI, sse, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":3,\"total_tokens\":10}}}\n\n", usage(7, -1, 3)},
		{"Groq's own part", dialect.Groq, sse, "data: {\"x_groq\":{\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}}\n\n", usage(7, -1, 3)},
		{"Gemini", dialect.Gemini, sse, "data: {\"usageMetadata\":{\"promptTokenCount\":10,\"totalTokenCount\":11}}\n\ndata: {\"usageMetadata\":{\"promptTokenCount\":10,\"totalTokenCount\":35}}\n\n", usage(10, -1, 25)},
		{"Cohere", dialect.Cohere, sse, "event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"usage\":{\"billed_units\":{\"input_tokens\":5,\"output_tokens\":2},\"tokens\":{\"input_tokens\":70,\"output_tokens\":3}}}}\n\n", usage(70, -1, 3)},
		{"Cohere's lines", dialect.Cohere, "application/stream+json", "{\"event_type\":\"text\"}\n{\"event_type\":\"stream-end\",\"response\":{\"meta\":{\"tokens\":{\"input_tokens\":7,\"output_tokens\":3}}}}\n", usage(7, -1, 3)},
		{"lines", dialect.OpenAI, ndjson, "{\"a\":[}\r\n\n{\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":5}}", usage(16, -1, 5)},
		{"frames", dialect.Bedrock, frames, frame(`{"delta":{"text":"x"}}`, ":event-type", "contentBlockDelta") + frame(`{"metrics":{},"usage":{"inputTokens":12,"outputTokens":5,"totalTokens":17}}`, ":event-type", "metadata"), usage(12, -1, 5)},
		{"frames without headers or payload", dialect.Bedrock, frames, frame("") + frame("", ":event-type", "x") + frame(`{"usage":{"inputTokens":12}}`), usage(12, -1, -1)},
		{"Bedrock's metrics", dialect.Bedrock, frames, chunk(`{"type":"message_start","message":{"usage":{"input_tokens":12,"output_tokens":1}}}`) + chunk(`{"type":"content_block_delta"}`) + chunk(metrics), usage(14, 2, 5)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, known := streamed(t, tt.dialect, tt.body, "Content-Type", tt.typ); got != tt.want || !known {
				t.Errorf("%+v, %v, want %+v", got, known, tt.want)
			}
		})
	}
}

func TestUsageInHeadersIsRead(t *testing.T) {
	headers := []string{"X-Amzn-Bedrock-Input-Token-Count", "12", "X-Amzn-Bedrock-Output-Token-Count", "5"}
	if got, known := streamed(t, dialect.Bedrock, `{"generation":"x"}`, headers...); got != usage(12, -1, 5) || !known {
		t.Errorf("%+v, %v, want 12 and 5", got, known)
	}
	if got, known := streamed(t, dialect.Bedrock, `{"usage":{"input_tokens":12,"output_tokens":6}}`, headers...); got != usage(12, -1, 6) || !known {
		t.Errorf("%+v, %v, want 12 and 6: once, not twice", got, known)
	}
	for _, bad := range []string{"", "-1", "x", "1.5", "99999999999999999999"} {
		if got, known := streamed(t, dialect.Bedrock, `{}`, "X-Amzn-Bedrock-Input-Token-Count", bad); known {
			t.Errorf("%q: %+v, want unknown", bad, got)
		}
	}
}

func TestPointsOfAQueryAreRead(t *testing.T) {
	got, known := streamed(t, dialect.Shopify, `{"data":{},"extensions":{"cost":{"requestedQueryCost":12,"actualQueryCost":7}}}`, "Content-Type", "application/json")
	if want := (throttle.Cost{InputTokens: -1, CachedTokens: -1, OutputTokens: -1, Points: 7, MicroUSD: -1}); got != want || !known {
		t.Errorf("%+v, %v, want 7 points", got, known)
	}
}

// B76: the refusal comes as an event of a stream that began with 200, whether
// it is compressed or not.
func TestB76RefusalWithinAStreamIsToldAsItPasses(t *testing.T) {
	body := claudeStart + claudeDelta + claudeError
	for name, encoding := range map[string]string{"plain": "", "gzip": "gzip"} {
		t.Run(name, func(t *testing.T) {
			sent := body
			if encoding != "" {
				sent = zipped(body)
			}
			m := meterOf(dialect.Anthropic, sent, 1, "Content-Type", sse, "Content-Encoding", encoding)
			if got, known := m.Verdict(); got != overloaded || !known {
				t.Errorf("%+v, %v, want %+v", got, known, overloaded)
			}
			if got, known := m.Usage(); got != usage(10, 1, 1) || !known {
				t.Errorf("%+v, %v: usage beside it", got, known)
			}
		})
	}
}

func TestVerdictIsKnownWithTheEventThatBringsIt(t *testing.T) {
	m := dialect.NewMeter(dialect.Anthropic, answer(200, "", "Content-Type", sse))
	whole := claudeStart + claudeError
	end := len(whole) - len("\n\n") // the object's own end is enough
	for i := range whole {
		m.Write([]byte(whole[i : i+1]))
		if got, known := m.Verdict(); known != (i+1 >= end) {
			t.Fatalf("after %q: %+v, %v", whole[:i+1], got, known)
		}
	}
	m.Write([]byte("event: error\ndata: {\"error\":{\"type\":\"rate_limit_error\"}}\n\n"))
	if got, _ := m.Verdict(); got != overloaded {
		t.Errorf("%+v, want the first one to stand", got)
	}
}

func TestVerdictsWithinA200(t *testing.T) {
	busy := func(scope throttle.Scope, wait time.Duration, detail string) throttle.Verdict {
		return throttle.Verdict{Class: throttle.Busy, Scope: scope, Wait: wait, Detail: detail}
	}
	const throttled = `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":1100,"throttleStatus":{"currentlyAvailable":100.0,"restoreRate":50.0}}}}`
	tests := []struct {
		name      string
		dialect   dialect.Dialect
		typ, body string
		want      throttle.Verdict
	}{
		{"Slack", dialect.Slack, "application/json", `{"ok":false,"error":"ratelimited"}`, busy(throttle.ScopeModel, 0, "200 ratelimited")},
		{"Slack, unknown", dialect.Slack, "application/json", `{"ok":false,"error":"no_text"}`, throttle.Verdict{Class: throttle.BadRequest, Detail: "200 no_text"}},
		{"Vonage, the second part", dialect.Vonage, "application/json", `{"messages":[{"status":"0"},{"status":"1"}]}`, busy(throttle.ScopeKey, 0, "200 0 1")},
		{"Shopify", dialect.Shopify, "application/json", throttled, busy(throttle.ScopeKey, 20*time.Second, "200 THROTTLED")},
		{"GitHub's GraphQL", dialect.GitHub, "application/json", `{"errors":[{"type":"RATE_LIMITED"}]}`, busy(throttle.ScopeKey, 0, "200 RATE_LIMITED")},
		{"OpenRouter", dialect.OpenRouter, sse, "data: {\"error\":{\"code\":502}}\n\n", throttle.Verdict{Class: throttle.ServerError, Scope: throttle.ScopeModel, Detail: "200 502"}},
		{"OpenRouter's choice", dialect.OpenRouter, sse, "data: {\"choices\":[{\"error\":{\"code\":429}}]}\n\n", busy(throttle.ScopeModel, 0, "200 429")},
		{"Bedrock's exception", dialect.Bedrock, frames, frame(`{"message":"Too many"}`, ":message-type", "exception", ":exception-type", "throttlingException"), busy(throttle.ScopeModel, 0, "200 ThrottlingException")},
		{"without a payload", dialect.Bedrock, frames, frame("", ":exception-type", "modelStreamErrorException"), throttle.Verdict{Class: throttle.ServerError, Detail: "200 ModelStreamErrorException"}},
		{"of the model", dialect.Bedrock, frames, chunk(`{"type":"error","error":{"type":"overloaded_error"}}`), overloaded},
		{"line", dialect.Mistral, ndjson, "{}\n{\"error\":{\"message\":\"?\"}}\n", throttle.Verdict{Class: throttle.ServerError, Detail: "200"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{1, 3, len(tt.body)} {
				if got, known := meterOf(tt.dialect, tt.body, piece, "Content-Type", tt.typ).Verdict(); got != tt.want || !known {
					t.Errorf("meter, in pieces of %d: %+v, %v, want %+v", piece, got, known, tt.want)
				}
			}
			if got := dialect.Judge(tt.dialect, answer(200, tt.body, "Content-Type", tt.typ)); got != tt.want {
				t.Errorf("judge: %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestWhatIsFineHasNoVerdict(t *testing.T) {
	tests := []struct {
		dialect   dialect.Dialect
		typ, body string
	}{
		{dialect.Slack, "application/json", `{"ok":true,"error":"ratelimited"}`},
		{dialect.Vonage, "application/json", `{"messages":[{"status":"0"}]}`},
		{dialect.OpenAI, sse, chatDelta + chatUsage + chatDone},
		{dialect.OpenAI, "application/json", `{"error":null,"choices":[]}`},
		{dialect.OpenAI, "application/json", `{"object":"fine_tuning.job","error":{}}`},
		{dialect.OpenAI, "application/json", `{"object":"fine_tuning.job","error":{"code":null,"message":null}}`},
		{dialect.Anthropic, sse, claudeStart + claudeDelta + claudeEnd},
		{dialect.Shopify, "application/json", `{"data":null,"errors":[{"message":"Field doesn't exist","extensions":{"code":"undefinedField"}}]}`},
		{dialect.GitHub, "application/json", `[{"message":"secondary rate limit"}]`},
		{dialect.Bedrock, frames, frame(`{"message":"x"}`, ":event-type", "x")},
	}
	for _, tt := range tests {
		m := meterOf(tt.dialect, tt.body, 1, "Content-Type", tt.typ)
		m.Usage()
		if got, known := m.Verdict(); known {
			t.Errorf("%s: %s: %+v, want none", tt.dialect.Name(), tt.body, got)
		}
	}
}

// An error that a GET tells of is that of a job, at an AI vendor.
func TestGetTellsTheErrorOfAnotherCall(t *testing.T) {
	for d, want := range map[dialect.Dialect]bool{dialect.OpenAI: false, dialect.Slack: true} {
		resp := answer(200, "", "Content-Type", "application/json")
		resp.Request = post(t, "https://x/", "")
		resp.Request.Method = "GET"
		m := dialect.NewMeter(d, resp)
		io.WriteString(m, `{"ok":false,"error":{"code":"insufficient_quota"}}`)
		if _, known := m.Verdict(); known != want {
			t.Errorf("%s: known is %v, want %v", d.Name(), known, want)
		}
	}
}

// The header belongs to the answer's reader as soon as he has it.
func TestMeterKeepsNoHoldOfTheHeader(t *testing.T) {
	resp := answer(200, "", "Content-Type", "application/json", "X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", "1767225630", "Date", "Thu, 01 Jan 2026 00:00:00 GMT")
	m := dialect.NewMeter(dialect.GitHub, resp)
	clear(resp.Header)
	io.WriteString(m, `{"errors":[{"type":"RATE_LIMITED"}]}`)
	if got, _ := m.Verdict(); got.Wait != 30*time.Second {
		t.Errorf("%+v, want 30s", got)
	}
}

func TestErrorThatIsCutOffIsKnownAtTheEnd(t *testing.T) {
	m := meterOf(dialect.Anthropic, "data: {\"error\":{\"type\":\"overloaded_error\",\"mess", 5, "Content-Type", sse)
	if got, known := m.Verdict(); known {
		t.Errorf("%+v before the end", got)
	}
	m.Usage()
	if got, known := m.Verdict(); got != overloaded || !known {
		t.Errorf("%+v, %v, want %+v", got, known, overloaded)
	}
}

func TestUsageEndsTheMeter(t *testing.T) {
	for _, encoding := range []string{"", "gzip"} {
		m := dialect.NewMeter(dialect.OpenAI, answer(200, "", "Content-Encoding", encoding))
		m.Usage()
		if n, err := m.Write([]byte(`{"usage":{"prompt_tokens":5}}`)); n != 29 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
		if got, known := m.Usage(); known {
			t.Errorf("%+v, want nothing read after the end", got)
		}
	}
}

func TestStreamTakesNoMemory(t *testing.T) {
	bedrockFrames := chunk(`{"type":"content_block_delta","delta":{"text":"x"}}`) + frame(`{"delta":{"text":"x"}}`, ":event-type", "contentBlockDelta")
	tests := map[string]struct {
		dialect     dialect.Dialect
		typ, events string
	}{
		"events":           {dialect.OpenAI, sse, chatDelta},
		"with usage":       {dialect.OpenAI, sse, chatDelta + chatUsage},
		"Anthropic":        {dialect.Anthropic, sse, claudeStart + claudeDelta + claudeEnd},
		"errors after one": {dialect.Anthropic, sse, claudeError},
		"Gemini's array":   {dialect.Gemini, "application/json", `{"candidates":[],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":2}},`},
		"lines":            {dialect.OpenAI, ndjson, "{\"choices\":[],\"usage\":{\"prompt_tokens\":5}}\n"},
		"frames":           {dialect.Bedrock, frames, bedrockFrames},
		"commits":          {dialect.GitHub, "application/json", `{"message":"fix","sha":"x"},`},
		"OpenRouter":       {dialect.OpenRouter, sse, ": OPENROUTER PROCESSING\r\n\r\n" + chatDelta},
	}
	for name, tt := range tests {
		m := dialect.NewMeter(tt.dialect, answer(200, "", "Content-Type", tt.typ))
		if tt.typ == "application/json" {
			m.Write([]byte("["))
		}
		events := []byte(strings.Repeat(tt.events, 20))
		m.Write(events)
		if allocs := testing.AllocsPerRun(50, func() { m.Write(events); m.Verdict() }); allocs > 0 {
			t.Errorf("%s: %v allocations for 20 events, want none", name, allocs)
		}
	}
}

// A meter of a compressed body has a goroutine of its own.
func TestMetersLeaveNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	resp := answer(200, "", "Content-Encoding", "gzip")
	ended := dialect.NewMeter(dialect.OpenAI, resp)
	ended.Write([]byte(zipped(`{"a":1}`)))
	ended.Usage()
	for range 10 {
		dialect.NewMeter(dialect.OpenAI, resp).Write([]byte(zipped(`{"a":1}`)[:10])) // and forgotten
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}
