package headgateotel

import "sync"

// other stands for all names that are too many.
const other = "other"

// names lets a bounded number of names through. Safe for concurrent use.
type names struct {
	mu   sync.RWMutex
	most int
	seen map[string]bool
}

func newNames(most int) *names { return &names{most: most, seen: map[string]bool{}} }

// bounded returns the name, or other where most names were seen before it.
func (n *names) bounded(name string) string {
	n.mu.RLock()
	known, full := n.seen[name], len(n.seen) >= n.most
	n.mu.RUnlock()
	switch {
	case known:
		return name
	case full:
		return other
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.seen[name] && len(n.seen) >= n.most {
		return other
	}
	n.seen[name] = true
	return name
}
