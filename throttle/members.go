package throttle

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Member is a process that shares the store.
type Member struct {
	// ID is the process's name in the store, a random UUID.
	ID string
	// Self is whether it is this process.
	Self bool
	// Seen is for how long it hasn't shown itself, by the store's clock, when
	// the store was asked. A live process does so every five seconds.
	Seen time.Duration
}

// maxMembers bounds the members that a Status names.
const maxMembers = 1000

// memberScript reads the set of live processes.
//
//	KEYS[1]  prefix:live, a hash of process -> server time of its last beat, ms
//	ARGV[1]  how many to name at most
//	Output   {process, ms since its last beat, ...}
const memberScript = `
local t = redis.call('TIME')
local now, all, out = t[1] * 1000 + math.floor(t[2] / 1000), redis.call('HGETALL', KEYS[1]), {}
for i = 1, math.min(#all, 2 * tonumber(ARGV[1])), 2 do
  out[#out + 1] = all[i]
  out[#out + 1] = tostring(math.max(0, now - (tonumber(all[i + 1]) or 0)))
end
return out`

// askMembers asks for the members, or adds the question to a pipeline.
func (s *RedisStore) askMembers(ctx context.Context, pipe redis.Cmdable) *redis.Cmd {
	return pipe.Eval(ctx, memberScript, []string{s.keys.live()}, maxMembers)
}

// lookForMembers asks for the members alone. Where that fails the last ones
// stand.
func (s *RedisStore) lookForMembers(ctx context.Context) {
	cmd, err := bounded(ctx, s, s.shards.of(s.keys.live()), func(ctx context.Context) (*redis.Cmd, error) {
		cmd := s.askMembers(ctx, s.client)
		return cmd, cmd.Err()
	})
	if err == nil {
		s.learnMembers(cmd)
	}
}

// learnMembers takes over who shares the store.
func (s *RedisStore) learnMembers(cmd *redis.Cmd) {
	flat, err := cmd.StringSlice()
	if err != nil || len(flat)%2 != 0 {
		return // the last ones stand
	}
	members := make([]Member, 0, len(flat)/2)
	for i := 0; i < len(flat); i += 2 {
		ms, err := strconv.ParseInt(flat[i+1], 10, 64)
		if seen := time.Duration(ms) * time.Millisecond; err == nil && seen <= beatKept {
			members = append(members, Member{ID: flat[i], Self: flat[i] == s.process, Seen: seen})
		}
	}
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = members
}

// lastMembers returns those that the last look at the store found.
func (s *RedisStore) lastMembers() []Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.members)
}
