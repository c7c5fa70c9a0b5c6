package throttle

import (
	"encoding/binary"
	"errors"
	"math"
)

// Claims, answers and notices travel to and from the script in MessagePack,
// which Redis reads and writes by itself, of which only whole numbers, byte
// strings, false and arrays are used. The layouts are the script's: it says
// what each place means.

// A packer appends values to a buffer.
type packer struct{ buf []byte }

func (p *packer) array(n int) {
	switch {
	case n < 16:
		p.buf = append(p.buf, 0x90|byte(n))
	default:
		p.buf = binary.BigEndian.AppendUint32(append(p.buf, 0xdd), uint32(n))
	}
}

func (p *packer) str(s string) {
	switch {
	case len(s) < 32:
		p.buf = append(p.buf, 0xa0|byte(len(s)))
	default:
		p.buf = binary.BigEndian.AppendUint32(append(p.buf, 0xdb), uint32(len(s)))
	}
	p.buf = append(p.buf, s...)
}

// num appends a whole number of at most 2^53 either way.
func (p *packer) num(f float64) {
	switch n := int64(f); {
	case n >= 0 && n < 128:
		p.buf = append(p.buf, byte(n))
	case n < 0 && n >= -32:
		p.buf = append(p.buf, byte(n))
	case n >= math.MinInt16 && n <= math.MaxInt16:
		p.buf = binary.BigEndian.AppendUint16(append(p.buf, 0xd1), uint16(n))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		p.buf = binary.BigEndian.AppendUint32(append(p.buf, 0xd2), uint32(n))
	default:
		p.buf = binary.BigEndian.AppendUint64(append(p.buf, 0xd3), uint64(n))
	}
}

func (p *packer) flag(b bool) {
	if b {
		p.num(1)
	} else {
		p.num(0)
	}
}

func (p *packer) none() { p.buf = append(p.buf, 0xc2) }

// claim lays a claim out for the script.
func (p *packer) claim(c *claim) {
	if c.perTenant > 0 {
		p.array(25)
	} else {
		p.array(23)
	}
	p.num(float64(c.own))
	p.str(c.probe)
	p.num(c.every)
	p.flag(c.dry)
	p.str(c.account)
	p.str(c.budget)
	p.array(len(c.keys))
	for _, k := range c.keys {
		p.str(string(k))
	}
	p.array(len(c.models))
	for _, m := range c.models {
		p.str(string(m))
	}
	p.array(len(c.limits))
	for i := range c.limits {
		p.limit(&c.limits[i])
	}
	p.settles(c, c.settles)
	p.verdict(c.verdict)
	p.array(len(c.runs))
	for i := range c.runs {
		p.run(c, &c.runs[i])
	}
	p.str(c.process)
	p.num(c.number)
	p.array(len(c.fixes))
	for _, f := range c.fixes {
		p.array(2 + len(f.spent) + len(f.tenants)*(1+c.perTenant))
		p.num(f.number)
		p.settles(c, f.settles)
		p.nums(f.spent)
		for _, t := range f.tenants {
			p.num(float64(c.placeOf(t.name)))
			p.nums(t.units)
		}
	}
	p.str(c.birth)
	p.str(c.knows[0])
	p.str(c.knows[1])
	p.restoration(c)
	p.lease(c.lease)
	p.num(c.held)
	p.array(len(c.floors))
	p.nums(c.floors)
	p.array(4 * len(c.states))
	for _, k := range c.states {
		p.num(k.gen)
		p.flag(k.refused)
		p.nums([]float64{float64(k.class), k.next})
	}
	if c.perTenant > 0 {
		p.num(float64(c.perTenant))
		p.array(2 * len(c.tenants))
		for i := range c.tenants {
			p.str(c.tenants[i].name)
			p.flag(c.tenants[i].judged)
		}
	}
}

