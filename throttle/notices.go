package throttle

import "time"

// heard takes over a notice of the store: a pause, a key's state, a denied
// model, room given back.
func (t *Throttle) heard(n notice) {
	switch n.kind {
	case noticeDeaf:
		t.deaf()
		return
	case noticeHears:
		t.hears()
		return
	}
	if n.budget == retestBudget {
		t.outage.hint()
		return
	}
	t.mu.RLock()
	a := t.accounts[n.account]
	t.mu.RUnlock()
	if a == nil {
		return // the first claim of the account will say it
	}
	switch n.kind {
	case noticeKey:
		a.learnKey(n.key, keyView{gen: n.gen, refused: n.refused, class: n.class, next: n.left},
			verdictOf(n.class, ScopeKey, n.left), false)
	case noticePause:
		if n.budget == "" {
			a.learnPause(n.left, n.ramp, verdictOf(n.class, ScopeKey, n.left))
		} else if q := a.queue(n.budget); q != nil {
			q.learnPause(n.left, n.ramp, verdictOf(n.class, ScopeModel, n.left))
		}
	case noticeResume:
		if n.budget == "" {
			a.resumed()
		} else if q := a.queue(n.budget); q != nil {
			q.resumed()
		}
	case noticeRoom:
		if n.budget == "" {
			a.roomGiven()
		} else if q := a.queue(n.budget); q != nil {
			q.roomGivenTo(string(n.key))
			q.roomGiven()
		}
	case noticeLost:
		if n.budget != "" {
			if q := a.queue(n.budget); q != nil {
				q.lost(0, n.epoch)
			}
			return
		}
		for _, q := range a.allQueues() {
			q.lost(1, n.epoch)
		}
	case noticeModel:
		if q := a.queue(n.budget); q != nil {
			q.learnDenied(n.model, durationOf(n.left), verdictOf(n.class, ScopeModel, n.left))
		}
	}
}

// hears makes up for what may have been missed while no notices came: room for
// those who wait, and that the store was started anew without its memory.
func (t *Throttle) hears() {
	now := time.Now()
	for _, q := range t.allQueues() {
		q.mu.Lock()
		q.due = q.due || q.room.Len() > 0
		q.recheckAllLocked()
		q.tellLocked(now)
		q.kick()
	}
}

// queue returns the account's queue of a budget, nil if there is none yet.
func (a *account) queue(id string) *queue {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queues[id]
}

func (a *account) allQueues() []*queue {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queuesLocked()
}

// roomGiven lets the account's waiting calls try again: room was given back in
// a limit of the whole account.
func (a *account) roomGiven() {
	for _, q := range a.allQueues() {
		q.roomGiven()
	}
}

// roomGiven lets the queue's waiting calls try again, those included that a
// claim under way will tell to wait: it was decided before.
func (q *queue) roomGiven() {
	q.mu.Lock()
	q.due = q.due || q.room.Len() > 0
	q.kick()
}
