package dialect_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// answer returns a response. Headers come as pairs of name and value.
func answer(status int, body string, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body))}
}

// A vendorRow is one recorded answer and what it must be taken for.
type vendorRow struct {
	Vendor, Case string
	Status       int
	Headers      map[string]string
	Body         string
	Expect       struct {
		Class, Scope string
		Pause        float64 `json:"pause_seconds"`
	}
}

func vendorRows(t *testing.T) []vendorRow {
	t.Helper()
	f, err := os.Open("testdata/responses.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []vendorRow
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row vendorRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func (row vendorRow) response() *http.Response {
	var pairs []string
	for name, value := range row.Headers {
		pairs = append(pairs, name, value)
	}
	return answer(row.Status, row.Body, pairs...)
}

func TestRecordedAnswersAreTakenForWhatTheyAre(t *testing.T) {
	for _, row := range vendorRows(t) {
		t.Run(row.Vendor+"/"+row.Case, func(t *testing.T) {
			d, ok := dialect.ByName(row.Vendor)
			if !ok {
				t.Fatal("no such dialect")
			}
			resp := row.response()
			got := dialect.Judge(d, resp)
			wait := time.Duration(math.Round(row.Expect.Pause * 1e9))
			if got.Class.String() != row.Expect.Class || got.Scope.String() != row.Expect.Scope || got.Wait != wait {
				t.Errorf("%v, scope %v, wait %v (%s), want %+v", got.Class, got.Scope, got.Wait, got.Detail, row.Expect)
			}
			if body, err := io.ReadAll(resp.Body); string(body) != row.Body || err != nil {
				t.Errorf("body %q, %v afterwards", body, err)
			}
		})
	}
}

// What Judge sees within a recorded 200, a Meter sees while it streams past.
func TestMeterSeesWhatJudgeSees(t *testing.T) {
	for _, row := range vendorRows(t) {
		if row.Status/100 != 2 {
			continue
		}
		t.Run(row.Vendor+"/"+row.Case, func(t *testing.T) {
			d, _ := dialect.ByName(row.Vendor)
			resp := row.response()
			m := dialect.NewMeter(d, resp)
			for i := range row.Body {
				m.Write([]byte(row.Body[i : i+1]))
			}
			m.Usage()
			got, known := m.Verdict()
			if want := dialect.Judge(d, resp); got != want || known != (want.Class != throttle.OK) {
				t.Errorf("%+v, %v, want %+v", got, known, want)
			}
		})
	}
}

func TestMissingFileDeniesNoModel(t *testing.T) {
	for method, want := range map[string]throttle.Class{"GET": throttle.BadRequest, "DELETE": throttle.BadRequest, "POST": throttle.ModelDenied} {
		resp := answer(404, `{"error":{"type":"not_found_error"}}`)
		resp.Request, _ = http.NewRequest(method, "https://api.anthropic.com/v1/files/x", nil)
		if got := dialect.Judge(dialect.Anthropic, resp); got.Class != want {
			t.Errorf("%s: %v, want %v", method, got.Class, want)
		}
	}
}

func TestCredentialNeverGetsIntoDetail(t *testing.T) {
	for _, secret := range []string{"sk-proj-abc123", "SECRETLETTERSONLY", "123456"} {
		body := `{"code":"` + secret + `","type":"x-` + secret + `","message":"` + secret + `","error":{"code":"` + secret +
			`","type":"` + secret + `","status":"` + secret + `","message":"Incorrect API key provided: ` + secret + `",
			"details":[{"reason":"` + secret + `"}]}}`
		for name, set := range map[string]func(*http.Request){
			"bearer": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) },
			"header": func(r *http.Request) { r.Header.Set("X-Api-Key", secret); r.Header.Set("X-Goog-Api-Key", secret) },
			"query":  func(r *http.Request) { r.URL.RawQuery = "key=" + secret },
			"basic":  func(r *http.Request) { r.SetBasicAuth("AC1", secret) },
		} {
			for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.Anthropic, dialect.Gemini, dialect.Twilio, dialect.Generic} {
				r := post(t, "https://x/", "")
				if set(r); read(t, d, r).Credential == "https://x" {
					continue // not where this dialect looks
				}
				resp := answer(401, body)
				resp.Request = r
				if got := dialect.Judge(d, resp).Detail; strings.Contains(got, secret) {
					t.Errorf("%s by %s: Detail is %q", d.Name(), name, got)
				}
			}
		}
	}
}

