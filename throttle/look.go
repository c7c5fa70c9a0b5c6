package throttle

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// statusKept is for how long a look at the store serves.
const statusKept = time.Second

// statusMost is how many budgets the store is asked about.
const statusMost = 1000

// A lookout is the last look at the store. One caller looks; those who come
// meanwhile get the one before.
type lookout struct {
	looking sync.Mutex

	mu     sync.Mutex
	last   look
	failed time.Time // when the last look failed; zero: it didn't
	err    error
}

func (l *lookout) now() (last look, failed time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.failed, l.err
}

type look struct {
	when    time.Time
	answers map[*queue]answer
	tenants map[*queue][]string // whose use was asked for, by their names in claims
}

// at returns a look at the store that is at most statusKept old.
func (l *lookout) at(ctx context.Context, t *Throttle, queues []*queue, now time.Time) (look, error) {
	last, failed, err := l.now()
	if now.Sub(failed) < statusKept {
		return last, err
	}
	there := slices.DeleteFunc(slices.Clone(queues), func(q *queue) bool { return t.outage.down(q.a.id) })
	if len(there) == 0 && len(queues) > 0 || now.Sub(last.when) < statusKept || !l.looking.TryLock() {
		return last, nil
	}
	defer l.looking.Unlock()
	queues = there[:min(len(there), statusMost)]
	claims := make([]claim, len(queues))
	tenants := map[*queue][]string{}
	for i, q := range queues {
		claims[i] = claim{account: q.a.id, budget: q.id, limits: q.limits, own: q.own, dry: true}
		if names := q.topTenants(now); len(names) > 0 {
			tenants[q] = names
			claims[i].limits, claims[i].perTenant = q.all, len(q.all)-len(q.limits)
			for _, name := range names {
				claims[i].addTenant(name)
			}
		}
	}
	answers, err := t.store.look(ctx, claims)
	if err != nil {
		err = fmt.Errorf("throttle: Status: %w", err)
		if ctx.Err() == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.failed, l.err = now, err
		}
		return last, err
	}
	seen := look{when: now, answers: make(map[*queue]answer, len(queues)), tenants: tenants}
	for q, a := range last.answers { // what can't be asked now is what it was
		if t.outage.down(q.a.id) {
			seen.answers[q] = a
		}
	}
	for i, q := range queues {
		seen.answers[q] = answers[i]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.failed = seen, time.Time{}
	return seen, nil
}
