package headgate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/headgate-go/headgate/throttle"
)

// The views are a throttle.Status as JSON. Durations are whole milliseconds, in
// fields whose names end in _ms.

type statusView struct {
	Now      time.Time    `json:"now"`
	Operator bool         `json:"operator"`
	Error    string       `json:"error,omitempty"` // of the look at the store
	Waiting  int          `json:"waiting"`
	Store    storeView    `json:"store"`
	Live     int          `json:"live"`
	Members  []memberView `json:"members"`
	Keys     []keyView    `json:"keys"`
	Budgets  []budgetView `json:"budgets"`
	Changes  []changeView `json:"changes"`
}

type storeView struct {
	Kind    string       `json:"kind"`
	Hears   bool         `json:"hears"`
	Asked   *time.Time   `json:"asked,omitempty"`
	Outages []outageView `json:"outages"`
}

type outageView struct {
	Server string    `json:"server,omitempty"`
	Since  time.Time `json:"since"`
	Cause  string    `json:"cause,omitempty"`
}

type memberView struct {
	ID   string `json:"id"`
	Self bool   `json:"self"`
	Seen int64  `json:"seen_ms"`
}

type keyView struct {
	ID        string     `json:"id"`
	Key       string     `json:"key"`
	Account   string     `json:"account"`
	State     string     `json:"state"` // open or refused
	Class     string     `json:"class,omitempty"`
	Detail    string     `json:"detail,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
	NextProbe int64      `json:"next_probe_ms"`
}

type changeView struct {
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Key      string    `json:"key,omitempty"`
	Account  string    `json:"account,omitempty"`
	Model    string    `json:"model,omitempty"`
	Budget   string    `json:"budget,omitempty"`
	Class    string    `json:"class,omitempty"`
	Scope    string    `json:"scope,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	Limit    string    `json:"limit,omitempty"`
	Reported int64     `json:"reported,omitempty"`
	Server   string    `json:"server,omitempty"`
	Cause    string    `json:"cause,omitempty"`
	Wait     int64     `json:"wait_ms"`
}

func viewOf(s throttle.Status, now time.Time) statusView {
	v := statusView{
		Now: now, Waiting: s.Waiting, Live: s.Live,
		Store: storeView{Kind: s.Store, Hears: s.Hears, Asked: known(s.Asked), Outages: []outageView{}},
		Keys:  keyViews(s), Members: []memberView{}, Budgets: []budgetView{}, Changes: []changeView{},
	}
	for _, o := range s.Outages {
		v.Store.Outages = append(v.Store.Outages, outageView{Server: clip(o.Server), Since: o.Since, Cause: textOf(o.Cause)})
	}
	for _, m := range s.Members {
		v.Members = append(v.Members, memberView{ID: m.ID, Self: m.Self, Seen: m.Seen.Milliseconds()})
	}
	for _, b := range s.Budgets {
		v.Budgets = append(v.Budgets, budgetViewOf(b))
	}
	for _, e := range s.Changes {
		v.Changes = append(v.Changes, changeViewOf(e))
	}
	return v
}

// keyViews are the refused keys, then one open key of each other account.
func keyViews(s throttle.Status) []keyView {
	views, seen := []keyView{}, map[[2]string]bool{}
	for _, k := range s.Keys {
		seen[[2]string{k.Account, string(k.Key)}] = true
		views = append(views, keyView{
			ID: keyID(k), Key: clip(string(k.Key)), Account: clip(k.Account), State: "refused",
			Class: k.Verdict.Class.String(), Detail: clip(k.Verdict.Detail),
			Since: known(k.Since), NextProbe: k.NextProbe.Milliseconds(),
		})
	}
	for _, b := range s.Budgets {
		id := [2]string{b.Account, string(b.Call.Key)}
		if b.Call.Key != "" && !seen[id] {
			seen[id] = true
			views = append(views, keyView{Key: clip(string(b.Call.Key)), Account: clip(b.Account), State: "open"})
		}
	}
	return views
}

func changeViewOf(e throttle.Event) changeView {
	v := changeView{
		Time: e.Time, Kind: e.Kind.String(), Key: clip(string(e.Key)), Account: clip(e.Account), Model: clip(e.Model), Budget: clip(e.Budget),
		Detail: clip(e.Verdict.Detail), Limit: clip(e.Limit), Reported: e.Reported, Server: clip(e.Server), Cause: textOf(e.Err),
		Wait: e.Wait.Milliseconds(),
	}
	if e.Verdict.Class != throttle.OK {
		v.Class, v.Scope = e.Verdict.Class.String(), e.Verdict.Scope.String()
	}
	return v
}

// known is nil for a time that isn't.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return clip(err.Error())
}

// shownBytes is how much of a name is shown: it comes from callers and vendors
// and may be of any length.
const shownBytes = 256

// clip shortens a text that is too long to be shown, to whole characters.
func clip(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	end := shownBytes
	for end > shownBytes-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// idOf names what an operator means, whatever the length of its parts, which
// may be cut in what is shown.
func idOf(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + strings.Join(parts, "\x00")))
	return kind + "-" + hex.EncodeToString(sum[:12])
}

func keyID(k throttle.KeyStatus) string { return idOf("key", k.Account, string(k.Key)) }

func budgetID(b throttle.BudgetStatus) string {
	return idOf("budget", b.Account, b.Budget, b.Model)
}
