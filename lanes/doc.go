// Package lanes orders the callers of a throttle: which class a call belongs
// to, how much of a limit its class may draw, and who goes next.
//
// Invariants:
//
//   - A lane's Share is a ceiling: the lane is refused once everybody's use,
//     its own included, has reached Share of a limit.
//   - In a Room a higher lane always comes before a lower one, and within a
//     lane the longest-waiting call comes first.
//   - Leaving a Room takes constant time and leaves nothing behind.
package lanes
