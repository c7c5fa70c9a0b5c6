package main

import (
	"sync"
	"time"
)

// latencies has workers do a job at a steady pace, all together so many a
// second, and returns how long each took, in microseconds. A worker that is
// late does what it has missed at once.
func latencies(do job, workers, perSecond int, d time.Duration) ([]float64, error) {
	per := time.Duration(workers) * time.Second / time.Duration(perSecond)
	took := make([][]float64, workers)
	errs := make([]error, workers)
	begin := time.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			next := begin.Add(per * time.Duration(w) / time.Duration(workers))
			for next.Sub(begin) < d && errs[w] == nil {
				time.Sleep(time.Until(next))
				at := time.Now()
				errs[w] = do(w)
				took[w] = append(took[w], micros(time.Since(at)))
				next = next.Add(per)
			}
		})
	}
	wg.Wait()
	var all []float64
	for w := range workers {
		if errs[w] != nil {
			return nil, errs[w]
		}
		all = append(all, took[w]...)
	}
	return all, nil
}
