package throttle

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// A Status is how a throttle stands: what its process knows, and what the store
// says of the use of the limits.
type Status struct {
	// Waiting is how many calls of this process wait, for a decision or for
	// their turn.
	Waiting int
	// Budgets are those that calls of this process have used, by account and
	// name.
	Budgets []BudgetStatus
	// Keys are those that the vendor refuses, by account and key.
	Keys []KeyStatus
	// Live is how many processes share the store, for all that is known, and
	// Members which ones, by ID, at most 1000. Nil: the store is in memory, or
	// wasn't asked yet.
	Live    int
	Members []Member
	// Store is what the budgets are kept in, "memory" or "redis", and Hears
	// whether its notices come through: without them this process learns of
	// others' pauses with its next claim only, and spends no leases.
	Store string
	Hears bool
	// Outage is whether the store, or a part of it, is out of reach, since when
	// and why. While it is, Outages are the parts, the first one first; Since
	// and Cause are those of the first.
	Outage  bool
	Since   time.Time
	Cause   error
	Outages []OutageStatus
	// Asked is when the store was asked for the use of the limits; zero: never.
	Asked time.Time
	// Changes are the last 100 changes of state that this process made or heard
	// of, the newest first: every event but those of single calls. Names and
	// details longer than 256 bytes are cut, and end in "…" then.
	Changes []Event
}

// An OutageStatus is a part of the store that is out of reach.
type OutageStatus struct {
	// Server is the one of a cluster, host and port; "": the whole store.
	Server string
	Since  time.Time
	// Cause is the error that showed it.
	Cause error
}

// A BudgetStatus is one budget of one account.
type BudgetStatus struct {
	Account string
	Budget  string
	// Model is the one that the budget is for, where each has its own.
	Model string
	// Call is one that leads to it, for Throttle.Pause, Resume and Check.
	Call Call
	// Waiting is how many calls of this process wait for it, and WaitingBy how
	// many of each lane.
	Waiting   int
	WaitingBy map[string]int
	// Paused is how much is left of the longer of the budget's and the
	// account's pause; 0: neither is paused. Verdict is what began it.
	Paused  time.Duration
	Verdict Verdict
	// DryRun is whether its calls are neither denied nor delayed. WouldDeny and
	// WouldWait are how many calls of this process enforcement would have denied or
	// delayed since it has known the budget, by reason: budget, paused, key_refused,
	// credit_exhausted, model_denied, too_large or store. They are nil where nothing
	// is run dry.
	DryRun               bool
	WouldDeny, WouldWait map[string]int64
	// Pauses are the budget's and the account's, as far as they last.
	Pauses []PauseStatus
	// Leased is how many calls this process can send without asking, and
	// LeasedBy how many of each lane.
	Leased   int64
	LeasedBy map[string]int64
	// GuessInput and GuessOutput are by what a guess of tokens is multiplied
	// here, by what guessed calls really cost; 0: too few were seen.
	GuessInput, GuessOutput float64
	// Tenants are those that used the budget most of late, in this process's eyes,
	// the first most, at most 20. Empty where the budget has no policy for them.
	Tenants []TenantStatus
	// Limits are the budget's, then the account's, as the whole fleet has used
	// them. Empty until the store was asked.
	Limits []LimitStatus
}

// A PauseStatus is a pause that is in force.
type PauseStatus struct {
	Scope   Scope         // ScopeModel: the budget's; ScopeKey: the whole account's
	Left    time.Duration // until its end; more than 0
	Verdict Verdict       // what began it
}

// A LimitStatus is the use of one limit, in its unit.
type LimitStatus struct {
	Limit   string // as errors name it
	Unit    Unit
	Per     time.Duration // its window; 0 for calls in flight
	Account bool          // it is over the whole account
	Used    int64         // by everybody, leases included
	Amount  int64         // of a bucket its burst
	// Reported is how many units the vendor said that it has, where that
	// differs from the configured limit; 0: it doesn't, or nothing was said.
	Reported int64
	Lanes    []LaneStatus
}

// A TenantStatus is one tenant of a budget.
type TenantStatus struct {
	// Tenant is as the calls name it. "" stands for the calls without a tenant and,
	// where Overflow is set, for all that are too many to be told apart.
	Tenant   string
	Overflow bool
	// Waiting is how many of its calls wait in this process, and Admitted and
	// Denied are how many went or were refused here since it has been known.
	Waiting          int
	Admitted, Denied int64
	// Limits are the tenant's own, as the whole fleet has used them. Empty until
	// the store was asked about this tenant, and for calls without one.
	Limits []LimitStatus
}

// A LaneStatus is what a lane may draw of a limit.
type LaneStatus struct {
	Lane    string
	Ceiling int64
	Room    int64 // what is left of it
}

// A KeyStatus is a key that the vendor refuses.
type KeyStatus struct {
	Account string
	Key     Fingerprint
	Verdict Verdict
	// Call is one of the key, for Throttle.Probe.
	Call Call
	// Since is when this process learned of the refusal.
	Since time.Time
	// NextProbe is how long until somebody may try it again; 0: now.
	NextProbe time.Duration
}

