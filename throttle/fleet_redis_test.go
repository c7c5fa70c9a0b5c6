package throttle

import (
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/pause"
)

// The same on a real Redis, in real time, for a few seconds: nothing is said
// here of how soon things happen, but for each claim what the script answers.
func TestRandomFleetsOnRedis(t *testing.T) {
	var all sync.WaitGroup
	defer all.Wait()
	for seed := range uint64(16) {
		store := fleetRedis{redisStore(t), new(float64)}
		all.Go(func() {
			plan := planFleet(seed, []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second})
			plan.hurry()
			f := newFleetRun(plan, store)
			f.real = true
			f.referee.allowed = 1 << 60
			f.drive()
			f.settleDown()
			if f.failure != "" {
				t.Error(f.failure)
			}
		})
	}
}

// hurry shortens a plan to what is over in some seconds of real time.
func (p *fleetPlan) hurry() {
	p.calls, p.gap = 80, min(p.gap, 15*time.Millisecond)
	p.delay = min(p.delay, 2*time.Millisecond)
	p.every = min(p.every, time.Second)
	p.pausing = pause.Policy{Default: 100 * time.Millisecond, Max: 300 * time.Millisecond, Ramp: p.pausing.Ramp / 20}
	p.impatient = true
}
