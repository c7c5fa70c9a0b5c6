package sdktest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A vendor is a server on the loopback interface that counts what reaches it.
type vendor struct {
	*httptest.Server
	hits   atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func newVendor(t *testing.T) *vendor {
	v := &vendor{}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.hits.Add(1)
		io.Copy(io.Discard, r.Body)
		(*v.answer.Load())(w, r)
	}))
	v.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	v.Start()
	t.Cleanup(v.Close)
	return v
}

// now makes h what the vendor answers from here on.
func (v *vendor) now(h http.HandlerFunc) { v.answer.Store(&h) }

// base returns a RoundTripper that sends to the vendor whatever host a request
// is for: SDKs and dialects see the addresses that they know, and an SDK whose
// address can't be set is tested like any other.
func (v *vendor) base(t *testing.T) http.RoundTripper {
	to, err := url.Parse(v.URL)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{} // no proxy
	t.Cleanup(tr.CloseIdleConnections)
	return detour(func(r *http.Request) (*http.Response, error) {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host = to.Scheme, to.Host
		return tr.RoundTrip(out)
	})
}

type detour func(*http.Request) (*http.Response, error)

func (f detour) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reply answers with JSON.
func reply(status int, body string, header ...string) http.HandlerFunc {
	return write(status, []string{body}, append([]string{"Content-Type", "application/json"}, header...)...)
}

// events answers with a stream of server-sent events. Each is the JSON of its
// data or, with a name before it, "name: JSON".
func events(list ...string) http.HandlerFunc {
	pieces := make([]string, len(list))
	for i, e := range list {
		name, data, named := strings.Cut(e, ": {")
		if named && !strings.HasPrefix(e, "{") {
			pieces[i] = "event: " + name + "\n"
			e = "{" + data
		}
		pieces[i] += "data: " + strings.NewReplacer("\n", "", "\t", "").Replace(e) + "\n\n"
	}
	return write(http.StatusOK, pieces, "Content-Type", "text/event-stream")
}

// open answers like h, and keeps the connection open until the SDK has had
// enough.
func open(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h(w, r)
		<-r.Context().Done()
	}
}

// write answers in pieces, each sent off by itself.
func write(status int, pieces []string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		if len(pieces) == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(pieces[0])))
		}
		w.WriteHeader(status)
		for _, p := range pieces {
			io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}