// Status returns how everything stands. It asks the store in one round trip, at
// most once a second and about at most 1000 budgets, and not during an outage:
// then the use of the limits is the last that was heard. An error is the
// store's; what is known without it is returned all the same.
func (t *Throttle) Status(ctx context.Context) (Status, error) {
	t.mustBeMade(ctx, "Status")
	var s Status
	now := time.Now()
	queues := t.currentQueues()
	seen, err := t.looked.at(ctx, t, queues, now)
	for _, q := range queues {
		b := q.status(now)
		if a, ok := seen.answers[q]; ok {
			b.Limits = q.limitStatus(&a)
			q.tenantLimits(b.Tenants, seen.tenants[q], &a)
		}
		s.Waiting += b.Waiting
		s.Budgets = append(s.Budgets, b)
	}
	s.Keys, s.Live, s.Asked = t.refusedKeys(now), t.sharers(), seen.when
	s.Changes, s.Store, s.Hears = t.changes.latest(), "memory", t.store.hears()
	if r, ok := t.store.(*RedisStore); ok {
		s.Store, s.Members = "redis", r.lastMembers()
	}
	if s.Outages = t.outage.status(); len(s.Outages) > 0 {
		s.Outage, s.Since, s.Cause = true, s.Outages[0].Since, s.Outages[0].Cause
	}
	return s, err
}

// currentQueues returns the queues in the order of a Status.
func (t *Throttle) currentQueues() []*queue {
	queues := slices.DeleteFunc(t.allQueues(), func(q *queue) bool { return q.retired.Load() })
	slices.SortFunc(queues, func(a, b *queue) int {
		return cmp.Or(cmp.Compare(a.a.id, b.a.id), cmp.Compare(a.id, b.id))
	})
	return queues
}

func (q *queue) status(now time.Time) BudgetStatus {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := BudgetStatus{Account: q.a.id, Budget: q.name, Call: q.lead, Waiting: q.room.Len() + q.gate.waits(), WaitingBy: map[string]int{}, LeasedBy: map[string]int64{},
		GuessInput: q.guesses.input.factor, GuessOutput: q.guesses.output.factor}
	if b.DryRun = q.dry; q.dry {
		b.WouldDeny, b.WouldWait = q.tally.Load().status()
	}
	if _, model, ok := strings.Cut(q.id, "\x00"); ok {
		b.Model = model
	}
	b.Tenants = q.tenantStatusLocked(now)
	for lane, l := range q.t.cfg.Lanes {
		if n := int64(q.leased(lane)); n > 0 {
			b.Leased += n
			b.LeasedBy[l.Name] = n
		}
		if n := q.room.LenOf(lane); n > 0 {
			b.WaitingBy[l.Name] = n
		}
	}
	for i, p := range []shut{q.pause, q.a.pauseNow()} {
		left := p.left(now)
		if left > 0 {
			b.Pauses = append(b.Pauses, PauseStatus{[]Scope{ScopeModel, ScopeKey}[i], left, p.verdict})
		}
		if left > b.Paused {
			b.Paused, b.Verdict = left, p.verdict
		}
	}
	return b
}

// limitStatus is the use of the queue's limits by an answer.
func (q *queue) limitStatus(ans *answer) []LimitStatus {
	limits := make([]LimitStatus, len(q.limits))
	for i := range q.limits {
		s := &q.limits[i]
		l := LimitStatus{Limit: s.text, Unit: s.unit, Per: durationOf(s.per), Account: i >= q.own, Used: int64(ans.used[i]), Amount: int64(s.amount)}
		if s.isBucket() {
			l.Amount = int64(s.burst)
		}
		q.mu.Lock()
		l.Reported = q.differs[i]
		q.mu.Unlock()
		for lane, room := range ans.lanes[i] {
			l.Lanes = append(l.Lanes, LaneStatus{q.t.cfg.Lanes[lane].Name, int64(s.most(lane)), int64(room)})
		}
		limits[i] = l
	}
	return limits
}

func (t *Throttle) refusedKeys(now time.Time) []KeyStatus {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var keys []KeyStatus
	for _, a := range t.accounts {
		a.mu.Lock()
		for id, k := range a.keys {
			if k.refused {
				keys = append(keys, KeyStatus{
					Account: a.id, Key: id, Verdict: k.verdict, Call: a.callOfLocked(id),
					Since: k.since, NextProbe: max(0, k.next.Sub(now)),
				})
			}
		}
		a.mu.Unlock()
	}
	slices.SortFunc(keys, func(a, b KeyStatus) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Key, b.Key))
	})
	return keys
}

// callOfLocked returns a call of the account that uses the key.
func (a *account) callOfLocked(id Fingerprint) Call {
	for _, q := range a.queues {
		return Call{Key: id, Account: q.lead.Account, Model: q.lead.Model}
	}
	return Call{Key: id}
}
