// Package leasing claims units ahead, in chunks, and spends them without a
// round trip.
//
// Invariants:
//
//   - A chunk is trusted until the claim that brought it was begun plus its age,
//     less a margin, by the monotonic and by the wall clock.
//   - A call takes units of every limit from a chunk, or none.
//   - A sealed chunk takes and gives nothing any more; what was left of it is
//     returned once.
//
// The package doesn't know stores: who claims and gives back is the throttle.
package leasing