func TestDetailShowsOnlyCodes(t *testing.T) {
	tests := map[string]string{
		`{"code":"rate_limited"}`:                               "429 rate_limited",
		`{"code":1300,"type":"a.b-c"}`:                          "429 1300 a.b-c",
		`{"code":"sk-abc123"}`:                                  "429",
		`{"code":"two words"}`:                                  "429",
		`{"code":"` + strings.Repeat("x", 65) + `"}`:            "429",
		`{"code":1234567}`:                                      "429",
		`{"code":429,"type":"x"}`:                               "429 x",
		`{"code":"x","type":"x"}`:                               "429 x",
		`[{"code":"a"},{"code":"b"},{"code":"c"},{"code":"d"}]`: "429 a b c",
		`{"message":"too fast","code":""}`:                      "429",
		`{"code":"\u0441\u043e\u0434\u0435"}`:                   "429",
	}
	for body, want := range tests {
		if got := dialect.Judge(dialect.Generic, answer(429, body)).Detail; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestJudgeTakesAtMost64KiBAndPutsThemBack(t *testing.T) {
	html := "<html>" + strings.Repeat("x", 200_000) + "</html>"
	src := strings.NewReader(html)
	closed := &countedBody{Reader: iotest.HalfReader(src)}
	resp := answer(429, "", "Content-Type", "text/html", "Retry-After", "7")
	resp.Body, resp.ContentLength = closed, int64(len(html))
	header := resp.Header.Clone()
	if got := dialect.Judge(dialect.OpenAI, resp); got.Class != throttle.Busy || got.Wait != 7*time.Second {
		t.Errorf("%+v, want busy for 7s", got)
	}
	if took := len(html) - src.Len(); took != 64<<10 {
		t.Errorf("%d bytes were read, want 64 KiB", took)
	}
	body, err := io.ReadAll(resp.Body)
	if string(body) != html || err != nil {
		t.Errorf("%d bytes and %v afterwards, want %d", len(body), err, len(html))
	}
	if resp.Body.Close(); closed.closes != 1 {
		t.Errorf("closed %d times, want once", closed.closes)
	}
	if len(resp.Header) != len(header) || resp.ContentLength != int64(len(html)) {
		t.Error("the response was changed")
	}
}

func TestJudgeStatusReadsNothingOfAnAnswerThatIsFine(t *testing.T) {
	for _, status := range []int{101, 200, 204, 304} {
		own := &countedBody{Reader: strings.NewReader(`{"error":{"code":"insufficient_quota"}}`)}
		resp := answer(status, "", "Content-Type", "application/json")
		resp.Body, resp.ContentLength = own, 40
		if got := dialect.JudgeStatus(dialect.OpenAI, resp); got != (throttle.Verdict{}) {
			t.Errorf("%d: %+v, want ok", status, got)
		}
		if own.reads > 0 || resp.Body != io.ReadCloser(own) {
			t.Errorf("%d: the body was read", status)
		}
	}
}

func TestJudgeSeesErrorsWithinA200(t *testing.T) {
	busy := throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel}
	tests := []struct {
		name    string
		dialect dialect.Dialect
		typ     string
		body    string
		want    throttle.Verdict
	}{
		{"overloaded in a stream", dialect.Anthropic, "text/event-stream", "event: ping\ndata: {}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
			throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeModel, Detail: "200 overloaded_error"}},
		{"chunk", dialect.OpenAI, "text/event-stream; charset=utf-8", "data: {\"choices\":[]}\r\n\r\ndata: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"try again in 3s\"}}\r\n\r\n",
			throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 3 * time.Second, Detail: "200 rate_limit_exceeded"}},
		{"failed response", dialect.OpenAI, "text/event-stream", "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"insufficient_quota\"}}}\n\n",
			throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "200 insufficient_quota"}},
		{"event of the responses API", dialect.OpenAI, "text/event-stream", "event: error\ndata: {\"type\":\"error\",\"code\":\"server_is_overloaded\"}\n\n",
			throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeModel, Detail: "200 server_is_overloaded"}},
		{"no error", dialect.OpenAI, "application/json", `{"id":"x","error":null,"code":"rate_limit_exceeded"}`, throttle.Verdict{}},
		{"an error in a message", dialect.OpenAI, "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"error\\\":{}\"}}]}\n\n", throttle.Verdict{}},
		{"unknown error", dialect.OpenAI, "application/json", `{"error":{"message":"?"}}`, throttle.Verdict{Class: throttle.ServerError, Detail: "200"}},
		{"chunk of Gemini", dialect.Gemini, "text/event-stream", "data: {\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"retryDelay\":\"1.5s\"}]}}\n\n",
			throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 1500 * time.Millisecond, Detail: "200 429 RESOURCE_EXHAUSTED"}},
		{"item of Gemini's array", dialect.Gemini, "application/json", `[{"candidates":[]},{"error":{"code":503,"status":"UNAVAILABLE"}}`,
			throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeModel, Detail: "200 503 UNAVAILABLE"}},
		{"by its status alone", dialect.Gemini, "application/json", `{"error":{"code":429}}`,
			throttle.Verdict{Class: busy.Class, Scope: busy.Scope, Detail: "200 429"}},
		{"cut off", dialect.Anthropic, "text/event-stream", "event: error\ndata: {\"error\":{\"type\":\"rate_limit_error\"",
			throttle.Verdict{Class: busy.Class, Scope: busy.Scope, Detail: "200 rate_limit_error"}},
		{"neither JSON nor events", dialect.OpenAI, "text/plain", `{"error":{"code":"insufficient_quota"}}`, throttle.Verdict{}},
	}
	for _, tt := range tests {
		t.Run(tt.dialect.Name()+"/"+tt.name, func(t *testing.T) {
			resp := answer(200, tt.body, "Content-Type", tt.typ)
			if got := dialect.Judge(tt.dialect, resp); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if body, err := io.ReadAll(resp.Body); string(body) != tt.body || err != nil {
				t.Errorf("body %q, %v afterwards", body, err)
			}
		})
	}
}

