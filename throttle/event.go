package throttle

import "time"

// An Event is one decision or change of state, as Config.Observe sees it. It
// contains no credential.
type Event struct {
	Kind EventKind
	// DryRun marks a decision of which only the report was made: the call went at
	// once, and isn't counted. Enforcement would have denied it (EventDenied), or
	// would have let it wait for Wait (EventAdmitted); Err says why.
	DryRun  bool
	Time    time.Time
	Key     Fingerprint
	Account string
	Model   string
	Budget  string
	Lane    string
	// Wait is how long an admitted call waited, how long a pause lasts, how much
	// of one an operator has spared, when a denied call may come back or a
	// refused key be probed, or how long an outage was.
	Wait time.Duration
	// Raw is the vendor's own figure behind a pause, before it was clamped; 0:
	// no hint.
	Raw time.Duration
	// Limit is the configured limit of an EventLimit, and Reported how many
	// units of it the vendor has.
	Limit    string
	Reported int64
	// Verdict is the vendor's answer behind the event, if there is one.
	Verdict Verdict
	// Server is the one of a cluster that is out of reach, host and port; "":
	// the whole store.
	Server string
	// Err is the denial, or the store's trouble.
	Err error
}

// An EventKind says what an Event reports.
type EventKind uint8

const (
	EventAdmitted    EventKind = iota // a call goes out
	EventDenied                       // a call was refused
	EventProbe                        // a call goes out as the probe of a refused key
	EventPaused                       // a pause began or grew
	EventKeyRefused                   // a key was refused, or a probe of it was
	EventKeyOpened                    // a probe opened a key
	EventModelDenied                  // a model was refused to a key
	EventOutageStart                  // the store is out of reach
	EventOutageEnd                    // the store is back
	EventLimit                        // the vendor reports another limit than the configured one
	EventResumed                      // an operator has ended a pause before its time
)

var eventNames = [...]string{"admitted", "denied", "probe", "paused", "key_refused", "key_opened", "model_denied", "outage_start", "outage_end", "limit", "resumed"}

// String returns the kind in lower case with underscores, "key_refused".
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "unknown"
}
