package dialect_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// waitFor is the wait of a 429 with one header for each value.
func waitFor(t *testing.T, name string, values ...string) time.Duration {
	t.Helper()
	resp := answer(429, "", "Content-Type", "application/json")
	for _, value := range values {
		resp.Header.Add(name, value)
	}
	got := dialect.Judge(dialect.OpenAI, resp)
	if got.Class != throttle.Busy || got.Scope != throttle.ScopeModel {
		t.Errorf("%s %q: %+v, want busy", name, values, got)
	}
	return got.Wait
}

// B19: of two caps that contradict each other the larger is charged.
func TestB19LargerCapIsCharged(t *testing.T) {
	asked := read(t, dialect.OpenAI, post(t, "https://x/", `{"model":"m","max_tokens":1,"max_completion_tokens":2000}`))
	if asked.Cost.OutputTokens != 2000 || asked.Guess.OutputTokens != 0 {
		t.Errorf("%+v, want 2000 tokens of output stated", asked)
	}
}

// B20: what is only guessed is said to be, so that it can be clamped.
func TestB20GuessIsNotStated(t *testing.T) {
	asked := read(t, dialect.OpenAI, post(t, "https://x/", `{"model":"m"}`))
	if asked.Cost != (throttle.Cost{Requests: 1}) || asked.Guess.OutputTokens != 1024 {
		t.Errorf("%+v, want one request stated and a guess", asked)
	}
}

// B38: dates in their three forms count from the vendor's own clock.
func TestB38DatesCountFromTheVendorsClock(t *testing.T) {
	for _, off := range []time.Duration{0, time.Minute, -time.Minute} {
		vendor := time.Now().Add(off).UTC().Truncate(time.Second)
		at := vendor.Add(20 * time.Second)
		for _, layout := range []string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
			resp := answer(429, "", "Date", vendor.Format(http.TimeFormat), "Retry-After", at.Format(layout))
			if got := dialect.Judge(dialect.OpenAI, resp).Wait; got != 20*time.Second {
				t.Errorf("clock off by %v, %s: %v, want 20s", off, resp.Header.Get("Retry-After"), got)
			}
		}
	}
	if got := waitFor(t, "Retry-After", "-5"); got != 0 {
		t.Errorf("-5: %v, want none", got)
	}
}

// B39 and B40: what is past, negative or no number is no wait; what is too
// large saturates.
func TestB39B40HintsAreSaturatedOrNone(t *testing.T) {
	for _, none := range []string{"Wed, 21 Oct 2015 07:28:00 GMT", "-1", "0", "NaN", "Inf", "1e309", "soon", ""} {
		if got := waitFor(t, "Retry-After", none); got != 0 {
			t.Errorf("%q: %v, want none", none, got)
		}
	}
	if got := waitFor(t, "Retry-After-Ms", "-1"); got != 0 {
		t.Errorf("-1 ms: %v, want none", got)
	}
	for hint, want := range map[string]time.Duration{
		"9223372036": pause.MaxHint, "99999999999999999999": pause.MaxHint, "10s": 10 * time.Second, " 10 ": 10 * time.Second, "10, 20": 20 * time.Second,
	} {
		if got := waitFor(t, "Retry-After", hint); got != want {
			t.Errorf("%q: %v, want %v", hint, got, want)
		}
	}
	if got := waitFor(t, "Retry-After", "10", "20"); got != 20*time.Second {
		t.Errorf("two headers: %v, want the larger", got)
	}
}

// B41, B42, B43 and B49: a hint is passed on as it is, however often and
// however long: the throttle caps it.
func TestB41B42B43B49HintIsPassedOnAsItIs(t *testing.T) {
	for _, s := range []int{10, 60, 61, 120, 600, 86_400, 999_999} {
		for range 10 {
			if got := waitFor(t, "Retry-After", fmt.Sprint(s)); got != time.Duration(s)*time.Second {
				t.Errorf("%v, want %ds", got, s)
			}
		}
	}
}