func TestErrorOfTheBodyComesAfterItsBytes(t *testing.T) {
	errBroken := errors.New("connection reset")
	resp := answer(429, "")
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"error":{"code":"insufficient_quota"`), iotest.ErrReader(errBroken)))
	if got := dialect.Judge(dialect.OpenAI, resp); got.Class != throttle.CreditExhausted {
		t.Errorf("%v, want credit_exhausted", got.Class)
	}
	for range 2 { // the error stays
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, errBroken) {
			t.Errorf("%v, want %v", err, errBroken)
		}
	}
}

func TestBodyThatStallsIsJudgedAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, pw := io.Pipe()
		const front, rest = `{"error":{"code":"insufficient_quota",`, `"message":"m"}}`
		go func() {
			pw.Write([]byte(front))
			<-time.After(time.Minute) // by the bubble's clock
			pw.Write([]byte(rest))
			pw.Close()
		}()
		resp := answer(429, "")
		resp.Body = pr
		began := time.Now()
		got := dialect.Judge(dialect.OpenAI, resp)
		if took := time.Since(began); got.Class != throttle.CreditExhausted || took != time.Second {
			t.Errorf("%v after %v, want credit_exhausted after 1s", got.Class, took)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != front+rest || err != nil {
			t.Errorf("body %q, %v afterwards", body, err)
		}
	})
}

func TestStalledBodyCanBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, _ := io.Pipe()
		resp := answer(429, "")
		resp.Body = pr
		dialect.Judge(dialect.OpenAI, resp)
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("read after Close: %d, %v, want an error", n, err)
		}
	}) // and the bubble ends: no goroutine is left
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func TestCompressedErrorIsUnderstoodAndPassedOnAsItCame(t *testing.T) {
	const text = `{"error":{"code":"insufficient_quota"}}`
	bomb := zipped(text[:len(text)-2] + `,"x":"` + strings.Repeat("x", 10<<20) + `"}}`)
	tests := []struct {
		name, encoding, body string
		want                 throttle.Class
	}{
		{"gzip", "gzip", zipped(text), throttle.CreditExhausted},
		{"in capitals", "GZIP", zipped(text), throttle.CreditExhausted},
		{"cut off", "gzip", zipped(text + strings.Repeat(" ", 1000))[:60], throttle.CreditExhausted},
		{"a bomb", "gzip", bomb, throttle.CreditExhausted},
		{"not gzip after all", "gzip", text, throttle.Busy},
		{"unknown", "br", zipped(text), throttle.Busy},
		{"identity", "identity", text, throttle.CreditExhausted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp := answer(429, tt.body, "Content-Encoding", tt.encoding)
			if got := dialect.Judge(dialect.OpenAI, resp); got.Class != tt.want {
				t.Errorf("%v, want %v", got.Class, tt.want)
			}
			if body, _ := io.ReadAll(resp.Body); string(body) != tt.body || resp.Header.Get("Content-Encoding") != tt.encoding {
				t.Error("the answer was changed")
			}
		})
	}
}

func TestCustomJudgeSeesTheBodyAndDecides(t *testing.T) {
	busy := throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: time.Second}
	own := dialect.New("own", dialect.OpenAI, dialect.Custom{
		Judge: func(resp *http.Response, body []byte, v throttle.Verdict) throttle.Verdict {
			if bytes.Contains(body, []byte(`"rate_limit":1`)) {
				return busy
			}
			return v
		},
	})
	const limited = `{"rate_limit":1}`
	stream := answer(200, limited, "Content-Type", "application/json")
	stream.ContentLength = -1
	tests := []struct {
		name string
		resp *http.Response
		want throttle.Class
	}{
		{"within a 200", answer(200, limited, "Content-Type", "application/json"), throttle.Busy},
		{"an error", answer(400, limited), throttle.Busy},
		{"compressed", answer(400, zipped(limited), "Content-Encoding", "gzip"), throttle.Busy},
		{"a stream isn't held up", stream, throttle.OK},
		{"nor what isn't JSON", answer(200, limited, "Content-Type", "text/event-stream"), throttle.OK},
		{"the base's verdict stands", answer(429, `{"error":{"code":"insufficient_quota"}}`), throttle.CreditExhausted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := dialect.JudgeStatus(own, tt.resp); got.Class != tt.want {
				t.Errorf("%v, want %v", got.Class, tt.want)
			}
			if tt.resp.Header.Get("Content-Encoding") == "" {
				if body, _ := io.ReadAll(tt.resp.Body); len(body) == 0 {
					t.Error("the body is gone")
				}
			}
		})
	}
}

func TestCustomJudgeSeesTheFrontOfAStreamThatMayBeHeldUp(t *testing.T) {
	own := dialect.New("own", nil, dialect.Custom{
		Judge: func(_ *http.Response, body []byte, v throttle.Verdict) throttle.Verdict {
			v.Detail += string(body)
			return v
		},
	})
	for typ, want := range map[string]string{sse: "event: error\n\n", "application/json": "event: error\n\n", "text/html": "", "": ""} {
		if got := dialect.Judge(own, answer(200, "event: error\n\n", "Content-Type", typ)); got != (throttle.Verdict{Detail: want}) {
			t.Errorf("%s: %+v, want ok and the body %q", typ, got, want)
		}
	}
}

func TestJudgeCopesWithAnswersWithoutABody(t *testing.T) {
	for _, body := range []io.ReadCloser{nil, http.NoBody} {
		resp := &http.Response{StatusCode: 429, Body: body}
		if got := dialect.Judge(dialect.OpenAI, resp); got.Class != throttle.Busy || resp.Body != body {
			t.Errorf("%+v, want busy and no body", got)
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(429, []byte(`{"error":{"code":"insufficient_quota"}}`), "10", "gzip")
	f.Fuzz(func(t *testing.T, status int, body []byte, retryAfter, encoding string) {
		for _, name := range dialect.Names() {
			d, _ := dialect.ByName(name)
			resp := answer(status, string(body), "Retry-After", retryAfter, "Content-Encoding", encoding)
			got := dialect.Judge(d, resp)
			if got.Wait < 0 || len(got.Detail) > 300 || status < 400 && got.Class != throttle.OK {
				t.Errorf("%s: %+v", d.Name(), got)
			}
			if after, err := io.ReadAll(resp.Body); !bytes.Equal(after, body) || err != nil {
				t.Errorf("%s: body %q, %v afterwards", d.Name(), after, err)
			}
		}
	})
}