func (p *packer) restoration(c *claim) {
	r := c.restore
	if r == nil {
		p.none()
		return
	}
	p.array(3)
	p.array(len(r.counts))
	for i := range r.counts {
		p.counter(&c.limits[i], &r.counts[i])
	}
	p.array(6)
	for _, s := range r.pauses {
		p.nums([]float64{s.left, s.ramp, float64(s.class)})
	}
	p.array(2 * len(r.denied))
	for _, d := range r.denied {
		p.str(string(d.model))
		p.num(d.left)
	}
}

// counter lays a counter out as a record has it, without a bucket's shares.
func (p *packer) counter(s *spec, c *counter) {
	switch {
	case s.isBucket():
		p.array(6)
		p.nums([]float64{c.label, whole, c.bucket.level, c.bucket.at, c.bucket.full, c.bucket.amount})
	case s.algorithm == SlidingLog:
		p.array(3 + 2*len(c.slots))
		p.nums([]float64{c.label, 0, c.current})
		for _, slot := range c.slots {
			p.nums([]float64{slot.number, slot.units})
		}
	default:
		p.array(4)
		p.nums([]float64{c.label, c.index, c.current, c.previous})
	}
}

func (p *packer) lease(l *leaseAsk) {
	if l == nil {
		p.none()
		return
	}
	p.array(3 + len(l.cost))
	p.nums([]float64{float64(l.lane), l.n, l.divisor})
	p.nums(l.cost)
}

// settles lays corrections out. A tenant's place stands behind all limits.
func (p *packer) settles(c *claim, settles []settlement) {
	p.array(len(settles))
	for _, s := range settles {
		place := c.placeOf(s.tenant)
		if place > 0 {
			p.array(3 + len(c.limits))
		} else {
			p.array(2 + len(s.delta))
		}
		p.num(s.at)
		p.num(s.calls)
		p.nums(s.delta)
		if place > 0 {
			p.num(float64(place))
		}
	}
}

func (p *packer) nums(fs []float64) {
	for _, f := range fs {
		p.num(f)
	}
}

func (p *packer) limit(s *spec) {
	p.array(6 + 3*len(s.ceilings))
	p.nums([]float64{s.label, float64(s.algorithm), s.amount, s.per, s.offset, s.burst})
	for _, l := range s.ceilings {
		p.nums([]float64{l.share, l.amount, l.burst})
	}
}

func (p *packer) verdict(v *verdictNote) {
	if v == nil {
		p.none()
		return
	}
	p.array(10)
	p.nums([]float64{float64(v.class), float64(v.scope), float64(v.key), float64(v.model), v.gen})
	p.str(v.probe)
	p.nums([]float64{v.length, v.ramp})
	p.flag(v.resume)
	p.flag(v.hasten)
}

func (p *packer) run(c *claim, r *run) {
	own := 0
	if c.perTenant > 0 {
		own = 1
	}
	p.array(12 + len(r.cost) + own)
	p.nums([]float64{float64(r.lane), float64(r.key), float64(r.model), float64(r.n), r.patience})
	p.flag(r.mayProbe)
	p.flag(r.hold)
	p.str(r.holds)
	p.nums(r.pauses[:])
	p.nums([]float64{r.since, r.age})
	p.nums(r.cost)
	if own > 0 {
		p.num(float64(r.tenant))
	}
}

var errWire = errors.New("headgate: the store's answer is not one of the script's")

// An unpacker reads values from a buffer. After an error every read returns
// zero.
type unpacker struct {
	buf []byte
	err error
}

func (u *unpacker) take(n int) []byte {
	if u.err != nil || n < 0 || len(u.buf) < n {
		u.err = errWire
		return make([]byte, min(max(n, 0), 8))
	}
	b := u.buf[:n]
	u.buf = u.buf[n:]
	return b
}

// size reads an array's or a string's length, whose short form is base with
// up to most in its low bits, and whose longer forms follow first.
func (u *unpacker) size(base, most, first byte, widths ...int) int {
	tag := u.take(1)[0]
	if tag&^most == base {
		return int(tag & most)
	}
	if i := int(tag) - int(first); i >= 0 && i < len(widths) {
		n := uint64(0)
		for _, b := range u.take(widths[i]) {
			n = n<<8 | uint64(b)
		}
		if n <= uint64(len(u.buf)) {
			return int(n)
		}
	}
	u.err = errWire
	return 0
}

