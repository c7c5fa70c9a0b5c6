package throttle

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// How long the channel may be silent before it is tried by a ping, and again
// before the subscription counts as dead.
const hearWithin = time.Second

// hears reports whether the subscription is alive: not silent for more than
// twice hearWithin. Both clocks count: what was said while the process was
// frozen or its machine slept is still to be read.
func (s *RedisStore) hears() bool {
	at := s.listened.Load()
	if at == nil {
		return false
	}
	now := time.Now()
	return now.Sub(*at) <= 2*hearWithin && now.Round(0).Sub(at.Round(0)) <= 2*hearWithin
}

// listenedNow notes that the subscription lives, and reports whether it was
// dead.
func (s *RedisStore) listenedNow() bool {
	now := time.Now()
	return s.listened.Swap(&now) == nil
}

// listen passes notices on until the store is closed. What is missed while the
// subscription is dead is found with the next claim.
//
// The client may hang for as long as its own settings say, in a subscription
// and in the making of one. Such a one is left to itself, each time after twice
// as long, so that there are few of them however long Redis is away.
func (s *RedisStore) listen(sub *redis.PubSub) {
	defer s.loops.Done()
	for patience := 2 * hearWithin; s.ctx.Err() == nil; sub = nil {
		if s.listenOn(sub, patience) {
			patience = 2 * hearWithin
		} else {
			patience *= 2
		}
		s.listened.Store(nil)
		s.pass(notice{kind: noticeDeaf})
		select {
		case <-s.ctx.Done():
		case <-time.After(hearWithin / 10):
		}
	}
}

// listenOn passes on what one subscription says until it is dead, or shows no
// sign of life for so long. It reports whether it wasn't left hanging. Where
// there is none it is made.
func (s *RedisStore) listenOn(sub *redis.PubSub, patience time.Duration) bool {
	ctx, leave := context.WithCancel(s.ctx)
	defer leave()
	signs, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		s.receive(ctx, sub, signs)
	}()
	hangs := time.NewTimer(patience)
	defer hangs.Stop()
	for {
		select {
		case payload := <-signs:
			patience = 2 * hearWithin
			hangs.Reset(patience)
			// Nothing is spent by leases until what was said has been heard.
			if payload != "" {
				s.hear(payload)
			}
			if s.listenedNow() {
				s.pass(notice{kind: noticeHears})
			}
		case <-ended:
			return true
		case <-hangs.C:
			return false
		case <-s.ctx.Done():
			return true
		}
	}
}

// receive hands on what a subscription says, and "" for other signs of life,
// until it is dead or ctx ends.
func (s *RedisStore) receive(ctx context.Context, sub *redis.PubSub, signs chan<- string) {
	if sub == nil {
		var err error
		if sub, err = s.subscribe(ctx); err != nil {
			return
		}
	}
	// The client's reads don't end with the context.
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer func() {
		if stop() {
			_ = sub.Close()
		}
	}()
	for pinged := false; ; {
		m, err := sub.ReceiveTimeout(ctx, hearWithin)
		var silence net.Error
		switch {
		case err == nil:
			pinged = false
			payload := ""
			if m, ok := m.(*redis.Message); ok {
				payload = m.Payload
			}
			select {
			case signs <- payload:
			case <-ctx.Done():
				return
			}
		case !pinged && errors.As(err, &silence) && silence.Timeout():
			pinged = true
			if sub.Ping(ctx) != nil {
				return
			}
		default:
			return
		}
	}
}

// hear passes a message on.
func (s *RedisStore) hear(payload string) {
	if who, ok := strings.CutPrefix(payload, joined); ok {
		if who != s.process {
			select {
			case s.joined <- struct{}{}: // counting must not hold up notices
			default:
			}
		}
		return
	}
	u := unpacker{buf: []byte(payload)}
	n, err := u.notice()
	if err != nil {
		return // somebody else's
	}
	s.pass(n)
}

// pass hands a notice to everybody who watches.
func (s *RedisStore) pass(n notice) {
	s.mu.Lock()
	watchers := make([]func(notice), 0, len(s.watchers))
	for _, f := range s.watchers {
		watchers = append(watchers, f)
	}
	s.mu.Unlock()
	for _, f := range watchers {
		f(n)
	}
}
