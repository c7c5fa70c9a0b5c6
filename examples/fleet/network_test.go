package main

import (
	"testing"
	"testing/synctest"
	"time"
)

func newParcel(sent time.Time) *parcel {
	return &parcel{origin: origin{sent: sent}, judged: make(chan struct{})}
}

func TestRequestsArriveWithinTheJitterAndInThatOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []*parcel
		n := newNetwork(50*time.Millisecond, func(p *parcel) { got = append(got, p) })
		defer n.close()
		overtaken := false
		for range 200 {
			n.carry(newParcel(time.Now()))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 200 {
			t.Fatalf("%d of 200 requests arrived", len(got))
		}
		for i, p := range got {
			<-p.judged
			if d := p.arrives.Sub(p.sent); d < 0 || d >= jitter {
				t.Errorf("a request travelled for %v", d)
			}
			if i > 0 && p.arrives.Before(got[i-1].arrives) {
				t.Error("they were judged in another order than that of their arrival")
			}
			overtaken = overtaken || i > 0 && p.sent.Before(got[i-1].sent)
		}
		if !overtaken || n.late() != 0 {
			t.Errorf("overtaken: %v, late: %d, want some and none", overtaken, n.late())
		}
	})
}

func TestARequestThatTheMachineHeldUpArrivesWhereItWouldHave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []*parcel
		n := newNetwork(100*time.Millisecond, func(p *parcel) { got = append(got, p) })
		defer n.close()
		first, second := newParcel(time.Now()), newParcel(time.Now().Add(40*time.Millisecond))
		time.Sleep(60 * time.Millisecond)
		n.carry(second)
		time.Sleep(20 * time.Millisecond)
		n.carry(first) // sent before it, and 80 ms late
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 2 || got[0] != first || n.late() != 0 {
			t.Errorf("%v, late %d, want the one sent first to come first", got, n.late())
		}
	})
}

func TestAStragglerIsCountedAndComesLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []*parcel
		n := newNetwork(10*time.Millisecond, func(p *parcel) { got = append(got, p) })
		defer n.close()
		straggler, other := newParcel(time.Now()), newParcel(time.Now().Add(jitter))
		n.carry(other)
		time.Sleep(time.Second)
		synctest.Wait()
		n.carry(straggler)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 2 || got[1] != straggler || straggler.arrives.Before(other.arrives) || n.late() != 1 {
			t.Errorf("%v, late %d, want the straggler last and counted", got, n.late())
		}
	})
}