func (u *unpacker) array() int { return u.size(0x90, 0x0f, 0xdc, 2, 4) }

func (u *unpacker) str() string {
	if len(u.buf) > 0 && (u.buf[0] == 0xc4 || u.buf[0] == 0xc5 || u.buf[0] == 0xc6) {
		return string(u.take(u.size(0xff, 0, 0xc4, 1, 2, 4)))
	}
	return string(u.take(u.size(0xa0, 0x1f, 0xd9, 1, 2, 4)))
}

func (u *unpacker) num() float64 {
	switch tag := u.take(1)[0]; {
	case tag < 0x80:
		return float64(tag)
	case tag >= 0xe0:
		return float64(int8(tag))
	case tag >= 0xcc && tag <= 0xcf:
		n := uint64(0)
		for _, b := range u.take(1 << (tag - 0xcc)) {
			n = n<<8 | uint64(b)
		}
		return float64(n)
	case tag >= 0xd0 && tag <= 0xd3:
		b := u.take(1 << (tag - 0xd0))
		n := int64(int8(b[0]))
		for _, c := range b[1:] {
			n = n<<8 | int64(c)
		}
		return float64(n)
	}
	u.err = errWire
	return 0
}

// answer reads what the script says to the claim.
func (u *unpacker) answer(c *claim) (answer, error) {
	if len(u.buf) > 0 && u.buf[0] == plainAnswer {
		return u.plain(c)
	}
	left := u.array()
	num := func() float64 { left--; return u.num() }
	a := answer{now: num(), leased: num()}
	for _, p := range []*closure{&a.budget, &a.account} {
		*p = closure{left: num(), ramp: num(), used: num(), class: Class(num())}
	}
	for range c.keys {
		a.keys = append(a.keys, keyView{gen: num(), refused: num() == 1, class: Class(num()), next: num()})
	}
	for range c.limits[:c.shared()] {
		a.used = append(a.used, num())
	}
	for i := range c.limits[:c.shared()] {
		if !c.dry {
			break
		}
		rooms := make([]float64, len(c.limits[i].ceilings))
		for lane := range rooms {
			rooms[lane] = num()
		}
		a.lanes = append(a.lanes, rooms)
	}
	for range c.tenants {
		if !c.dry {
			break
		}
		used := make([]float64, c.perTenant)
		for i := range used {
			used[i] = num()
		}
		a.tenants = append(a.tenants, used)
	}
	for i := range a.epochs {
		left--
		a.epochs[i] = u.str()
	}
	for i := range c.runs {
		var outs []outcome
		for n := c.runs[i].n; n > 0 && !c.runs[i].hold; {
			o := outcome{code: codeOf(num()), n: int(num()), limit: int(num()), lacks: lackSet(num()), wait: num()}
			if u.err != nil || o.n < 1 || o.n > n || !o.code.fromStore() || o.limit < 0 || o.limit >= max(1, len(c.limits)) {
				return answer{}, errWire
			}
			n -= o.n
			outs = append(outs, o)
		}
		a.outcomes = append(a.outcomes, outs)
	}
	if u.err != nil || left != 0 || len(u.buf) != 0 {
		return answer{}, errWire
	}
	return a, nil
}

// notice reads what the script tells every process.
func (u *unpacker) notice() (notice, error) {
	if u.array() != 11 {
		return notice{}, errWire
	}
	n := notice{
		kind: noticeKind(u.num()), account: u.str(), budget: u.str(), key: Fingerprint(u.str()), model: modelID(u.str()),
		left: u.num(), ramp: u.num(), class: Class(u.num()), gen: u.num(), refused: u.num() == 1,
		epoch: u.str(),
	}
	return n, u.err
}
