package throttle

import (
	"fmt"
	"math"
)

// A referee knows the state that a fleet's store should have, and judges every
// claim that the store has applied, in that order. What it knows follows from
// the rules alone, applied to everything that was ever charged.
type referee struct {
	shops     map[string]*shop
	ledger    *ledgerBook
	shares    []int64 // of the lanes, in millionths
	limits    func(budget string) (own, account []Limit)
	allowed   int64                                // microseconds that a turn may be late: delays of the messages
	excused   func(process string, due int64) bool // a process needn't come then
	known     func(process string) *knowledge
	came      func(process string, lane int, at int64) bool // a call may have come then
	calls     int
	forgetful bool  // the store is
	resumed   int64 // when an operator last ended a pause
	// of the claim being judged:
	now    int64
	c      *claim
	shop   *shop
	books  [2]*book
	meters []*meter
	turns  turns
}

// A shop is what an account has in the store.
type shop struct {
	books map[string]*book // by budget; "": the account itself
	keys  map[Fingerprint]*keyState
	shut  map[string]int64 // by budget: until when processes may know of a pause that the store has lost
}

// A book is what the store should have of a budget, or of an account.
type book struct {
	epoch  string
	pause  pauseState
	shut   int64              // until when processes may know of a pause that was lost
	meters map[float64]*meter // by label
	denied map[modelID]int64
	line   []*standing
	marks  map[string]*mark // the last claim of each process that changed anything
	// What claims have charged, by queue and number.
	applied map[string]map[float64]*chargedClaim
}

// A mark is what the store says if a claim comes again.
type mark struct {
	number float64
	ans    answer
	kept   bool
}

// A chargedClaim is what a claim of a number has charged, while nobody knew.
type chargedClaim struct {
	at      int64
	charged []int64
}

// A violation is a broken rule.
type violation struct{ rule, text string }

func (r *referee) must(ok bool, rule, format string, args ...any) {
	if !ok {
		panic(violation{rule, fmt.Sprintf(format, args...)})
	}
}

func whole64(f float64) int64 {
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		panic(violation{"whole numbers", fmt.Sprintf("%v is not a whole number", f)})
	}
	return int64(f)
}

func whole64s(fs []float64) []int64 {
	ns := make([]int64, len(fs))
	for i, f := range fs {
		ns[i] = whole64(f)
	}
	return ns
}

func (r *referee) shopOf(account string) *shop {
	s := r.shops[account]
	if s == nil {
		s = &shop{books: map[string]*book{}, keys: map[Fingerprint]*keyState{}, shut: map[string]int64{}}
		r.shops[account] = s
	}
	return s
}

func (s *shop) book(budget string) *book {
	b := s.books[budget]
	if b == nil {
		b = &book{shut: s.shut[budget], meters: map[float64]*meter{}, denied: map[modelID]int64{}, marks: map[string]*mark{}, applied: map[string]map[float64]*chargedClaim{}}
		s.books[budget] = b
	}
	return b
}

func (s *shop) key(id Fingerprint) *keyState {
	k := s.keys[id]
	if k == nil {
		k = &keyState{}
		s.keys[id] = k
	}
	return k
}

// open lays out what a claim is about.
func (r *referee) open(c *claim, now int64) {
	r.c, r.now, r.meters = c, now, nil
	r.shop = r.shopOf(c.account)
	r.books = [2]*book{r.shop.book(c.budget), r.shop.book("")}
	own, account := r.limits(c.budget)
	for i := range c.limits {
		l, b := Limit{}, r.books[1]
		if i < c.own {
			l, b = own[i], r.books[0]
		} else {
			l = account[i-c.own]
		}
		s := &c.limits[i]
		m := b.meters[s.label]
		if m == nil {
			m = newMeter(l, r.offset(l, whole64(s.offset)), r.shares)
			b.meters[s.label] = m
		}
		m.advance(now)
		r.meters = append(r.meters, m)
	}
}

