package throttle

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"golang.org/x/sync/errgroup"
)

// A Throttle decides which calls go out and when. It is the front door of the
// package: Acquire before a call, a Permit's methods after it. It is safe for
// concurrent use, and holds no goroutine while nothing happens but those of
// its store.
type Throttle struct {
	cfg    Config
	store  Store
	outage *outage
	id     string        // this throttle, among all of the fleet: ownerBytes random bytes
	queues atomic.Uint32 // how many there have been
	deafs  atomic.Uint64 // how often notices have ceased to come

	looked      lookout
	changes     changes
	reconfigure sync.Mutex // one SetBudgets at a time

	mu       sync.RWMutex
	budgets  []Budget
	retired  []*queue // of budgets that were changed, until nothing of theirs is out
	accounts map[string]*account
	routes   map[routeKey]route
	recent   recentRoutes
	sweepAt  int // how many accounts there may be before the next look for idle ones
	// unmatched are the models that no budget matches, each logged once.
	unmatched map[string]bool

	closed    atomic.Bool
	done      context.Context
	stop      context.CancelFunc
	stopWatch func()
	loops     sync.WaitGroup
}

// A routeKey is what chooses a queue.
type routeKey struct {
	key            Fingerprint
	account, model string
}

type route struct {
	q  *queue
	id modelID
}

// maxModels is how many models, over all accounts, a throttle tells apart.
// Beyond it they share one budget of each kind.
const maxModels = 100_000

// New returns a throttle. An error names the field of the configuration that
// is out of range.
func New(c Config) (*Throttle, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	t := &Throttle{
		cfg:       c,
		store:     c.Store,
		budgets:   c.Budgets,
		accounts:  map[string]*account{},
		routes:    map[routeKey]route{},
		unmatched: map[string]bool{},
		sweepAt:   maxAccounts,
		id:        newEpoch(),
	}
	t.outage = newOutage(t)
	t.done, t.stop = context.WithCancel(context.Background())
	t.stopWatch = t.store.watch(t.heard)
	if err := t.store.trouble(); err != nil {
		t.outage.failed("", err)
	}
	return t, nil
}

