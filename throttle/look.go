package throttle

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// statusKept is for how long a look at the store serves.
const statusKept = time.Second

// statusMost is how many budgets the store is asked about.
const statusMost = 1000

// A lookout is the last look at the store.
type lookout struct {
	mu   sync.Mutex
	last look
}

type look struct {
	when    time.Time
	answers map[*queue]answer
}

// at returns a look at the store that is at most statusKept old.
func (l *lookout) at(ctx context.Context, t *Throttle, queues []*queue, now time.Time) (look, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.outage.down() || now.Sub(l.last.when) < statusKept {
		return l.last, nil
	}
	queues = queues[:min(len(queues), statusMost)]
	claims := make([]claim, len(queues))
	for i, q := range queues {
		claims[i] = claim{account: q.a.id, budget: q.id, limits: q.limits, own: q.own, dry: true}
	}
	answers, err := t.store.look(ctx, claims)
	if err != nil {
		return l.last, fmt.Errorf("throttle: Status: %w", err)
	}
	l.last = look{when: now, answers: make(map[*queue]answer, len(queues))}
	for i, q := range queues {
		l.last.answers[q] = answers[i]
	}
	return l.last, nil
}
