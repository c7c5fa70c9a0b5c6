package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// replicationArgs have replicas get their copy at once: by default the master
// waits five seconds for more of them.
var replicationArgs = []string{"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"}

// haste are periods of sentinels in milliseconds, by default one to ten seconds
// between any two steps of a failover. Tilt is how long they do nothing after
// the machine was too busy for them, by default as long as a test waits. The
// period of pings stays: what is known of a replica is good for five of them
// only, and while the master is down it is asked for once a second.
var haste = []any{
	"ask-period", 250, "info-period", 200, "publish-period", 250,
	"election-timeout", 1000, "tilt-period", 1000,
}

func startSentinel(dir string) (*Sentinel, error) {
	s := &Sentinel{dir: dir}
	if err := s.form(); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

func (s *Sentinel) form() error {
	if err := s.startServers(); err != nil {
		return err
	}
	if err := poll("replicas", func() error { return s.allFollow(s.servers[0], nil) }); err != nil {
		return err
	}
	if err := s.startSentinels(); err != nil {
		return err
	}
	return poll("sentinels", s.watched)
}

func (s *Sentinel) startServers() error {
	args := replicationArgs
	for i := range 3 {
		dir, err := s.subdir("server", i)
		if err != nil {
			return err
		}
		server, err := startAt(freeAddr, dir, args...)
		if err != nil {
			return err
		}
		if s.servers = append(s.servers, server); i == 0 {
			host, port := split(server.Addr)
			args = append(slices.Clone(args), "--replicaof", host, port)
		}
	}
	return nil
}

// startSentinels starts them all over should one find its port taken, because
// each is told beforehand where the others are: finding out would take them
// seconds.
func (s *Sentinel) startSentinels() error {
	var err error
	for attempt := range 10 {
		if err = s.trySentinels(attempt); err == nil || !retryable(err) {
			return err
		}
		for _, x := range s.sentinels {
			x.kill()
		}
		s.sentinels = nil
	}
	return err
}

func (s *Sentinel) trySentinels(attempt int) error {
	var addrs []string
	for len(addrs) < 3 {
		addr, err := freeAddr()
		if err != nil {
			return err
		}
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	for i, addr := range addrs {
		dir, err := s.subdir(fmt.Sprintf("sentinel%d-", attempt), i)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "sentinel.conf")
		if err := os.WriteFile(file, []byte(s.config(addrs, i)), 0o600); err != nil {
			return err
		}
		p, err := launch(addr, dir, file, "--sentinel")
		if err != nil {
			return err
		}
		x := &Server{Addr: addr, dir: dir, args: []string{file, "--sentinel"}, proc: p}
		s.sentinels = append(s.sentinels, x)
		_ = x.do(append([]any{"SENTINEL", "DEBUG"}, haste...)...).Err() // since Redis 7; without it all takes longer
	}
	return nil
}

// config returns the file of one of the sentinels.
func (s *Sentinel) config(sentinels []string, which int) string {
	lines := []string{
		"myid " + sentinelID(which),
		"monitor " + MasterName + " " + spaced(s.servers[0].Addr) + " 2",
		"down-after-milliseconds " + MasterName + " 1000",
		"failover-timeout " + MasterName + " 2000",
		"parallel-syncs " + MasterName + " 2",
	}
	for _, replica := range s.servers[1:] {
		lines = append(lines, "known-replica "+MasterName+" "+spaced(replica.Addr))
	}
	for i, addr := range sentinels {
		if i != which {
			lines = append(lines, "known-sentinel "+MasterName+" "+spaced(addr)+" "+sentinelID(i))
		}
	}
	return "sentinel " + strings.Join(lines, "\nsentinel ") + "\n"
}

func sentinelID(i int) string { return fmt.Sprintf("%040x", i+1) }

func (s *Sentinel) subdir(name string, i int) (string, error) {
	dir := filepath.Join(s.dir, fmt.Sprint(name, i))
	return dir, os.Mkdir(dir, 0o700)
}

func split(addr string) (host, port string) {
	host, port, _ = net.SplitHostPort(addr)
	return host, port
}

func spaced(addr string) string {
	host, port := split(addr)
	return host + " " + port
}
