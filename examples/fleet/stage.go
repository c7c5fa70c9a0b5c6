package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// A stage is plans that are carried out side by side, each with a vendor and
// keys of its own.
type stage []plan

// lead is how long before the start workers get their jobs.
const lead = 1500 * time.Millisecond

// carryOut carries out the stages one after the other, and hands each history
// to told. redis is the address of a Redis for all who may share one; "": it
// starts one.
func carryOut(ctx context.Context, redis string, stages []stage, told func(*history) error) error {
	if redis == "" {
		shared, err := startServer(ctx)
		if err != nil {
			return err
		}
		defer shared.stop()
		redis = shared.addr
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// What is left of a run is looked for while the next one goes on.
	looking, _ := errgroup.WithContext(ctx)
	defer func() { cancel(); _ = looking.Wait() }()
	var all []*run
	defer func() {
		for _, r := range all {
			r.close()
		}
	}()
	over := func(r *run) { looking.Go(func() error { return r.lookAround(ctx) }) }
	for _, s := range stages {
		runs, err := s.play(ctx, redis, over)
		all = append(all, runs...)
		if err != nil {
			return err
		}
	}
	if err := looking.Wait(); err != nil {
		return err
	}
	for _, r := range all {
		if err := told(&r.history); err != nil {
			return err
		}
	}
	return nil
}

// play prepares all plans, starts them together, tells of each that is over, and
// returns once all are. The runs are to be closed, also where there is an error.
func (s stage) play(ctx context.Context, redis string, over func(*run)) ([]*run, error) {
	runs := make([]*run, len(s))
	preparing, _ := errgroup.WithContext(ctx)
	for i, p := range s {
		preparing.Go(func() (err error) {
			addr := redis
			if p.Fault.ownRedis() {
				addr = ""
			}
			runs[i], err = p.prepare(ctx, addr)
			return err
		})
	}
	err := preparing.Wait()
	var there []*run
	for _, r := range runs {
		if r != nil {
			there = append(there, r)
		}
	}
	if err != nil {
		return there, err
	}
	start := time.Now().Add(lead).Truncate(time.Millisecond)
	performing, ctx := errgroup.WithContext(ctx)
	for _, r := range runs {
		performing.Go(func() error {
			err := r.perform(ctx, start)
			if err == nil {
				over(r)
			}
			return err
		})
	}
	return there, performing.Wait()
}
