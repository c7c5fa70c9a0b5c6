// Package headgateprom has a throttle's decisions and its state collected by
// Prometheus.
//
//	metrics := headgateprom.New()
//	th, err := throttle.New(throttle.Config{Budgets: budgets, Observe: metrics.Observe})
//	...
//	metrics.Follow(th)
//	prometheus.MustRegister(metrics)
//
// What is collected:
//
//	headgate_decisions_total{budget,lane,outcome,dry_run}  calls: admitted, probe, or why one was denied
//	headgate_wait_seconds{lane}                            how long admitted calls waited
//	headgate_changes_total{kind}                           changes of state: paused, key_refused, outage_start, …
//	headgate_limit_used{budget,limit}                      units in use by the whole fleet
//	headgate_limit_amount{budget,limit}                    units that there are
//	headgate_limit_reported{budget,limit}                  units by the vendor's word, where that differs
//	headgate_lane_room{budget,limit,lane}                  units that a lane may still draw
//	headgate_waiting_calls{budget,lane}                    calls of this process that wait
//	headgate_leased_calls{budget}                          calls that it can send without asking
//	headgate_pause_seconds{budget}                         until the end of the longest pause; absent: none
//	headgate_estimate_factor{budget,direction}             by what guesses of tokens are multiplied
//	headgate_refused_keys{class}                           keys that the vendor refuses
//	headgate_processes                                     that share the store
//	headgate_store_up, headgate_store_hears                1 or 0
//
// Figures of several accounts with one budget are added up, but for pauses and
// factors, of which the largest counts. Labels are bounded: no credential, no
// account and no tenant is one, and of more than 200 budgets the later ones are
// "other". A model that no budget matches is a budget by its own name here. A scrape asks the store once a second at most, as
// Throttle.Status does, and fails for no outage: the figures are the last that
// were heard, and headgate_store_up is 0.
package headgateprom
