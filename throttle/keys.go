package throttle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Keys in Redis. All keys of one account carry one hash tag, so that a script
// that touches several of them runs on a cluster:
//
//	prefix:{account}:a          the account's own record
//	prefix:{account}:b:budget   the record of a budget
//	prefix:{account}:k:key      the record of a credential
//	prefix:{account}:t:budget:tenant   what one tenant has used of a budget
//	prefix:{account}:t:budget   what the tenants beyond the remembered have used
//	prefix:live                 the live processes
//	prefix:events               the channel of notices
//
// An account without a name is its key's fingerprint; one with a name starts
// with @, which no fingerprint does.
type keyspace struct{ prefix string }

func newKeyspace(prefix string) (keyspace, error) {
	if prefix == "" {
		prefix = "headgate"
	}
	if strings.ContainsAny(prefix, "{}") {
		return keyspace{}, fmt.Errorf("throttle: RedisOptions.Prefix is %q, want no braces: they would break the hash tag", prefix)
	}
	return keyspace{prefix}, nil
}

func (k keyspace) account(id string) string { return k.prefix + ":{" + escape(id) + "}:a" }
func (k keyspace) budget(id, budget string) string {
	return k.prefix + ":{" + escape(id) + "}:b:" + escape(budget)
}
func (k keyspace) key(id string, key Fingerprint) string {
	return k.prefix + ":{" + escape(id) + "}:k:" + escape(string(key))
}
func (k keyspace) tenant(id, budget, name string) string {
	s := k.prefix + ":{" + escape(id) + "}:t:" + escape(budget)
	if name == overflowTenant {
		return s
	}
	return s + ":" + escape(name[1:])
}
func (k keyspace) live() string   { return k.prefix + ":live" }
func (k keyspace) events() string { return k.prefix + ":events" }

// of returns the keys of a claim in the order of the script.
func (k keyspace) of(c *claim) []string {
	keys := make([]string, 0, 2+len(c.keys)+len(c.tenants))
	keys = append(keys, k.budget(c.account, c.budget), k.account(c.account))
	for _, id := range c.keys {
		keys = append(keys, k.key(c.account, id))
	}
	for i := range c.tenants {
		keys = append(keys, k.tenant(c.account, c.budget, c.tenants[i].name))
	}
	return keys
}

// Names longer than maxName are cut and told apart by a hash.
const maxName = 120

// escape writes a name in letters, digits and "-._@", and everything else as
// %xx, so that braces, blanks, control characters and unicode can neither
// break the hash tag nor make two names meet. ~ marks the hash of a long name;
// no short one contains it.
func escape(name string) string {
	plain := true
	for i := range len(name) {
		plain = plain && plainByte(name[i])
	}
	if plain && len(name) > 0 && len(name) <= maxName {
		return name
	}
	if name == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(name) {
		if b.Len() > maxName {
			sum := sha256.Sum256([]byte(name))
			return b.String()[:maxName/2] + "~" + hex.EncodeToString(sum[:16])
		}
		if c := name[i]; plainByte(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() > maxName {
		sum := sha256.Sum256([]byte(name))
		return b.String()[:maxName/2] + "~" + hex.EncodeToString(sum[:16])
	}
	return b.String()
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '@'
}
