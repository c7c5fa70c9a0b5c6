package main

import (
	"context"
	"slices"
	"time"
)

// A control measures what the machine does to a goroutine that does nothing but
// sleep: how late it wakes. The same lateness is in every time that is measured
// beside it, without headgate's doing.
type control struct{ late []lateness }

type lateness struct {
	At, By time.Duration // after the start of the run
}

const nap = 20 * time.Millisecond

// watch measures until the end of ctx.
func (c *control) watch(ctx context.Context, start time.Time) {
	timer := time.NewTimer(nap)
	defer timer.Stop()
	for {
		began := time.Now()
		timer.Reset(nap)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if at := began.Sub(start); at >= 0 {
			c.late = append(c.late, lateness{At: at, By: time.Since(began) - nap})
		}
	}
}

// worth keeps what says something about noise: the worst of every tenth of a
// second.
func (c *control) worth() []lateness {
	var worst []lateness
	for _, l := range c.late {
		if n := len(worst) - 1; n >= 0 && l.At/tenth == worst[n].At/tenth {
			if l.By > worst[n].By {
				worst[n] = l
			}
			continue
		}
		worst = append(worst, l)
	}
	return worst
}

const tenth = 100 * time.Millisecond

// mean is the average lateness.
func (c *control) mean() time.Duration {
	if len(c.late) == 0 {
		return 0
	}
	sum := time.Duration(0)
	for _, l := range c.late {
		sum += l.By
	}
	return sum / time.Duration(len(c.late))
}

// most is the 99th percentile of the lateness from a time on, of sleepers that
// would begin once in each nap. While the control itself was kept it began none,
// but calls came all the time: each waits for what is left of it.
func (c *control) most(from time.Duration) time.Duration {
	var by []time.Duration
	for _, l := range c.late {
		if l.At < from {
			continue
		}
		by = append(by, l.By)
		for left := l.By - nap; left > 0; left -= nap {
			by = append(by, left)
		}
	}
	return quantile(by, 0.99)
}

// noiseWithin is the worst lateness between two times and close to them.
func noiseWithin(late []lateness, from, to time.Duration) time.Duration {
	worst := time.Duration(0)
	for _, l := range late {
		if l.At+nap+l.By >= from-tenth && l.At <= to+tenth {
			worst = max(worst, l.By)
		}
	}
	return worst
}

// quantile is the value below which a part q of the durations is. It sorts.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}
