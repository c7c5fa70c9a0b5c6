package throttle

import "context"

// A Store holds what the processes of a fleet share: NewMemoryStore for one
// process, NewRedisStore for several. The interface is sealed.
type Store interface {
	// claim decides in one atomic step. An error means that the caller can't
	// know whether the claim was applied.
	claim(context.Context, *claim) (answer, error)
	// look answers dry claims in one round trip.
	look(context.Context, []claim) ([]answer, error)
	// watch calls f for every notice from now on, from any goroutine, until the
	// returned function is called.
	watch(f func(notice)) (stop func())
	// immediate reports whether claims return without waiting for anything,
	// so that they may run in the caller's goroutine.
	immediate() bool
	// hears reports whether notices come through.
	hears() bool
	// fleet returns this process's rank among the live ones and their number.
	fleet() (rank, live int)
	// shard names the part of the store where an account lives, which may be out
	// of reach while others aren't; "": it has no parts, or they aren't known.
	// It waits for nothing.
	shard(account string) string
	// trouble is what was missing when the store was made; nil: nothing.
	trouble() error
}

// A notice is a change of state that is pushed to every process, so that it is
// known before the next claim. Times are microseconds from now.
type notice struct {
	kind    noticeKind
	account string
	budget  string // "": the whole account
	key     Fingerprint
	model   modelID
	left    float64
	ramp    float64
	class   Class
	gen     float64
	refused bool
	epoch   string // of a record that was lost
}

type noticeKind uint8

const (
	noticePause noticeKind = iota + 1
	noticeKey
	noticeModel
	noticeRoom   // it was given back
	noticeLost   // the store has lost a record
	noticeResume // an operator has ended a pause
	noticeDeaf   // of the store itself: notices have ceased to come
	noticeHears  // likewise: they come again
)