// offset is where a limit's windows start; a negative one is chosen by the
// throttle, and all of the fleet must choose alike.
func (r *referee) offset(l Limit, chosen int64) int64 {
	if l.Offset >= 0 {
		return l.Offset.Microseconds()
	}
	r.must(chosen >= 0 && chosen < l.Per.Microseconds(), "offset", "%v of a window of %v", chosen, l.Per)
	return chosen
}

// judge checks what the store did with a claim, and does the same. Dry claims
// are none of its business.
func (r *referee) judge(c *claim, now int64, ans *answer, err error) {
	r.open(c, now)
	if r.again(ans, err) || r.forgotten(err) {
		return
	}
	r.must(err == nil, "10, charges once", "the store said %v to a new claim", err)
	r.must(whole64(ans.now) == now, "time", "the store said that it is %v, not %v", ans.now, now)
	r.checkDue()
	r.restore()
	r.remembered()
	changed := len(c.fixes) > 0
	charged := make([]int64, len(r.meters))
	changed = r.fixes() || changed
	for _, s := range c.settles {
		changed = r.settle(s) || changed
	}
	for i, least := range c.floors { // by the vendor's word
		if more := whole64(least) - r.meters[i].used(now); more > 0 {
			r.meters[i].take(now, more)
			changed = true
		}
	}
	if c.verdict != nil {
		r.verdict(*c.verdict)
	}
	r.lineUp()
	for i := range c.runs {
		r.run(&c.runs[i], ans.outcomes[i], charged)
	}
	r.leased(ans.leased, charged)
	r.seat()
	for i := range charged {
		changed = changed || charged[i] > 0
	}
	r.compare(ans)
	r.keepMark(ans, changed, charged)
	r.makeDue()
	for i, b := range r.books { // its life is a random name
		if b.epoch = ans.epochs[i]; b.epoch == "" {
			b.epoch = c.knows[i]
		}
	}
}

// again says whether a claim came before, and checks what the store made of it:
// the same answer to the same, no answer to an older one.
func (r *referee) again(ans *answer, err error) bool {
	m := r.books[0].marks[r.c.process]
	if r.c.number == 0 || m == nil || r.c.number > m.number {
		return false
	}
	switch {
	case r.c.number < m.number:
		r.must(err == errStale, "10, charges once", "claim %v came after %v, and the store said %v", r.c.number, m.number, err)
	case !m.kept:
		r.must(err == errLost, "10, charges once", "claim %v came again, its answer was too long to be kept, and the store said %v", r.c.number, err)
	default:
		r.must(err == nil && equalAnswers(*ans, m.ans), "10, charges once",
			"claim %v came again and was answered\n  %+v\nand not as at first\n  %+v\n(%v)", r.c.number, *ans, m.ans, err)
	}
	return true
}

func (r *referee) keepMark(ans *answer, changed bool, charged []int64) {
	if r.c.number == 0 || !changed {
		return
	}
	n := 0
	for _, o := range ans.outcomes {
		n += len(o)
	}
	r.books[0].marks[r.c.process] = &mark{number: r.c.number, ans: *ans, kept: n <= slotAnswer}
	of := r.books[0].applied[r.c.process]
	if of == nil {
		of = map[float64]*chargedClaim{}
		r.books[0].applied[r.c.process] = of
	}
	of[r.c.number] = &chargedClaim{r.now, charged}
}

// compare checks the store's account of how everything stands.
func (r *referee) compare(ans *answer) {
	for i, m := range r.meters {
		r.must(ans.used[i] == float64(m.used(r.now)), "1, sums",
			"limit %d (%v): the store counts %v, by all that was charged and given back it is %d", i, m.Limit, ans.used[i], m.used(r.now))
	}
	for i, c := range []closure{ans.budget, ans.account} {
		want := r.books[i].pause.view(r.now)
		r.must(c == want, "7, pauses", "the store says of the pause %d %+v, want %+v", i, c, want)
	}
	for i, k := range ans.keys {
		want := r.shop.key(r.c.keys[i]).view(r.now)
		r.must(k == want, "8, keys", "the store says of key %q %+v, want %+v", r.c.keys[i], k, want)
	}
}