// B44: the hint is in the body, with up to nine decimals; a day's quota is
// named.
func TestB44HintInTheBody(t *testing.T) {
	const body = `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[
		{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"%s"}]},
		{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%s"}]}}`
	for delay, want := range map[string]time.Duration{
		"45.837906927s": 45_837_906_927, "0.5s": 500 * time.Millisecond, "58s": 58 * time.Second, "1m": time.Minute,
	} {
		for _, quota := range []string{"GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "GenerateRequestsPerDayPerProjectPerModel-FreeTier"} {
			text := fmt.Sprintf(body, quota, delay)
			resp := answer(429, text, "Content-Type", "application/json")
			got := dialect.Judge(dialect.Gemini, resp)
			if got.Wait != want || got.Scope != throttle.ScopeModel || !strings.Contains(got.Detail, quota) {
				t.Errorf("%s: %+v, want %v and the quota named", delay, got, want)
			}
			if after, _ := io.ReadAll(resp.Body); string(after) != text {
				t.Error("the body can't be read afterwards")
			}
		}
	}
}

// B47: a wait below a second is one.
func TestB47ShortHints(t *testing.T) {
	for name, hint := range map[string]string{"Retry-After": "0.02", "Retry-After-Ms": "20"} {
		if got := waitFor(t, name, hint); got != 20*time.Millisecond {
			t.Errorf("%s %s: %v, want 20ms", name, hint, got)
		}
	}
}

// B48: resets are the time to a full refill, and ignored by rule, except where
// the vendor's are the end of the window. None is misread.
func TestB48ResetHeaders(t *testing.T) {
	date := []string{"Date", "Thu, 01 Jan 2026 00:00:00 GMT"}
	tests := []struct {
		dialect dialect.Dialect
		headers []string
		want    time.Duration
	}{
		{dialect.OpenAI, []string{"X-Ratelimit-Reset-Requests", "6m0s"}, 0},
		{dialect.OpenAI, []string{"X-Ratelimit-Reset-Tokens", "500ms"}, 0},
		{dialect.Anthropic, []string{"Anthropic-Ratelimit-Tokens-Reset", "2026-01-01T00:00:30Z"}, 0},
		{dialect.Groq, []string{"X-Ratelimit-Reset-Requests", "2m59.56s"}, 0},
		{dialect.Generic, []string{"X-Ratelimit-Reset", "1767225630"}, 0},
		{dialect.Shopify, []string{"X-Ratelimit-Reset", "1767225630"}, 0},
		{dialect.AzureOpenAI, []string{"X-Ratelimit-Reset-Tokens", "55"}, 55 * time.Second},
		{dialect.AzureOpenAI, []string{"X-Ratelimit-Reset-Requests", "7", "X-Rate-Limit-Reset-Tokens", "-1"}, 7 * time.Second},
		{dialect.AzureOpenAI, []string{"X-Ratelimit-Reset-Tokens", "0"}, 0},
		{dialect.GitHub, []string{"X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", "1767225630"}, 30 * time.Second},
		{dialect.GitHub, []string{"X-Ratelimit-Remaining", "7", "X-Ratelimit-Reset", "1767225630"}, 0},
		{dialect.SendGrid, []string{"X-Ratelimit-Reset", "1767225630"}, 30 * time.Second},
		{dialect.SendGrid, []string{"X-Ratelimit-Reset", "30"}, 0},
	}
	for _, tt := range tests {
		resp := answer(429, "", append(tt.headers, date...)...)
		if got := dialect.Judge(tt.dialect, resp); got.Class != throttle.Busy || got.Wait != tt.want {
			t.Errorf("%s %v: %+v, want busy for %v", tt.dialect.Name(), tt.headers, got, tt.want)
		}
	}
}

