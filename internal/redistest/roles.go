package redistest

import (
	"errors"
	"fmt"
	"net"
	"slices"
)

// watched returns nil if every sentinel could do a failover now.
func (s *Sentinel) watched() error {
	for _, x := range s.sentinels {
		if err := x.do("SENTINEL", "CKQUORUM", MasterName).Err(); err != nil {
			return err
		}
		replicas, err := x.do("SENTINEL", "REPLICAS", MasterName).Slice()
		if err != nil {
			return err
		}
		if len(replicas) != len(s.servers)-1 {
			return fmt.Errorf("a sentinel knows %d replicas", len(replicas))
		}
		for _, r := range replicas {
			seen, ok := r.(map[any]any)
			if !ok || seen["flags"] != "slave" || seen["master-link-status"] != "ok" {
				return fmt.Errorf("a sentinel sees the replica %v", r)
			}
		}
	}
	return nil
}

// master returns the server that the sentinels name, if those that run agree.
func (s *Sentinel) master() (*Server, error) {
	var found *Server
	for _, x := range s.sentinels {
		if !x.running() {
			continue
		}
		at, err := x.do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MasterName).StringSlice()
		if err != nil {
			return nil, fmt.Errorf("sentinel %s: %w", x.Addr, err)
		}
		m := s.server(net.JoinHostPort(at[0], at[1]))
		if m == nil || found != nil && found != m {
			return nil, fmt.Errorf("the sentinels don't agree: one names %v", at)
		}
		found = m
	}
	if found == nil {
		return nil, errors.New("no sentinel runs")
	}
	return found, nil
}

func (s *Sentinel) server(addr string) *Server {
	i := slices.IndexFunc(s.servers, func(x *Server) bool { return x.Addr == addr })
	if i < 0 {
		return nil
	}
	return s.servers[i]
}

func (s *Sentinel) failedOver(old *Server) error {
	m, err := s.master()
	if err != nil {
		return err
	}
	if m == old {
		return errors.New("the master is still the old one")
	}
	return s.allFollow(m, old)
}

func (s *Sentinel) follows(replica *Server) error {
	m, err := s.master()
	if err != nil {
		return err
	}
	return follows(replica, m)
}

// reached returns nil if the replicas of m that run have come to an offset.
func (s *Sentinel) reached(m *Server, offset int64) error {
	return s.eachReplica(m, nil, func(x *Server) error {
		r, err := x.role()
		if err == nil && r.offset < offset {
			err = fmt.Errorf("%s is at %d of %d", x.Addr, r.offset, offset)
		}
		return err
	})
}

// allFollow returns nil if m is a master and all servers that run, except one,
// are its replicas.
func (s *Sentinel) allFollow(m, except *Server) error {
	r, err := m.role()
	if err != nil {
		return err
	}
	if r.name != "master" {
		return fmt.Errorf("%s is %+v", m.Addr, r)
	}
	return s.eachReplica(m, except, func(x *Server) error { return follows(x, m) })
}

func (s *Sentinel) eachReplica(m, except *Server, check func(*Server) error) error {
	for _, x := range s.servers {
		if x == m || x == except || !x.running() {
			continue
		}
		if err := check(x); err != nil {
			return err
		}
	}
	return nil
}

// follows returns nil if a server is a replica of m and gets what m gets.
func follows(replica, m *Server) error {
	r, err := replica.role()
	if err == nil && (r.name != "slave" || r.master != m.Addr || r.link != "connected") {
		err = fmt.Errorf("%s is %+v", replica.Addr, r)
	}
	return err
}

// A role is what ROLE answers.
type role struct {
	name   string // master or slave
	offset int64

	master, link string // of a slave
}

func (s *Server) role() (role, error) {
	answer, err := s.do("ROLE").Slice()
	if err != nil {
		return role{}, err
	}
	switch {
	case len(answer) == 3 && answer[0] == "master":
		offset, _ := answer[1].(int64)
		return role{name: "master", offset: offset}, nil
	case len(answer) == 5 && answer[0] == "slave":
		offset, _ := answer[4].(int64)
		master := net.JoinHostPort(fmt.Sprint(answer[1]), fmt.Sprint(answer[2]))
		return role{name: "slave", offset: offset, master: master, link: fmt.Sprint(answer[3])}, nil
	}
	return role{}, fmt.Errorf("%s answers ROLE with %v", s.Addr, answer)
}

func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc != nil
}
