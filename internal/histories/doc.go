// Package histories records what the processes of a fleet do at once, while
// their connections to Redis are harmed, and has a model checker look for an
// order of it all that a simple sequential model allows.
//
// An operation may have taken effect at any moment from its beginning to its
// end. What may take effect later, such as the correction of a claim whose
// answer was lost, is an operation of its own that ends when it surely has. If
// no order fits, a rule was broken, and that is what each test wants of a
// recorded history into which it has put a fault.
//
// It has nothing but tests, and is a module of its own, so that the checker
// doesn't get into the root go.mod.
package histories
