package headgate

import "github.com/headgate-go/headgate/throttle"

type budgetView struct {
	ID          string           `json:"id"`
	Account     string           `json:"account"`
	Budget      string           `json:"budget"`
	Model       string           `json:"model,omitempty"`
	Waiting     int              `json:"waiting"`
	WaitingBy   map[string]int   `json:"waiting_by"`
	Leased      int64            `json:"leased"`
	LeasedBy    map[string]int64 `json:"leased_by"`
	Pauses      []pauseView      `json:"pauses"`
	DryRun      bool             `json:"dry_run"`
	WouldDeny   map[string]int64 `json:"would_deny,omitempty"`
	WouldWait   map[string]int64 `json:"would_wait,omitempty"`
	GuessInput  float64          `json:"guess_input,omitempty"`
	GuessOutput float64          `json:"guess_output,omitempty"`
	Limits      []limitView      `json:"limits"`
	Tenants     []tenantView     `json:"tenants"`
}

type pauseView struct {
	Scope  string `json:"scope"`
	Left   int64  `json:"left_ms"`
	Class  string `json:"class"`
	Detail string `json:"detail,omitempty"`
}

type limitView struct {
	Limit    string     `json:"limit"`
	Unit     string     `json:"unit"`
	Per      int64      `json:"per_ms"`
	Account  bool       `json:"account"`
	Used     int64      `json:"used"`
	Amount   int64      `json:"amount"`
	Reported int64      `json:"reported,omitempty"`
	Lanes    []laneView `json:"lanes"`
}

type laneView struct {
	Lane    string `json:"lane"`
	Ceiling int64  `json:"ceiling"`
	Room    int64  `json:"room"`
}

type tenantView struct {
	Tenant   string      `json:"tenant"`
	Overflow bool        `json:"overflow"`
	Waiting  int         `json:"waiting"`
	Admitted int64       `json:"admitted"`
	Denied   int64       `json:"denied"`
	Limits   []limitView `json:"limits"`
}

func budgetViewOf(b throttle.BudgetStatus) budgetView {
	v := budgetView{
		ID: budgetID(b), Account: clip(b.Account), Budget: clip(b.Budget), Model: clip(b.Model),
		Waiting: b.Waiting, WaitingBy: clipNames(b.WaitingBy), Leased: b.Leased, LeasedBy: clipNames(b.LeasedBy),
		DryRun: b.DryRun, WouldDeny: b.WouldDeny, WouldWait: b.WouldWait, GuessInput: b.GuessInput, GuessOutput: b.GuessOutput,
		Pauses: []pauseView{}, Limits: limitViews(b.Limits), Tenants: []tenantView{},
	}
	for _, p := range b.Pauses {
		v.Pauses = append(v.Pauses, pauseView{p.Scope.String(), p.Left.Milliseconds(), p.Verdict.Class.String(), clip(p.Verdict.Detail)})
	}
	for _, t := range b.Tenants {
		v.Tenants = append(v.Tenants, tenantView{clip(t.Tenant), t.Overflow, t.Waiting, t.Admitted, t.Denied, limitViews(t.Limits)})
	}
	return v
}

func limitViews(limits []throttle.LimitStatus) []limitView {
	views := make([]limitView, len(limits))
	for i, l := range limits {
		views[i] = limitView{clip(l.Limit), l.Unit.String(), l.Per.Milliseconds(), l.Account, l.Used, l.Amount, l.Reported, []laneView{}}
		for _, lane := range l.Lanes {
			views[i].Lanes = append(views[i].Lanes, laneView{clip(lane.Lane), lane.Ceiling, lane.Room})
		}
	}
	return views
}

// clipNames cuts names of lanes as they are cut elsewhere.
func clipNames[N int | int64](by map[string]N) map[string]N {
	clipped := make(map[string]N, len(by))
	for name, n := range by {
		clipped[clip(name)] += n
	}
	return clipped
}
