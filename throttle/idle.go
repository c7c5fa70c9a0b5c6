package throttle

import "time"

// maxAccounts is how many accounts a throttle knows before it forgets idle
// ones.
const maxAccounts = 10_000

// forgetIdle drops the accounts that no call has touched since the last look,
// once there are many. What matters of them is in the store; a permit that is
// still out keeps its queue for itself. Looking again only after their number
// has doubled keeps the work per call constant. t.mu is held.
func (t *Throttle) forgetIdle() {
	if len(t.accounts) < t.sweepAt {
		return
	}
	t.recent.forget()
	now := time.Now()
	for id, a := range t.accounts {
		if !a.touched.Swap(false) && a.idle(now) {
			delete(t.accounts, id)
		}
	}
	for k, r := range t.routes {
		if t.accounts[r.q.a.id] != r.q.a {
			delete(t.routes, k)
		}
	}
	t.sweepAt = max(maxAccounts, 2*len(t.accounts))
}

// idle reports whether the account can be forgotten: nothing of it is known
// here alone.
func (a *account) idle(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pause.until.After(now) {
		return false
	}
	for _, k := range a.keys {
		if k.probing {
			return false // its loop knows the account
		}
	}
	for _, q := range a.queues {
		if !q.idle(now) {
			return false
		}
	}
	return true
}

// idle reports whether nobody waits in the queue and nothing is to be told.
// The lock is only tried: somebody who holds it is at work, and may be waiting
// for the account's.
func (q *queue) idle(now time.Time) bool {
	if !q.mu.TryLock() {
		return false
	}
	defer q.mu.Unlock()
	return q.room.Len() == 0 && !q.sending && len(q.settles)+len(q.ledger.fixes) == 0 && !q.leases.any() && q.running == 0 && !q.pause.until.After(now)
}
