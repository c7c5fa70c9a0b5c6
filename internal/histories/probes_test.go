package histories

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
)

// A key that is refused lets nothing through but its probe, and only the answer
// of the last probe opens it. An answer of an older generation says nothing:
// every change between open and refused begins another. The model is the key,
// and which calls went in its present generation.

type (
	sends  struct{ id int } // a call goes as any other
	probes struct{ id int } // a call goes as the probe
	barred struct{}         // a call is denied for its key
	// answers is the vendor's word about a call. Its own message may be lost, and
	// then one that says more of the same may take its place.
	answers struct {
		id     int
		ok     bool
		unsure bool
	}
)

// keyed is the state. present is a list of calls, so that it can be compared.
type keyed struct {
	refused bool
	probe   int    // the last that was begun; 0: none in this generation
	present string // the calls of this generation, each as " id "
}

func (k keyed) has(id int) bool {
	mark := fmt.Sprintf(" %d ", id)
	for i := 0; i+len(mark) <= len(k.present); i++ {
		if k.present[i:i+len(mark)] == mark {
			return true
		}
	}
	return false
}

var keyModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{keyed{}} },
	Step: func(state, op, _ any) []any {
		k := state.(keyed)
		switch op := op.(type) {
		case sends:
			if k.refused {
				return nil
			}
			k.present += fmt.Sprintf(" %d ", op.id)
			return []any{k}
		case probes:
			if !k.refused {
				return nil
			}
			k.probe = op.id
			return []any{k}
		case barred:
			if !k.refused {
				return nil
			}
			return []any{k}
		case answers:
			next := k
			switch {
			case op.ok && k.refused && k.probe == op.id:
				next = keyed{}
			case !op.ok && !k.refused && k.has(op.id):
				next = keyed{refused: true}
			}
			if op.unsure && next != k {
				return []any{next, k}
			}
			return []any{next}
		}
		return nil
	},
}

const probeEvery = 150 * time.Millisecond

func TestOnlyTheLastProbeOpensAKey(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		model := keyModel.ToModel()
		probed, found := 0, 0
		for round := range uint64(4) {
			ops := callARefusedKey(t, fl, round)
			wantOrder(t, model, ops)
			of := 0 // this round
			for i, op := range ops {
				p, ok := op.Input.(probes)
				if of++; !ok || of > 60 { // the earlier, the sooner it is found
					continue
				}
				probed++
				wrong := slices.Clone(ops)
				wrong[i].Input = sends(p)
				if porcupine.CheckOperationsTimeout(model, wrong, judgeWithin) == porcupine.Illegal {
					found++
				}
			}
			wantNoOrder(t, model, firstAsProbe(ops), "a probe of a key that nobody has refused")
		}
		// Where the answer before a probe may have been lost, it can't be told.
		if probed < 4 || found < probed/2 || !fl.redis && found < probed {
			t.Errorf("of %d probes only %d would be missed, had they gone as other calls", probed, found)
		}
	})
}

// firstAsProbe makes the first call that went a probe.
func firstAsProbe(ops []porcupine.Operation) []porcupine.Operation {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	i := slices.IndexFunc(ops, func(op porcupine.Operation) bool { _, ok := op.Input.(sends); return ok })
	ops[i].Input = probes(ops[i].Input.(sends))
	return ops
}

// callARefusedKey has the callers of three processes try a key that is refused
// again and again, and told so by answers that come late.
func callARefusedKey(t *testing.T, fl fleet, seed uint64) []porcupine.Operation {
	t.Helper()
	c := throttle.Config{Outage: throttle.OutageClosed, Probe: probe.Policy{Every: probeEvery}, Budgets: []throttle.Budget{{Models: []string{model}}}}
	var procs []process
	for range 3 {
		procs = append(procs, fl.open(t, c, 10*time.Second))
	}
	h, key := newHistory(), throttle.Fingerprint(fmt.Sprint("key", seed, fl.redis))
	stop := harm(procs, seed, cutReplies, cutRequests)
	var ids atomic.Int64
	ctx, cancel := context.WithTimeout(context.Background(), 8*probeEvery)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 6 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		wg.Go(func() {
			for ctx.Err() == nil {
				after, ok := time.Duration(r.IntN(80))*time.Millisecond, r.IntN(8) > 0
				if r.IntN(3) == 0 {
					after, ok = after+2*probeEvery, false // the key may have been opened meanwhile
				}
				oneOfAKey(h, procs[i/2], key, &ids, ok, after)
				time.Sleep(time.Duration(20+r.IntN(40)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	stop()
	for _, p := range procs {
		_ = p.Close()
	}
	h.settle()
	return h.all()
}

// oneOfAKey makes one call, which is answered after a while.
func oneOfAKey(h *history, p process, key throttle.Fingerprint, ids *atomic.Int64, ok bool, after time.Duration) {
	c := call("now")
	c.Key = key
	id := int(ids.Add(1))
	at := h.now()
	permit, err := p.Acquire(context.Background(), c)
	ret := h.now()
	switch {
	case errors.Is(err, throttle.ErrKeyRefused):
		if p.proxy == nil { // else it may be by what was said and hasn't arrived
			h.add(barred{}, at, ret)
		}
		return
	case err != nil:
		return
	case permit.Probe():
		h.add(probes{id}, at, ret)
	default:
		h.add(sends{id}, at, ret)
	}
	isProbe := permit.Probe()
	time.Sleep(after)
	v := throttle.Verdict{Class: throttle.OK}
	if !ok {
		v = throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey}
	}
	harm, said := p.harms.hits(), h.now()
	permit.Answered(v)
	end := h.now()
	permit.Done()
	if isProbe == ok || !isProbe && !ok { // the others say nothing about a key
		unsure := p.harms.hits() > harm
		if unsure {
			end = later
		}
		h.add(answers{id, ok, unsure}, said, end)
	}
}
