package headgate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/headgate-go/headgate/throttle"
)

// An answer in two pieces: the usage that the first one names is more than the
// estimate of output and less than that of input.
const (
	firstPiece  = `{"id":"x","object":"chat.completion","usage":{"prompt_tokens":70,"completion_tokens":900,"total_tokens":970},`
	lastPiece   = `"model":"m","choices":[]}`
	wholeTokens = 970 // as reported
	cutTokens   = 1000
)

// open sends a request over a stub that answers with the body.
func open(t *testing.T, th *throttle.Throttle, ctx context.Context, body io.ReadCloser) io.ReadCloser {
	t.Helper()
	resp, err := through(th, func(*http.Request) (*http.Response, error) { return reply(200, body), nil }).
		RoundTrip(post(t, "http://vendor.test").WithContext(as(ctx)))
	if err != nil {
		t.Fatal(err)
	}
	return resp.Body
}

func TestEachEndSettlesByItsOwnRule(t *testing.T) {
	type ends = func(cancel context.CancelFunc, body io.ReadCloser)
	all := func(_ context.CancelFunc, b io.ReadCloser) { io.Copy(io.Discard, b) }
	one := func(b io.Reader) { b.Read(make([]byte, len(firstPiece))) }
	for name, c := range map[string]struct {
		text   io.Reader
		end    ends
		tokens int64
	}{
		"read to the end":      {strings.NewReader(firstPiece + lastPiece), all, wholeTokens},
		"end without usage":    {strings.NewReader(`{"choices":[]}`), all, 500},
		"end, then closed":     {strings.NewReader(firstPiece + lastPiece), func(_ context.CancelFunc, b io.ReadCloser) { io.Copy(io.Discard, b); b.Close(); b.Close() }, wholeTokens},
		"end, then cancelled":  {strings.NewReader(firstPiece + lastPiece), func(c context.CancelFunc, b io.ReadCloser) { io.Copy(io.Discard, b); c(); b.Close() }, wholeTokens},
		"closed unread":        {strings.NewReader(firstPiece + lastPiece), func(_ context.CancelFunc, b io.ReadCloser) { b.Close() }, 500},
		"closed early":         {strings.NewReader(firstPiece + lastPiece), func(_ context.CancelFunc, b io.ReadCloser) { one(b); b.Close() }, cutTokens},
		"cancelled":            {strings.NewReader(firstPiece + lastPiece), func(c context.CancelFunc, b io.ReadCloser) { one(b); c() }, cutTokens},
		"broken off":           {io.MultiReader(strings.NewReader(firstPiece), failing{}), all, cutTokens},
		"broken off, no usage": {io.MultiReader(strings.NewReader(`{"choices":[`), failing{}), all, 500},
		"little seen, closed":  {strings.NewReader(`{"usage":{"prompt_tokens":7,"completion_tokens":1},` + lastPiece), func(_ context.CancelFunc, b io.ReadCloser) { b.Read(make([]byte, 60)); b.Close() }, 500},
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			th := newThrottle(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			c.end(cancel, open(t, th, ctx, io.NopCloser(c.text)))
			wantUsed(t, th, 1, c.tokens)
		})
	}
}

