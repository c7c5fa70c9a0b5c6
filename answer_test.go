package headgate_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/throttle"
)

// B57, B58: what the Transport reads of an error reaches the caller too, with
// status and header as they were sent.
func TestB57B58CallerGetsTheVendorsErrorWhole(t *testing.T) {
	quota := `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`
	for version, start := range vendors {
		for name, c := range map[string]struct {
			status int
			body   string
		}{
			"no money":          {429, quota},
			"HTML of a CDN":     {429, "<html>" + strings.Repeat("busy ", 40_000) + "</html>"},
			"more than is read": {500, strings.Repeat("x", 1<<20)},
			"empty":             {503, ""},
			"invalid JSON":      {400, `{"error":`},
			"not modified":      {304, ""},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				v := start(t, answer(c.status, c.body, "X-Request-Id", "42", "Retry-After", "7"))
				direct, err := v.Client().Do(post(t, v.URL))
				if err != nil {
					t.Fatal(err)
				}
				direct.Body.Close()
				resp, text := drain(t, v.wrap(t, newThrottle(t)), post(t, v.URL))
				direct.Header.Del("Date")
				resp.Header.Del("Date")
				if text != c.body || resp.StatusCode != c.status || resp.Status != direct.Status ||
					resp.ContentLength != direct.ContentLength || !reflect.DeepEqual(resp.Header, direct.Header) {
					t.Errorf("got %s, %v, %d bytes of body, want %s, %v, %d", resp.Status, resp.Header, len(text), direct.Status, direct.Header, len(c.body))
				}
			})
		}
	}
}

// The verdict reaches the throttle before the body reaches the caller.
func TestVerdictIsToldWhenTheHeaderIsThere(t *testing.T) {
	var kinds []throttle.EventKind
	th := newThrottle(t, func(c *throttle.Config) {
		c.Observe = func(e throttle.Event) { kinds = append(kinds, e.Kind) }
	})
	resp, err := through(th, busy).RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	want := []throttle.EventKind{throttle.EventAdmitted, throttle.EventPaused}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
}

func TestStatusDecidesWhatAnAnswerWithoutUsageCosts(t *testing.T) {
	for status, tokens := range map[int]int64{
		200: 500, 206: 500, 301: 0, 400: 0, 404: 0, 422: 0, 500: 500, 502: 500,
	} {
		th := newThrottle(t)
		resp, err := through(th, func(*http.Request) (*http.Response, error) {
			return reply(status, io.NopCloser(strings.NewReader("{}"))), nil
		}).RoundTrip(post(t, "http://vendor.test"))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		t.Logf("status %d", status)
		wantUsed(t, th, 1, tokens)
	}
}

// The context of a switched protocol's request says nothing about its end.
func TestSwitchedProtocolEndsWithCloseAlone(t *testing.T) {
	watch := &watchedContext{Context: as(context.Background())}
	_, err := through(newThrottle(t), func(*http.Request) (*http.Response, error) {
		return reply(http.StatusSwitchingProtocols, io.NopCloser(failing{})), nil
	}).RoundTrip(post(t, "http://vendor.test").WithContext(watch))
	if err != nil || watch.asked.Load() != 0 {
		t.Errorf("error %v, %d watches on the context, want none", err, watch.asked.Load())
	}
}

// switching answers 101 and then echoes lines in upper case.
func switching(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	rw.Flush()
	for {
		line, err := rw.ReadString('\n')
		if err != nil {
			return
		}
		rw.WriteString(strings.ToUpper(line))
		rw.Flush()
	}
}

func TestSwitchedProtocolIsReadAndWritten(t *testing.T) {
	noLeaks(t)
	v := newVendor(t, switching)
	req := post(t, v.URL)
	ctx, cancel := context.WithCancel(req.Context())
	req = req.WithContext(ctx)
	req.Method, req.Body, req.ContentLength = "GET", nil, 0
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := v.wrap(t, newThrottle(t)).Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("status %d", resp.StatusCode)
	}
	line, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		t.Fatalf("%T isn't an io.ReadWriteCloser", resp.Body)
	}
	cancel() // net/http has handed the connection over
	answers := bufio.NewReader(line)
	for _, word := range []string{"ping", "pong"} {
		if _, err := io.WriteString(line, word+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); got != strings.ToUpper(word)+"\n" {
			t.Errorf("read %q, %v", got, err)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}
