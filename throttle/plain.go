package throttle

import (
	"encoding/binary"
	"math"
)

// plain lays a claim out in the short form of lua/plain.lua, and reports
// whether it may travel so: with calls, their settlements and nothing else, on
// windows, of records that this process knows. What the records say the script
// finds out; it then goes by the long form, which travels along.
func (p *packer) plain(c *claim) bool {
	if !c.isPlain() {
		return false
	}
	p.short(c.process)
	p.short(c.knows[0])
	p.short(c.knows[1])
	p.double(c.number)
	for _, n := range [...]int{c.own, len(c.limits), len(c.settles), len(c.runs)} {
		p.buf = binary.BigEndian.AppendUint16(p.buf, uint16(n))
	}
	for i := range c.keys {
		gen := 0.0
		if c.states != nil {
			gen = c.states[i].gen
		}
		p.double(gen)
	}
	for i := range c.limits {
		p.double(c.limits[i].label)
		p.double(c.limits[i].offset)
	}
	for i := range c.settles {
		p.double(c.settles[i].at)
		p.doubles(c.settles[i].delta)
	}
	for i := range c.runs {
		r := &c.runs[i]
		p.double(float64(r.n))
		p.doubles(r.cost)
		for j := range c.limits {
			p.double(c.limits[j].ceilings[r.lane].amount)
		}
	}
	return true
}

func (c *claim) isPlain() bool {
	if c.number == 0 || c.process == "" || c.dry || c.verdict != nil || len(c.fixes) > 0 || c.restore != nil || c.lease != nil ||
		len(c.floors) > 0 || len(c.runs) == 0 || c.perTenant > 0 || len(c.process)+len(c.knows[0])+len(c.knows[1]) > math.MaxUint8 || c.own == 0 {
		return false
	}
	for i := range c.limits {
		if c.limits[i].algorithm > FixedWindow {
			return false
		}
	}
	for i := range c.runs {
		if r := &c.runs[i]; r.hold || r.holds != "" {
			return false
		}
	}
	return true
}

// short appends a string of at most 255 bytes.
func (p *packer) short(s string) {
	p.buf = append(append(p.buf, byte(len(s))), s...)
}

func (p *packer) double(f float64) {
	p.buf = binary.BigEndian.AppendUint64(p.buf, math.Float64bits(f))
}

func (p *packer) doubles(fs []float64) {
	for _, f := range fs {
		p.double(f)
	}
}

// plainAnswer begins the short answer to a plain claim, and no packed one.
const plainAnswer = 0xc1

// plain reads the answer to a plain claim: all of its calls go.
func (u *unpacker) plain(c *claim) (answer, error) {
	u.take(1)
	a := answer{now: u.double()}
	for range c.keys {
		a.keys = append(a.keys, keyView{gen: u.double()})
	}
	for range c.limits {
		a.used = append(a.used, u.double())
	}
	for i := range a.epochs {
		if len(u.buf) > 0 {
			a.epochs[i] = string(u.take(int(u.take(1)[0])))
		}
	}
	for i := range c.runs {
		a.outcomes = append(a.outcomes, []outcome{{code: granted, n: c.runs[i].n}})
	}
	if u.err != nil || len(u.buf) != 0 {
		return answer{}, errWire
	}
	return a, nil
}

func (u *unpacker) double() float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(u.take(8)))
}