// What a caller reads after its context has ended changes nothing any more.
func TestReadingAfterTheContextsEndSettlesNothing(t *testing.T) {
	th := newThrottle(t)
	ctx, cancel := context.WithCancel(context.Background())
	body := open(t, th, ctx, io.NopCloser(strings.NewReader(firstPiece+lastPiece)))
	body.Read(make([]byte, len(firstPiece)))
	cancel()
	wantUsed(t, th, 1, cutTokens)
	if rest, err := io.ReadAll(body); string(rest) != lastPiece || err != nil {
		t.Errorf("read %q, %v", rest, err)
	}
	body.Close()
	wantUsed(t, th, 1, cutTokens)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// However an answer's ends race, one of them settles, and by its own rule.
func TestRacingEndsSettleOnce(t *testing.T) {
	const calls = 200
	th := newThrottle(t)
	for range calls {
		ctx, cancel := context.WithCancel(context.Background())
		body := open(t, th, ctx, io.NopCloser(strings.NewReader(usageBody)))
		var wg sync.WaitGroup
		wg.Go(func() { io.Copy(io.Discard, body) })
		wg.Go(func() { body.Close() })
		wg.Go(cancel)
		wg.Wait()
	}
	var requests, tokens int64
	if !eventually(func() bool {
		requests, tokens = used(t, th)
		return requests == calls && tokens >= 100*calls && tokens <= 500*calls && (tokens-100*calls)%400 == 0
	}) {
		t.Errorf("charged %d requests and %d tokens: not a sum of %d times 100 or 500", requests, tokens, calls)
	}
}

type blockingClose struct {
	io.Reader
	release chan struct{}
}

func (b blockingClose) Close() error { <-b.release; return nil }

func TestCallEndsBeforeACloseThatBlocks(t *testing.T) {
	th := newThrottle(t)
	inner := blockingClose{strings.NewReader(firstPiece + lastPiece), make(chan struct{})}
	body := open(t, th, context.Background(), inner)
	body.Read(make([]byte, len(firstPiece)))
	closed := make(chan struct{})
	go func() { body.Close(); close(closed) }()
	wantUsed(t, th, 1, cutTokens)
	select {
	case <-closed:
		t.Error("Close didn't wait for the inner body")
	default:
	}
	close(inner.release)
	<-closed
}

func TestCloseReturnsTheInnerError(t *testing.T) {
	want := errors.New("inner")
	body := open(t, newThrottle(t), context.Background(), closeError{strings.NewReader(""), want})
	if err := body.Close(); err != want {
		t.Errorf("error %v, want %v", err, want)
	}
}

type closeError struct {
	io.Reader
	err error
}

func (c closeError) Close() error { return c.err }

type shortcut struct{ *bytes.Reader }

func (shortcut) Close() error { return nil }

// io.Copy would take the shortcut past the meter.
func TestBodyHasNoWriterTo(t *testing.T) {
	th := newThrottle(t)
	body := open(t, th, context.Background(), shortcut{bytes.NewReader([]byte(usageBody))})
	if _, has := body.(io.WriterTo); has {
		t.Error("the body is an io.WriterTo")
	}
	if _, has := body.(io.Writer); has {
		t.Error("the body is an io.Writer although the inner one isn't")
	}
	io.Copy(io.Discard, body)
	wantUsed(t, th, 1, usageTokens)
}

func TestBodilessAnswersEndAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		status int
		body   io.ReadCloser
		tokens int64
	}{
		"HEAD":      {"HEAD", 200, &counted{Reader: failing{}}, 500},
		"204":       {"POST", 204, &counted{Reader: failing{}}, 500},
		"304":       {"GET", 304, &counted{Reader: strings.NewReader("")}, 0},
		"no body":   {"POST", 200, http.NoBody, 500},
		"empty 400": {"POST", 400, http.NoBody, 0},
		"empty 500": {"POST", 500, http.NoBody, 500},
	} {
		t.Run(name, func(t *testing.T) {
			th := newThrottle(t)
			watch := &watchedContext{Context: as(context.Background())}
			req := post(t, "http://vendor.test").WithContext(watch)
			req.Method = c.method
			if _, err := through(th, func(*http.Request) (*http.Response, error) { return reply(c.status, c.body), nil }).RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			wantUsed(t, th, 1, c.tokens)
			if n := watch.watching.Load(); n != 0 {
				t.Errorf("%d watches on the context although the call has ended", n)
			}
		})
	}
}

// A watchedContext counts who has asked to be called at its end and not taken
// that back.
type watchedContext struct {
	context.Context
	asked, watching atomic.Int32
}

func (*watchedContext) Done() <-chan struct{} { return make(chan struct{}) }
func (w *watchedContext) AfterFunc(func()) func() bool {
	w.asked.Add(1)
	w.watching.Add(1)
	return func() bool { w.watching.Add(-1); return true }
}

func TestEndedCallReleasesItsWatchOnTheContext(t *testing.T) {
	for name, end := range map[string]func(io.ReadCloser){
		"end":   func(b io.ReadCloser) { io.Copy(io.Discard, b) },
		"close": func(b io.ReadCloser) { b.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			watch := &watchedContext{Context: as(context.Background())}
			resp, err := through(newThrottle(t), func(*http.Request) (*http.Response, error) {
				return reply(200, io.NopCloser(strings.NewReader(usageBody))), nil
			}).RoundTrip(post(t, "http://vendor.test").WithContext(watch))
			if err != nil {
				t.Fatal(err)
			}
			if watch.asked.Load() == 0 {
				t.Fatal("the context isn't watched")
			}
			end(resp.Body)
			if n := watch.watching.Load(); n != 0 {
				t.Errorf("%d watches left", n)
			}
		})
	}
}

// Decoders stop at the end of the JSON and close, without reading the end of
// the file. The answer was whole all the same.
func TestJSONThatIsDecodedAndClosedIsSettledByItsUsage(t *testing.T) {
	th := newThrottle(t)
	body := open(t, th, context.Background(), io.NopCloser(strings.NewReader(usageBody)))
	var answer struct{ ID string }
	if err := json.NewDecoder(io.LimitReader(body, int64(len(usageBody)))).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	body.Close()
	wantUsed(t, th, 1, usageTokens)
}
