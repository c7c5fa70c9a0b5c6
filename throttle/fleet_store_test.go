package throttle

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
)

// A fleetStore is the way of one process to the fleet's store. Messages take
// their time in both directions, some are lost or come late or twice, and the
// store's clock, as this process hears of it, is its own.
type fleetStore struct{ p *fleetProc }

var (
	errFleetLost = errors.New("the connection broke")
	errFleetDead = errors.New("the process was killed")
)

// A messageFate is what becomes of a claim and its answer.
type messageFate struct {
	out, back time.Duration
	lost      bool // the claim
	unheard   bool // the answer
	late      time.Duration
	twice     bool
	single    bool // where an error is that of this claim alone
	sent      bool // the claim has left a process that is killed before it arrives
}

func (p *fleetProc) fateOf(c *claim) (m messageFate) {
	h := fnv.New64a()
	h.Write([]byte(c.account + "\x00" + c.budget))
	number := uint64(c.number)
	if number == 0 {
		p.notes++
		number = 1<<40 + p.notes
	}
	r := rand.New(rand.NewPCG(p.f.plan.seed*64+uint64(p.n), h.Sum64()+number))
	m.out = time.Duration(r.Int64N(int64(p.f.plan.delay)))
	m.back = time.Duration(r.Int64N(int64(p.f.plan.delay)))
	m.sent = r.IntN(2) == 0
	m.twice = c.number > 0 && r.IntN(20) == 0
	if p.f.plan.lossy && !p.f.calm {
		switch r.IntN(40) {
		case 0:
			m.lost = true
		case 1:
			m.unheard = true
		case 2:
			m.late = time.Duration(r.Int64N(int64(200 * time.Millisecond)))
		}
		m.single = r.IntN(2) == 0
	}
	return m
}

func (s *fleetStore) claim(ctx context.Context, c *claim) (answer, error) {
	p, f := s.p, s.p.f
	f.mu.Lock()
	m, sent := p.fateOf(c), p.shifted(c, -p.shift)
	f.mu.Unlock()
	time.Sleep(m.out)
	if p.dead() {
		if m.sent {
			_, _, _ = f.apply(p, sent)
		}
		return p.silence()
	}
	if m.lost || m.late > 0 {
		p.lose()
		if m.late > 0 { // given up, and still on its way
			go func() {
				time.Sleep(m.late)
				_, _, _ = f.apply(p, sent)
			}()
		}
		return answer{}, m.err()
	}
	ans, tells, err := f.apply(p, sent)
	if m.twice && err == nil {
		time.Sleep(m.out)
		first, knew := ans.now, tells
		if ans, tells, err = f.apply(p, sent); err != nil {
			p.lose()
		} else if ans.now == first {
			tells = knew // it was the first answer again
		}
	}
	time.Sleep(m.back)
	switch {
	case p.dead():
		return p.silence()
	case m.unheard:
		p.lose()
		return answer{}, m.err()
	}
	if err == nil {
		p.heard(sent, tells)
		ans.now += float64(p.shift)
	}
	return ans, serverSaid(err)
}

// A fleetError is an error of the store itself, about one claim.
type fleetError struct{ error }

func (fleetError) RedisError() {}

func serverSaid(err error) error {
	if err == nil || errors.Is(err, errForgot) {
		return err
	}
	return fleetError{err}
}

func (m messageFate) err() error {
	if m.single {
		return &lateError{err: errFleetLost}
	}
	return errFleetLost
}

// lose notes that a message of the process was lost.
func (p *fleetProc) lose() {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.lostAt = p.f.store.now()
}

// silence is what a killed process hears, until its fleet is over.
func (p *fleetProc) silence() (answer, error) {
	<-p.f.released
	return answer{}, errFleetDead
}

// shifted is a claim whose instants are those of another clock.
func (p *fleetProc) shifted(c *claim, by int64) *claim {
	s := *c
	d := float64(by)
	move := func(list []settlement) []settlement {
		list = slices.Clone(list)
		for i := range list {
			list[i].at += d
		}
		return list
	}
	s.settles = move(c.settles)
	s.runs = slices.Clone(c.runs)
	for i := range s.runs {
		if s.runs[i].since > 0 {
			s.runs[i].since += d
		}
	}
	s.fixes = slices.Clone(c.fixes)
	for i := range s.fixes {
		s.fixes[i].settles = move(s.fixes[i].settles)
	}
	return &s
}

func (s *fleetStore) look(ctx context.Context, claims []claim) ([]answer, error) {
	return s.p.f.store.look(ctx, claims)
}

func (s *fleetStore) immediate() bool     { return false }
func (s *fleetStore) hears() bool         { return true }
func (s *fleetStore) shard(string) string { return "" }
func (s *fleetStore) trouble() error      { return nil }

func (s *fleetStore) fleet() (int, int) {
	s.p.f.mu.Lock()
	defer s.p.f.mu.Unlock()
	rank, live := 0, 0
	for _, p := range s.p.f.procs {
		if p == s.p {
			rank = live
		}
		if !p.killed {
			live++
		}
	}
	return rank, max(1, live)
}

// watch hands notices on after a while, in their order.
func (s *fleetStore) watch(f func(notice)) func() {
	return s.p.f.store.watch(func(n notice) {
		if s.p.missed() || s.p.dead() {
			return
		}
		go func() {
			time.Sleep(s.p.noticed)
			if !s.p.dead() {
				f(n)
			}
		}()
	})
}

// missed says whether the process doesn't hear the next notice.
func (p *fleetProc) missed() bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.notices++
	r := rand.New(rand.NewPCG(p.f.plan.seed*64+uint64(p.n), 1<<41+p.notices))
	if !p.f.plan.lossy || p.f.calm || r.IntN(5) > 0 {
		return false
	}
	p.lostAt = p.f.store.now()
	return true
}
