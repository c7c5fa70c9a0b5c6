package throttle

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"
)

// shards are the masters of a cluster, each of which may be out of reach while
// the others serve their accounts. Any other Redis is one shard without a name,
// and so is a cluster that has never answered.
type shards struct {
	cluster *redis.ClusterClient // nil: none
	mapped  atomic.Bool          // the client knows which master has which slots
	whole   *shard

	mu     sync.Mutex
	byName map[string]*shard
}

// A shard is what is known of one server.
type shard struct {
	name     string                    // host and port
	heard    atomic.Pointer[time.Time] // when it last answered without an error; nil: never
	underWay *semaphore.Weighted
}

func newShards(client redis.UniversalClient) shards {
	cluster, _ := client.(*redis.ClusterClient)
	return shards{
		cluster: cluster,
		whole:   &shard{underWay: semaphore.NewWeighted(maxUnderWay)},
		byName:  map[string]*shard{},
	}
}

// of returns the shard that has a key.
func (s *shards) of(key string) *shard {
	if s.cluster == nil || !s.mapped.Load() {
		return s.whole
	}
	// This asks nobody: the client has the map by now, and renews it behind our back.
	master, err := s.cluster.MasterForKey(context.Background(), key)
	if err != nil {
		return s.whole
	}
	name := master.Options().Addr
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byName[name]
	if at == nil {
		at = &shard{name: name, underWay: semaphore.NewWeighted(maxUnderWay / 2)}
		s.byName[name] = at
	}
	return at
}

// answered notes that a command was answered, for which the client had to know
// where to send it.
func (s *shards) answered() {
	if s.cluster != nil {
		s.mapped.Store(true)
	}
}

// moved has the client look where slots are by now if a server couldn't be
// reached: another may have taken its place.
func (s *shards) moved(err error) {
	var said redis.Error
	if s.cluster != nil && s.mapped.Load() && !errors.As(err, &said) {
		s.cluster.ReloadState(context.Background())
	}
}

// heardNow notes that the server answered, by the clock that nobody sets.
func (a *shard) heardNow() {
	now := time.Now()
	a.heard.Store(&now)
}

func (a *shard) lastHeard() time.Time {
	if at := a.heard.Load(); at != nil {
		return *at
	}
	return time.Time{}
}
