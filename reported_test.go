package headgate_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
)

// A quota is a vendor's own count of a day's requests, which its answers show
// as Groq's do.
type quota struct {
	used   atomic.Int64
	status atomic.Int64 // of the next answer; 0: 200
}

func (q *quota) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	left := maxRequests - q.used.Add(1)
	status := int(q.status.Swap(0))
	if status == 0 {
		status = http.StatusOK
	}
	answer(status, usageBody,
		"X-Ratelimit-Limit-Requests", fmt.Sprint(maxRequests),
		"X-Ratelimit-Remaining-Requests", fmt.Sprint(left),
		"Retry-After", "0.01",
	)(w, r)
}

// groq returns a client that reads the vendor's answers as Groq's.
func groq(t *testing.T, v *vendor, th *throttle.Throttle, opts ...headgate.Option) *http.Client {
	t.Helper()
	opts = append([]headgate.Option{headgate.WithBase(v.Client().Transport)}, opts...)
	return &http.Client{Transport: headgate.NewTransport(th, dialect.Groq, opts...)}
}

// Somebody outside the fleet spends the same quota: one process learns it from
// its answers, and all of them count it.
func TestWhatOthersSpendIsCountedInTheWholeFleet(t *testing.T) {
	server := redistest.Start(t)
	memory := throttle.NewMemoryStore()
	for name, store := range map[string]func(*throttle.Config){
		"memory": func(c *throttle.Config) { c.Store = memory },
		"Redis":  onRedis(t, server),
	} {
		t.Run(name, func(t *testing.T) {
			q := &quota{}
			v := newVendor(t, q.ServeHTTP)
			one, other := newThrottle(t, store), newThrottle(t, store)
			client := groq(t, v, one)
			drain(t, client, post(t, v.URL))
			q.used.Add(4000)
			drain(t, client, post(t, v.URL)) // its answer says so,
			drain(t, client, post(t, v.URL)) // and this one's claim tells the fleet
			if requests, _ := used(t, other); requests != 4003 {
				t.Errorf("the other process counts %d requests, want 4003", requests)
			}
		})
	}
}

func TestNothingIsRaisedWhereTheVendorCountsAlike(t *testing.T) {
	q := &quota{}
	v := newVendor(t, q.ServeHTTP)
	th := newThrottle(t)
	client := groq(t, v, th)
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { send(t, client, v.URL) })
	}
	all.Wait()
	wantUsed(t, th, 40, 40*usageTokens)
	q.used.Add(-30) // the vendor has a new window, or answers late
	drain(t, client, post(t, v.URL))
	wantUsed(t, th, 41, 41*usageTokens)
}

// The first answer's figure counts, though the caller sees the second.
func TestARetriedAnswerReportsToo(t *testing.T) {
	q := &quota{}
	q.used.Store(5999)
	q.status.Store(429)
	v := newVendor(t, q.ServeHTTP)
	th := newThrottle(t, waiting)
	resp, _ := drain(t, groq(t, v, th, headgate.WithRetries(1)), post(t, v.URL))
	if requests, _ := used(t, th); resp.StatusCode != 200 || requests != 6001 {
		t.Errorf("%d, %d requests, want 200 and 6001", resp.StatusCode, requests)
	}
}

// A backup's figures are about the backup.
func TestABackupsAnswerReportsOfTheBackup(t *testing.T) {
	v := newVendor(t, answer(200, usageBody, "X-Ratelimit-Limit-Requests", "10", "X-Ratelimit-Remaining-Requests", "0"))
	th := newThrottle(t, full, func(c *throttle.Config) {
		c.Budgets = append(c.Budgets, throttle.Budget{Models: []string{"n"}, Limits: []throttle.Limit{throttle.Requests(10, day)}})
	})
	client := groq(t, v, th, headgate.WithFallbacks(map[string][]string{model: {"n"}}))
	hold := func() error {
		resp, err := client.Do(post(t, v.URL))
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	for range 2 { // the model's only one, and one of the backup's
		if err := hold(); err != nil {
			t.Fatal(err)
		}
	}
	if err := hold(); err == nil {
		t.Error("a third call went, though the vendor said that nothing is left of the backup")
	}
}

// What is shown in a header doesn't wait for the body, nor for anybody to read
// it.
func TestReportsDontWaitForTheBody(t *testing.T) {
	th := newThrottle(t)
	tr := headgate.NewTransport(th, dialect.Groq, headgate.WithBase(stub(func(*http.Request) (*http.Response, error) {
		r := reply(200, io.NopCloser(strings.NewReader(usageBody)))
		r.Header.Set("X-Ratelimit-Remaining-Requests", "100")
		return r, nil
	})))
	resp, err := tr.RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	drain(t, &http.Client{Transport: tr}, post(t, "http://vendor.test"))
	if requests, _ := used(t, th); requests != maxRequests-100+1 {
		t.Errorf("%d requests, want all but 99", requests)
	}
}

// An own dialect's report counts like the vendor's.
func TestAnOwnDialectsReportCounts(t *testing.T) {
	own := dialect.New("acme", dialect.Generic, dialect.Custom{
		Reports: func(resp *http.Response) []throttle.Report {
			return []throttle.Report{{Unit: throttle.UnitTokens, Per: day, Limit: throttle.Unsaid, Remaining: resp.ContentLength}}
		},
	})
	th := newThrottle(t)
	tr := headgate.NewTransport(th, own, headgate.WithBase(stub(func(*http.Request) (*http.Response, error) {
		r := reply(204, http.NoBody)
		r.ContentLength = 1000
		return r, nil
	})))
	for range 2 {
		drain(t, &http.Client{Transport: tr}, post(t, "http://vendor.test"))
	}
	if _, tokens := used(t, th); tokens != maxTokens-500 { // the second call took 500 of the 1000
		t.Errorf("%d tokens, want all but 500", tokens)
	}
}
