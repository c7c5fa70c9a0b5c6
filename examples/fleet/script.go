package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// play has everything go wrong that the script says, when it says so.
func (r *run) play(ctx context.Context) error {
	script := slices.Clone(r.Script)
	slices.SortStableFunc(script, func(a, b act) int { return int(a.At - b.At) })
	for _, a := range script {
		if !sleepUntil(ctx, r.start.Add(a.At)) {
			return ctx.Err()
		}
		if err := r.do(ctx, a); err != nil {
			return fmt.Errorf("%v: %w", a, err)
		}
	}
	return nil
}

func (r *run) do(ctx context.Context, a act) error {
	now := time.Since(r.start)
	lasting := stretch{r.start.Add(now), r.start.Add(now + a.For)}
	switch a.Verb {
	case kill:
		for i := a.First; i < a.Last; i++ {
			r.kill(i, false)
		}
	case restart:
		for i := a.First; i < a.Last; i++ {
			r.kill(i, false)
			if err := r.replace(ctx, i); err != nil {
				return err
			}
		}
	case killProbe:
		r.vendor.atNextProbe(func(process int) { r.kill(process, true) })
	case hang:
		return r.hang(ctx, now, a.For)
	case failover:
		r.store.servers[0].stop()
		r.history.Hangs = append(r.history.Hangs, span{now, now + a.For})
	case storm:
		r.vendor.storm(lasting)
		r.history.Storms = append(r.history.Storms, span{now, now + a.For})
	case revoke:
		r.vendor.revoke(lasting)
		r.history.Revoked = append(r.history.Revoked, span{now, now + a.For})
	case slide:
		r.vendor.slide(a.For)
	default:
		return fmt.Errorf("no such act")
	}
	return nil
}

// kill kills a process, which has nothing left to say.
func (r *run) kill(process int, probing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes[process].kill()
	r.history.Kills = append(r.history.Kills, death{At: time.Since(r.start), Process: process, Probing: probing})
}

// replace starts a process in the place of one that was killed.
func (r *run) replace(ctx context.Context, i int) error {
	p, err := startProcess(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.born++
	r.dead = append(r.dead, r.processes[i])
	r.processes[i] = p
	job := r.job(i, r.born)
	r.mu.Unlock()
	return p.hire(job)
}

// hang stops Redis for a time. Whatever happens, it goes on afterwards.
func (r *run) hang(ctx context.Context, now, d time.Duration) error {
	s := r.store.servers[0]
	if err := s.hang(); err != nil {
		return err
	}
	sleepUntil(ctx, r.start.Add(now+d))
	err := s.resume()
	r.history.Hangs = append(r.history.Hangs, span{now, time.Since(r.start)})
	return err
}
