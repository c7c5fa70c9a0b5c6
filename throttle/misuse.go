package throttle

import "context"

// mustBeMade panics where a method is called on a Throttle that New didn't make,
// or without a context: at the first statement, and by name, not somewhere inside.
func (t *Throttle) mustBeMade(ctx context.Context, method string) {
	if t == nil || t.store == nil {
		panic("headgate: " + method + " of a Throttle that throttle.New didn't make")
	}
	if ctx == nil {
		panic("headgate: " + method + " without a context")
	}
}
