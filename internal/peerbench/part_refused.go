package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

var errAdmitted = errors.New("admitted without room")

// refused: what a process knows to be hopeless is refused there.
func refused(b *bench) {
	of := []contestant{
		refusing(),
		b.refusedFor("known pause", "pause", throttle.ErrPaused, throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: time.Hour}),
		b.refusedFor("refused key", "key", throttle.ErrKeyRefused, throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Wait: time.Hour}),
		b.emptyBudget(),
	}
	o := b.hold(contest{name: "refused, 1", workers: 1, of: of})
	for _, c := range of[1:] {
		trips := fmt.Sprintf("%.3f round trips, %.2f allocations", o.scripts(c.name), o.allocs(c.name))
		b.atMost("refused", c.name+": time against x/time/rate's refusal", o.slower(c.name, "x/time/rate"), 1.5, "x", trips)
		b.atMost("refused", c.name+": allocations, the error included", o.allocs(c.name), 1.01, "", "")
		b.atMost("refused", c.name+": round trips", o.scripts(c.name), 0.01, "", "")
	}
}

// refusedFor has a vendor's answer refuse all calls after it.
func (b *bench) refusedFor(name, prefix string, reason error, v throttle.Verdict) contestant {
	c := b.inRedis(limited("m"), prefix)
	c.Pause = pause.Policy{Max: 2 * time.Hour}
	c.Probe.Every = time.Hour
	t := b.throttle(c)
	p, err := t.Acquire(context.Background(), callOf("m"))
	b.must(err)
	p.Answered(v)
	p.Done()
	return contestant{name, refusals(t, reason)}
}

// emptyBudget has used up a limit that gives nothing back for an hour.
func (b *bench) emptyBudget() contestant {
	c := b.inRedis(limited("m"), "empty")
	c.Budgets[0].Limits[0] = throttle.Requests(5, time.Hour)
	t := b.throttle(c)
	for range 5 {
		p, err := t.Acquire(context.Background(), callOf("m"))
		b.must(err)
		p.Done()
	}
	return contestant{"empty budget", refusals(t, throttle.ErrBudget)}
}

func refusals(t *throttle.Throttle, reason error) job {
	ctx, call := context.Background(), callOf("m")
	return func(int) error {
		p, err := t.Acquire(ctx, call)
		if err == nil {
			p.Cancel()
			return errAdmitted
		}
		if e, ok := err.(*throttle.DeniedError); !ok || e.Reason != reason {
			return err
		}
		return nil
	}
}
