package throttle

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// look sends dry claims in one pipeline. Where a server doesn't know the script
// it is loaded, and asked again.
func (s *RedisStore) look(ctx context.Context, claims []claim) ([]answer, error) {
	key := s.keys.live()
	if len(claims) > 0 {
		key = s.keys.account(claims[0].account)
	}
	ctx, cancel := context.WithTimeout(ctx, verdictWait)
	defer cancel()
	if s.shards.cluster != nil { // they may live on another server, which may be away
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			s.lookForMembers(ctx)
		}()
		defer func() {
			select {
			case <-asked:
			case <-time.After(s.timeout):
			}
		}()
	}
	return bounded(ctx, s, s.shards.of(key), func(ctx context.Context) ([]answer, error) {
		answers, err := s.lookOnce(ctx, claims)
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			if err := s.script.Load(ctx, s.client).Err(); err != nil {
				return nil, err
			}
			answers, err = s.lookOnce(ctx, claims)
		}
		return answers, err
	})
}

func (s *RedisStore) lookOnce(ctx context.Context, claims []claim) ([]answer, error) {
	pipe := s.client.Pipeline()
	var members *redis.Cmd
	if s.shards.cluster == nil {
		members = s.askMembers(ctx, pipe)
	}
	cmds := make([]*redis.Cmd, len(claims))
	for i := range claims {
		var p packer
		p.claim(&claims[i])
		cmds[i] = pipe.EvalSha(ctx, s.script.Hash(), s.keys.of(&claims[i]), string(p.buf), s.keys.events())
	}
	// Each command has its own error; who the members are is not worth failing for.
	if _, err := pipe.Exec(ctx); err != nil && len(claims) == 0 {
		return nil, err
	}
	if members != nil {
		s.learnMembers(members)
	}
	answers := make([]answer, len(claims))
	for i, cmd := range cmds {
		reply, err := cmd.Text()
		if err != nil {
			return nil, err
		}
		u := unpacker{buf: []byte(reply)}
		if answers[i], err = u.answer(&claims[i]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}
