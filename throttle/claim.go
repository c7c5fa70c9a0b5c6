package throttle

import "time"

// A claim is everything that one atomic step of a store is asked: corrections
// of earlier calls, at most one verdict, and the calls that want to go, of one
// budget of one account. One claim is one round trip.
//
// Its order is the order of the fleet's decisions within it: settlements, then
// the verdict, then the runs as they stand, which the queue has sorted lane by
// lane, highest first, and by arrival within a lane.
type claim struct {
	account string
	budget  string
	keys    []Fingerprint // those that the runs and the verdict refer to
	models  []modelID     // likewise
	limits  []spec        // the budget's, then the account's, then those of each tenant
	own     int           // how many of limits are the budget's
	probe   string        // uuid for a probe that this claim may start; "": none
	every   float64       // microseconds between probes
	dry     bool          // decide, and change nothing
	// birth is the epoch of the records that the claim makes; knows are those of
	// the budget and the account that the process has something to say about
	// should they be lost, and restore is what it says.
	birth   string
	knows   [2]string
	restore *restoration
	states  []keyView // what the process knows of keys, if it knows of any; a store that lost one takes it over
	process string    // whose claim it is; "": nobody keeps count
	number  float64   // counts the process's claims for the budget, from 1
	fixes   []fix     // what became of claims that nobody knows the fate of
	arrived time.Time // when the first of the calls that can't wait longer came; zero: now
	settles []settlement
	verdict *verdictNote
	runs    []run
	lease   *leaseAsk
	floors  []float64 // by limit: what is used at least by the vendor's word; nil: nothing was said
	held    float64   // how many calls of the claim's queue run

	// Where tenants have limits of their own:
	perTenant int            // how many of limits, the last
	tenants   []claimTenant  // those that the runs, settlements and fixes refer to
	places    map[string]int // of tenants by name, from 1; nil: to be looked for
}

// A run is n equal calls that came one after another.
type run struct {
	lane, key, model int
	n                int
	cost             []float64 // by limit
	patience         float64   // microseconds that each would wait; 0: not at all
	since            float64   // the store's time at which the first of them came; 0: age ago
	age              float64   // microseconds since then, where no store's time is known
	tenant           int       // its place in claim.tenants, from 1; 0: none with limits of its own
	mayProbe         bool
	holds            string // the uuid of the probe that the call is already; "": none
	// hold marks calls that were judged before and only keep their place:
	// cost and pauses are the sums of what they lack, n is of no meaning.
	hold   bool
	pauses [2]float64 // how many of them wait for the budget's, the account's pause
}

// A fix says what was really spent where a claim should have decided: it got no
// answer, and nobody knows whether the store applied it. A fix without a number
// is what was spent while the store was known to be away.
type fix struct {
	number  float64
	spent   []float64    // by limit that isn't each tenant's own
	settles []settlement // that travelled with the claim
	tenants []tenantSpent
}

// A settlement corrects what a call was charged.
type settlement struct {
	at    float64   // the store's time when it was charged, in microseconds
	delta []float64 // by limit
	calls float64   // how many calls are taken back: 1 for a cancelled one
	// tenant is whose own limits the last of delta are; "": nobody's
	tenant string
}

// A verdictNote is a vendor's answer as a store keeps it. Times are
// microseconds from now.
type verdictNote struct {
	class  Class
	scope  Scope
	key    int
	model  int
	gen    float64 // of the key when the call went out
	probe  string  // the uuid under which the call went out; "": no probe
	resume bool    // an operator ends the pause of the scope
	hasten bool    // an operator wants the key probed now
	length float64 // of the pause or denial; for keys at least every
	ramp   float64
}

// An outcome is what a claim answers for some calls of a run.
type outcome struct {
	code  outcomeCode
	n     int
	limit int     // index into claim.limits, for codes about room
	lacks lackSet // what a waiting call lacks
	wait  float64 // microseconds until the call's turn, or until it may come back
}

// A lackSet is a set of limits, by their index into claim.limits, and pauses.
type lackSet uint64

const (
	maxLimits            = 32             // of a budget and the account together
	lacksBudget  lackSet = 1 << maxLimits // the budget is paused
	lacksAccount         = lacksBudget << 1
)

type outcomeCode uint8

const (
	granted     outcomeCode = iota
	grantedKey              // as the probe of its key
	waitsRoom               // told to wait for a limit
	waitsPause              // told to wait for the end of a pause
	deniedRoom              // wait is longer than its patience
	deniedPause             // likewise
	deniedKey               // the key is refused
	deniedModel             // the model is denied to the account
	// The throttle's own, never a store's:
	deniedStore
)

// fromStore reports whether it is a store's.
func (c outcomeCode) fromStore() bool { return c < deniedStore }

// codeOf is the code of a number; deniedStore, which no store says, for others.
func codeOf(n float64) outcomeCode {
	if n >= 0 && n < float64(deniedStore) {
		return outcomeCode(n)
	}
	return deniedStore
}

// An answer is what the store says to a claim.
type answer struct {
	now      float64 // the store's time, microseconds since the epoch
	budget   closure
	account  closure
	keys     []keyView   // by claim.keys
	outcomes [][]outcome // by claim.runs
	leased   float64     // calls of claim.lease that were charged ahead
	used     []float64   // by limit that isn't each tenant's own: what is used of it now
	lanes    [][]float64 // for a dry claim, by limit and lane: what the lane may still draw
	tenants  [][]float64 // for a dry claim, by tenant and its own limits: what is used
	epochs   [2]string   // of the budget's and the account's record; "": as the claim knows them
	local    bool        // decided by this process alone, while the store was away
	unknown  *fix        // the claim that the store was asked in vain
	word     *word       // local, but the store was told all that the claim carried
}

// A closure is a pause as it stands: how much is left, the ramp that follows
// it, how many calls have gone since it ended, and the class that began it.
type closure struct {
	left, ramp, used float64
	class            Class
}

// A keyView is a key's state as it stands.
type keyView struct {
	gen     float64
	refused bool
	class   Class
	next    float64 // microseconds until the next probe; 0: now
}

// A modelID stands for a model's name in the store: eight bytes of its hash,
// so that no name can be too long or contain anything special.
type modelID string
