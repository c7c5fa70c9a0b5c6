package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// A stub answers requests from memory, after reading them as a real base would.
type stub struct {
	kind string // content type
	body func() io.ReadCloser
}

var drained = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// drain reads to the end.
func drain(r io.Reader) error {
	buf := drained.Get().(*[32 << 10]byte)
	defer drained.Put(buf)
	for {
		if _, err := r.Read(buf[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (s stub) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if err := drain(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {s.kind}}, Body: s.body(), ContentLength: -1, Request: r,
	}, nil
}

const answerText = `{"id":"chatcmpl-1","object":"chat.completion","created":1764540000,"model":"gpt-4o-2024-08-06",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I help you today?"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":250,"completion_tokens":9,"total_tokens":259}}`

// chatStub answers a chat at once, with its usage.
func chatStub() stub {
	return stub{"application/json", func() io.ReadCloser { return io.NopCloser(strings.NewReader(answerText)) }}
}

const (
	eventText = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764540000,"model":"gpt-4o",` +
		`"choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}` + "\n\n"
	lastEvents = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764540000,"model":"gpt-4o","choices":[],` +
		`"usage":{"prompt_tokens":250,"completion_tokens":10000,"total_tokens":10250}}` + "\n\ndata: [DONE]\n\n"
)

// An eventStream brings events one by one, as they come from a vendor: no Read
// returns more than one.
type eventStream struct {
	left int    // whole events
	rest string // of the event that is being read
}

func (s *eventStream) Read(p []byte) (int, error) {
	if s.rest == "" {
		switch s.left--; {
		case s.left > 0:
			s.rest = eventText
		case s.left == 0:
			s.rest = lastEvents
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (*eventStream) Close() error { return nil }

// streamStub answers with so many events, the last of them with the usage.
func streamStub(events int) stub {
	return stub{"text/event-stream", func() io.ReadCloser { return &eventStream{left: events} }}
}

// prompt is a chat request of about so many bytes. The model stands where the
// vendor's own SDK puts it: behind the messages.
func prompt(size int) string {
	head, tail := `{"messages":[{"role":"user","content":"`, `"}],"model":"m","max_tokens":400}`
	words := "The quick brown fox jumps over the lazy dog, and says so. "
	fill := strings.Repeat(words, size/len(words)+1)[:max(0, size-len(head)-len(tail))]
	return head + fill + tail
}
