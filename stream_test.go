package headgate_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Events of a stream, the last of them with usage.
const (
	firstEvent = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
	lastEvents = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":70,\"completion_tokens\":30,\"total_tokens\":100}}\n\ndata: [DONE]\n\n"
)

// B68: however long the answer, what is kept of it is bounded.
func TestB68LongStreamTakesNoMemory(t *testing.T) {
	const size = 64 << 20
	for _, kind := range []string{"text/event-stream", "application/json", "application/octet-stream"} {
		resp, err := through(newThrottle(t), func(*http.Request) (*http.Response, error) {
			r := reply(200, io.NopCloser(io.LimitReader(&repeating{text: firstEvent}, size)))
			r.Header.Set("Content-Type", kind)
			return r, nil
		}).RoundTrip(post(t, "http://vendor.test"))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if n, err := io.Copy(io.Discard, io.LimitReader(resp.Body, size-1)); n != size-1 || err != nil {
			t.Fatalf("read %d bytes, %v", n, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
			t.Errorf("%s: %d bytes more in use in the middle of the stream", kind, grown)
		}
		resp.Body.Close()
	}
}

type repeating struct {
	text string
	at   int
}

func (r *repeating) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// B66: the first event of a stream without end arrives at once, and closing the
// body hangs up on the vendor.
func TestB66FirstEventArrivesWhileTheStreamIsOpen(t *testing.T) {
	for version, start := range vendors {
		t.Run(version, func(t *testing.T) {
			noLeaks(t)
			gone := make(chan struct{})
			v := start(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, firstEvent)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				close(gone)
			})
			resp, err := v.wrap(t, newThrottle(t)).Do(post(t, v.URL))
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || !strings.HasPrefix(firstEvent, line) {
				t.Errorf("read %q, %v", line, err)
			}
			resp.Body.Close()
			<-gone
		})
	}
}

var vendors = map[string]func(testing.TB, http.HandlerFunc) *vendor{"HTTP1": newVendor, "HTTP2": newVendor2}

// OpenAI's SDK closes the body when it has read "[DONE]". The stream is whole
// then, though it hasn't ended.
func TestStreamClosedAtItsLastEventIsSettledByUsage(t *testing.T) {
	th := newThrottle(t)
	body := &counted{Reader: strings.NewReader(firstEvent + lastEvents)}
	resp, err := through(th, func(*http.Request) (*http.Response, error) {
		r := reply(200, body)
		r.Header.Set("Content-Type", "text/event-stream")
		return r, nil
	}).RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, len(firstEvent+lastEvents))); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, tokens := used(t, th); tokens != usageTokens {
		t.Errorf("charged %d tokens, want %d", tokens, usageTokens)
	}
}

// B67: whatever its type, each piece is handed on before the next is written.
func TestB67PiecesArriveOneByOne(t *testing.T) {
	for version, start := range vendors {
		for _, kind := range []string{"application/x-ndjson", "application/json", "application/octet-stream"} {
			t.Run(fmt.Sprint(version, " ", kind), func(t *testing.T) {
				noLeaks(t)
				next := make(chan struct{})
				v := start(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", kind)
					for range 5 {
						io.WriteString(w, "{\"a\":1}\n")
						w.(http.Flusher).Flush()
						<-next
					}
				})
				resp, err := v.wrap(t, newThrottle(t)).Do(post(t, v.URL))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				lines := bufio.NewReader(resp.Body)
				for range 5 {
					if line, err := lines.ReadString('\n'); line != "{\"a\":1}\n" {
						t.Fatalf("read %q, %v", line, err)
					}
					next <- struct{}{}
				}
			})
		}
	}
}

// B52: the body outlives every context that the Transport may have made.
func TestB52BodyIsReadWholeLongAfterTheHeader(t *testing.T) {
	for version, start := range vendors {
		t.Run(version, func(t *testing.T) {
			noLeaks(t)
			piece, more := strings.Repeat("x", 64<<10), make(chan struct{})
			v := start(t, func(w http.ResponseWriter, r *http.Request) {
				w.(http.Flusher).Flush()
				<-more
				for range 20 {
					io.WriteString(w, piece)
				}
			})
			ctx, cancel := context.WithTimeout(as(context.Background()), time.Minute)
			defer cancel()
			req := withCancel(post(t, v.URL).WithContext(ctx), make(chan struct{}))
			resp, err := v.wrap(t, newThrottle(t)).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			close(more)
			if text, err := io.ReadAll(resp.Body); len(text) != 20*len(piece) || err != nil {
				t.Errorf("read %d bytes, %v", len(text), err)
			}
		})
	}
}