// B51: what isn't the vendor's own JSON has its wait in the header.
func TestB51RefusalThatIsNotJSON(t *testing.T) {
	for name, body := range map[string]string{
		"HTML": "<html>" + strings.Repeat("x", 200<<10) + "</html>", "invalid JSON": `{"error":{`, "empty": "",
	} {
		for _, vendor := range dialect.Names() {
			d, _ := dialect.ByName(vendor)
			resp := answer(429, body, "Content-Type", "text/html", "Retry-After", "7")
			if got := dialect.Judge(d, resp); got.Class != throttle.Busy || got.Wait != 7*time.Second {
				t.Errorf("%s, %s: %+v, want busy for 7s", vendor, name, got)
			}
			if after, err := io.ReadAll(resp.Body); string(after) != body || err != nil {
				t.Errorf("%s, %s: %d bytes, %v afterwards", vendor, name, len(after), err)
			}
		}
	}
}

// B71: no money isn't a limit of the minute.
func TestB71NoMoneyIsNotBusy(t *testing.T) {
	got := dialect.Judge(dialect.OpenAI, answer(429, `{"error":{"code":"insufficient_quota"}}`))
	if want := (throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "429 insufficient_quota"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// B73: Google's refusals don't follow their status.
func TestB73GooglesRefusals(t *testing.T) {
	for body, want := range map[string]throttle.Class{
		`{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`:      throttle.KeyRefused,
		`{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"API key expired. Please renew it."}}`: throttle.KeyRefused,
		`{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Invalid value at 'contents'"}}`:       throttle.BadRequest,
	} {
		if got := dialect.Judge(dialect.Gemini, answer(400, body)); got.Class != want {
			t.Errorf("%s: %+v, want %v", body, got, want)
		}
	}
	if got := dialect.Judge(dialect.Gemini, answer(403, `{"error":{"code":403,"status":"PERMISSION_DENIED"}}`)); got.Scope != throttle.ScopeNone {
		t.Errorf("a permission: %+v, want it to pause nothing", got)
	}
}

// B74: a 403 for a model, or for a text, leaves other models alone.
func TestB74RefusalOfAModelOrATextIsNoMore(t *testing.T) {
	for body, want := range map[string]throttle.Scope{
		`{"error":{"message":"Model not allowed for this project"}}`:                  throttle.ScopeModel,
		`{"error":{"message":"Blocked by policy","code":"content_policy_violation"}}`: throttle.ScopeNone,
		`{}`: throttle.ScopeNone,
	} {
		if got := dialect.Judge(dialect.OpenAI, answer(403, body)); got.Scope != want {
			t.Errorf("%s: %+v, want scope %v", body, got, want)
		}
	}
}

// B75: 401 refuses the key at every vendor, unless a code says otherwise.
func TestB75UnauthorizedRefusesTheKey(t *testing.T) {
	for _, name := range dialect.Names() {
		d, _ := dialect.ByName(name)
		if got := dialect.Judge(d, answer(401, "")); got.Class != throttle.KeyRefused || got.Scope != throttle.ScopeKey {
			t.Errorf("%s: %+v, want key_refused", name, got)
		}
	}
}

// B78: 529 and 503 are overload, with and without a hint.
func TestB78OverloadByStatus(t *testing.T) {
	for _, name := range dialect.Names() {
		d, _ := dialect.ByName(name)
		for _, status := range []int{503, 529} {
			for hint, want := range map[string]time.Duration{"8": 8 * time.Second, "": 0} {
				got := dialect.Judge(d, answer(status, "", "Retry-After", hint))
				if got.Class != throttle.Overloaded || got.Wait != want || got.Scope == throttle.ScopeNone {
					t.Errorf("%s, %d: %+v, want overloaded for %v", name, status, got, want)
				}
			}
		}
	}
}

// B79: statuses of an edge in front of the vendor do no harm.
func TestB79StatusesOfAnEdge(t *testing.T) {
	for _, name := range dialect.Names() {
		d, _ := dialect.ByName(name)
		for status, want := range map[int]throttle.Class{444: throttle.BadRequest, 520: throttle.ServerError, 522: throttle.ServerError} {
			if got := dialect.Judge(d, answer(status, "<html>")); got.Class != want || got.Scope != throttle.ScopeNone {
				t.Errorf("%s, %d: %+v, want %v", name, status, got, want)
			}
		}
	}
}
