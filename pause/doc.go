// Package pause knows until when a model is closed: every form in which
// vendors say "wait", and the rules by which their figures become a pause.
//
// Invariants:
//
//   - A wait that a vendor names is never trusted as it stands: it is
//     saturated instead of overflowing, a negative, past or unreadable figure
//     counts as none, and Policy.Max bounds the rest.
//   - Of two pauses the one that ends later wins. Nothing that a vendor
//     answers shortens a pause.
//   - After a pause traffic ramps up: with K = Amount*Ramp/Per calls in the
//     ramp's time at full speed, the k-th call (from 0) leaves no earlier than
//     the end plus Ramp*sqrt(2k/K).
//
// The package does no I/O and reads no clock: whatever depends on the present
// takes it as an argument.
package pause
