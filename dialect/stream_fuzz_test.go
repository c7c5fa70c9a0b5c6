package dialect_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

func TestBrokenFramesEndTheReading(t *testing.T) {
	good := frame(`{"usage":{"inputTokens":12}}`)
	for name, broken := range map[string]string{
		"no frames":                  "HTTP/1.1 200 OK and so on",
		"too short for its headers":  "\x00\x00\x00\x14\x00\x00\x00\x10crc1",
		"absurdly long":              "\xff\xff\xff\xff\x00\x00\x00\x00crc1",
		"headers of an unknown kind": "",
	} {
		if broken == "" {
			broken = "\x00\x00\x00\x13\x00\x00\x00\x03crc1\x01a\x63crc2"
			if got, known := streamed(t, dialect.Bedrock, broken+good, "Content-Type", frames); !known || got.InputTokens != 12 {
				t.Errorf("%s: %+v, %v, want the next frame read", name, got, known)
			}
			continue
		}
		if got, known := streamed(t, dialect.Bedrock, broken+good, "Content-Type", frames); known {
			t.Errorf("%s: %+v, want unknown", name, got)
		}
	}
}

func FuzzStreams(f *testing.F) {
	f.Add([]byte(chatDelta+chatUsage+chatDone), 3)
	f.Add([]byte("\xef\xbb\xbf:\r\n"+claudeStart+claudeError), 1)
	f.Add([]byte(frame(`{"usage":{"inputTokens":12}}`, ":exception-type", "throttlingException")+chunk(`{"usage":{"input_tokens":1}}`)), 5)
	f.Add([]byte("{\"usage\":{\"prompt_tokens\":1}}\n{\"error\":{\"code\":429}}\n"), 2)
	f.Add([]byte(zipped(chatUsage)), 4)
	f.Fuzz(func(t *testing.T, body []byte, piece int) {
		piece = 1 + max(piece, 0)%50
		for _, typ := range []string{sse, ndjson, frames, "application/json"} {
			for _, encoding := range []string{"", "gzip"} {
				for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.Anthropic, dialect.Bedrock, dialect.OpenRouter} {
					if encoding != "" && d != dialect.OpenAI {
						continue
					}
					headers := []string{"Content-Type", typ, "Content-Encoding", encoding}
					whole, pieces := meterOf(d, string(body), len(body)+1, headers...), meterOf(d, string(body), piece, headers...)
					usage1, known1 := whole.Usage()
					usage2, known2 := pieces.Usage()
					verdict1, judged1 := whole.Verdict()
					verdict2, judged2 := pieces.Verdict()
					if usage1 != usage2 || known1 != known2 || verdict1 != verdict2 || judged1 != judged2 {
						t.Errorf("%s, %s %s: %+v %v, %+v %v whole, %+v %v, %+v %v in pieces of %d", d.Name(), typ, encoding,
							usage1, known1, verdict1, judged1, usage2, known2, verdict2, judged2, piece)
					}
					if judged1 && verdict1.Class == throttle.OK {
						t.Errorf("%s, %s: an error that is ok", d.Name(), typ)
					}
				}
			}
		}
	})
}

func ExampleMeter() {
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}}
	m := dialect.NewMeter(dialect.Anthropic, resp)
	io.WriteString(m, "event: message_start\ndata: {\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n")
	io.WriteString(m, "event: error\ndata: {\"error\":{\"type\":\"overloaded_error\"}}\n\n")

	verdict, refused := m.Verdict()
	fmt.Println(refused, verdict.Class, verdict.Scope)
	used, known := m.Usage()
	fmt.Println(known, used.InputTokens, used.OutputTokens)
	// Output:
	// true overloaded model
	// true 9 1
}
