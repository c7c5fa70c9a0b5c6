package headgate

import (
	"errors"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// admitAny asks the throttle for the request as it is and, where that is denied
// for a reason that another model may not have, for its backups in order. The
// error is that of the request as it is, or of the request's end.
func (w *trip) admitAny(before *outcome) (candidate, fare, error) {
	own := candidate{req: w.req, asked: w.asked}
	if w.bound {
		f, err := w.admitOne(before.sent, before)
		return before.sent, f, err
	}
	f, err := w.admitOne(own, before)
	if err == nil || len(w.fallbacks) == 0 || !mayFallBack(err) || over(w.req) != nil {
		return own, f, err
	}
	call, _ := w.call(own)
	for _, model := range w.fallbacks[call.Model] {
		c, ok := w.backup(model)
		if !ok {
			continue
		}
		f, denied := w.admitOne(c, before)
		if denied == nil {
			return c, f, nil
		}
		if over(w.req) != nil {
			return own, f, denied
		}
	}
	return own, fare{}, err
}

// mayFallBack reports whether a denial is one that another model may not meet. A
// refused key and exhausted credit are every model's, a store out of reach and a
// closed throttle everybody's; a call that is too large is a mistake that a
// backup would hide.
func mayFallBack(err error) bool {
	for _, reason := range [...]error{
		throttle.ErrBudget, throttle.ErrPaused, throttle.ErrModelDenied, throttle.ErrQueueFull, errTooEarly,
	} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// admitOne asks for one candidate. Where it would repeat an attempt that has
// paused what it needs, it isn't let through before the vendor's wait has
// passed, whatever pause the throttle made of that: none in a dry run, whose
// permit holds nothing while it is waited here.
func (w *trip) admitOne(c candidate, before *outcome) (fare, error) {
	if before == nil {
		return w.admit(c, time.Time{})
	}
	held := before.concerns(c)
	if held && (before.floor() > longestFloor || w.isTooLate(before.due)) {
		return fare{}, errTooEarly
	}
	f, err := w.admit(c, w.latest())
	if err != nil || !held {
		return f, err
	}
	switch left := time.Until(before.due); {
	case f.permit.DryRun() && left > longestSleep:
		err = errTooLong // and a dry run sends nobody to a backup
	case left > longestHold && !f.permit.DryRun():
		err = errTooEarly
	case left > 0:
		err = w.sleepUntil(before.due)
	}
	if err != nil {
		f.permit.Cancel()
		return fare{}, err
	}
	return f, nil
}

// backup returns the request for another model. It is false where the request
// can't be put so, or is then read otherwise than it was meant.
func (w *trip) backup(model string) (candidate, bool) {
	req, err := dialect.WithModel(w.dialect, w.req, model)
	if err != nil {
		return candidate{}, false
	}
	if req.URL != w.req.URL && !hasNewBody(req) {
		asked := w.asked // its body can't be read twice, and says the same
		asked.Model = model
		return candidate{req, asked, model}, true
	}
	asked, err := dialect.Read(w.dialect, req)
	return candidate{req, asked, model}, err == nil && asked.Model == model
}