// laneOf returns the place of the call's lane: its own, else the context's,
// else the first.
func (t *Throttle) laneOf(ctx context.Context, call *Call) (int, error) {
	name := call.Lane.Name
	if name == "" {
		l, _ := lanes.From(ctx)
		name = l.Name
	}
	if name == "" {
		return 0, nil
	}
	for i, l := range t.cfg.Lanes {
		if l.Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: there is no lane %q", ErrInvalidCall, name)
}

// queueFor returns the queue of the call's budget and account.
func (t *Throttle) queueFor(call *Call) (*queue, modelID) {
	k := routeKey{key: call.Key, account: call.Account, model: call.Model}
	if k.account != "" {
		k.key = ""
	}
	if r := t.recent.find(&k); r != nil && !r.q.retired.Load() {
		r.q.a.touch()
		return r.q, r.id
	}
	t.mu.RLock()
	r, ok := t.routes[k]
	if ok = ok && !r.q.retired.Load(); ok {
		t.recent.keep(&k, r) // under the lock that forgetting takes
	}
	t.mu.RUnlock()
	if ok {
		r.q.a.touch()
		return r.q, r.id
	}
	t.mu.Lock()
	if r, ok = t.routes[k]; !ok || r.q.retired.Load() {
		t.forgetIdle()
		full := len(t.routes) >= maxModels
		if r = t.newRoute(k, full); !full {
			t.routes[k] = r
		}
	}
	unheard := r.q.free && !t.unmatched[k.model] && len(t.unmatched) < maxModels
	if unheard {
		t.unmatched[k.model] = true
	}
	t.mu.Unlock()
	if unheard && len(t.cfg.Account) == 0 {
		t.cfg.Logger.Warn("headgate: no budget matches the model, so its calls are not limited", "model", k.model)
	}
	return r.q, r.id
}

// newRoute finds or makes the queue that a routeKey leads to. t.mu is held.
func (t *Throttle) newRoute(k routeKey, full bool) route {
	id := string(k.key)
	switch {
	case k.account != "":
		id = "@" + k.account
	case strings.HasPrefix(id, "@"):
		id = "\x00" + id // so that no key meets an account's name
	}
	a := t.accounts[id]
	if a == nil {
		a = &account{t: t, id: id, keys: map[Fingerprint]*heldKey{}, queues: map[string]*queue{}}
		t.accounts[id] = a
	}
	a.touch()
	b, name := t.budgetFor(k.model)
	if b.PerModel && full {
		// No model's own name has a \x01 here. Models without a budget have
		// one of their own each, and share one, too.
		if name = b.Name + "\x01overflow"; b.free {
			name = "\x01overflow"
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.queues[name]
	if q == nil {
		q = newQueue(t, a, name, b)
		q.lead = Call{Key: k.key, Account: k.account, Model: k.model}
		a.queues[name] = q
	}
	return route{q: q, id: modelIDOf(k.model)}
}

// budgetFor returns the budget of a model and the name of its state. A model
// that no budget matches has a budget without limits of its own. t.mu is held.
func (t *Throttle) budgetFor(model string) (*Budget, string) {
	for i := range t.budgets {
		b := &t.budgets[i]
		if !b.matches(model) {
			continue
		}
		if b.PerModel {
			return b, b.Name + "\x00" + model
		}
		return b, b.Name
	}
	return &Budget{Name: model, PerModel: true, free: true}, "\x00" + model
}

func modelIDOf(model string) modelID {
	sum := sha256.Sum256([]byte(model))
	return modelID(sum[:8])
}

// Close ends the throttle: waiting calls get ErrClosed, as does every later
// Acquire, and what was to be given back is written, which may take up to
// twice the store's timeout. Permits that are out may still be ended. It
// doesn't close the Store. Closing twice does nothing.
func (t *Throttle) Close() error {
	t.mustBeMade(context.Background(), "Close")
	if t.closed.Swap(true) {
		return nil
	}
	t.stop()
	t.stopWatch()
	t.outage.shut()
	var g errgroup.Group
	g.SetLimit(16)
	for _, q := range t.allQueues() {
		g.Go(func() error { q.close(); return nil })
	}
	err := g.Wait()
	t.loops.Wait()
	return err
}

func (t *Throttle) allQueues() []*queue {
	t.mu.RLock()
	defer t.mu.RUnlock()
	queues := slices.Clone(t.retired)
	for _, a := range t.accounts {
		a.mu.Lock()
		queues = append(queues, a.queuesLocked()...)
		a.mu.Unlock()
	}
	return queues
}

// close turns the waiting calls away, stops the timers, and writes the last
// settlements once the claim under way has come back.
func (q *queue) close() {
	q.mu.Lock()
	q.wake.Stop()
	q.flush.Stop()
	q.renew.Stop()
	q.room.Each(func(p *place) bool {
		if a := p.Value; !a.inFlight {
			q.leaveLocked(a)
			q.withdrawOwnLocked(a)
			a.answers <- reply{kind: replyDenied, err: a.denial(ErrClosed)}
		}
		return true
	})
	if q.sending {
		rested := make(chan struct{})
		q.rested = rested
		q.mu.Unlock()
		select {
		case <-rested:
		case <-time.After(verdictWait): // the store hangs, and bounds nothing
			return
		}
		q.mu.Lock()
	}
	q.returnAllLocked()
	q.pushed = true
	q.errand = q.errand || q.seated
	if q.sending || !q.workLocked() || q.t.outage.down(q.a.id) {
		q.mu.Unlock()
		return
	}
	q.sending = true
	q.mu.Unlock()
	q.send()
}

// LogValue keeps a Throttle from being printed field by field.
func (t *Throttle) LogValue() slog.Value {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names := make([]string, len(t.budgets))
	for i, b := range t.budgets {
		names[i] = b.Name
	}
	return slog.StringValue("throttle of " + strings.Join(names, ", "))
}
