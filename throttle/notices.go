package throttle

// heard takes over a notice of the store. Processes tell each other only what
// was decided: pauses, keys, denied models.
func (t *Throttle) heard(n notice) {
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
	case noticeModel:
		if q := a.queue(n.budget); q != nil {
			q.learnDenied(n.model, durationOf(n.left), verdictOf(n.class, ScopeModel, n.left))
		}
	}
}

// queue returns the account's queue of a budget, nil if there is none yet.
func (a *account) queue(id string) *queue {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.queues[id]
}
