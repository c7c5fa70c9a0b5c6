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
func (s *RedisStore) listen(sub *redis.PubSub) {
	defer s.loops.Done()
	for s.ctx.Err() == nil {
		s.listenOn(sub)
		s.listened.Store(nil)
		s.pass(notice{kind: noticeDeaf})
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(hearWithin / 10):
		}
		sub = s.client.Subscribe(s.ctx, s.keys.events())
	}
	_ = sub.Close()
}

// listenOn passes on what one subscription says until it is dead.
func (s *RedisStore) listenOn(sub *redis.PubSub) {
	// The client's reads don't end with the context.
	stop := context.AfterFunc(s.ctx, func() { _ = sub.Close() })
	defer func() {
		if stop() {
			_ = sub.Close()
		}
	}()
	for pinged := false; ; {
		m, err := sub.ReceiveTimeout(s.ctx, hearWithin)
		var silence net.Error
		switch {
		case err == nil:
			pinged = false
			// Nothing is spent by leases until what was said has been heard.
			if m, ok := m.(*redis.Message); ok {
				s.hear(m.Payload)
			}
			if s.listenedNow() {
				s.pass(notice{kind: noticeHears})
			}
		case !pinged && errors.As(err, &silence) && silence.Timeout():
			pinged = true
			if sub.Ping(s.ctx) != nil {
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
