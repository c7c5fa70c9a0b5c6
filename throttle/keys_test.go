package throttle

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hardNames are what models, budgets and accounts may be called.
func hardNames() []string {
	long := strings.Repeat("x", 299)
	wide := strings.Repeat("模", 100)
	return []string{
		"", "a", "A", "a}b", "a{b", "{x}", "{}", "}{", "gpt-4o", "gpt-4o:batch", "gpt-4o:b:atch", "openai/gpt-4o", "模型", "模", "a b\n", "a b",
		"a", "%", "%25", "%7d", "a%7db", "~", "*", "@a", "\x00", "a\x00b", "a\x00", "\xff", "\xff\xfe", "a:b", ":", "::", "é", "e\u0301",
		long + "a", long + "b", long, strings.Repeat("x", 120), strings.Repeat("x", 121), strings.Repeat("}", 40), strings.Repeat("}", 41),
		wide, wide + "a", wide + "b", "x" + wide,
	}
}

func checkKey(t *testing.T, key string) {
	t.Helper()
	if strings.Count(key, "{") != 1 || strings.Count(key, "}") != 1 || strings.Index(key, "{") >= strings.Index(key, "}")-1 {
		t.Errorf("%q has not just one hash tag", key)
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c >= 0x7f {
			t.Errorf("%q has the byte %#x", key, c)
		}
	}
	if len(key) > 3*maxName {
		t.Errorf("%q is %d bytes long", key, len(key))
	}
}

func TestDifferentNamesNeverMeet(t *testing.T) {
	k, err := newKeyspace("")
	if err != nil {
		t.Fatal(err)
	}
	names := hardNames()
	slices.Sort(names)
	names = slices.Compact(names)
	seen := map[string]string{}
	note := func(key, what string) {
		checkKey(t, key)
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have the key %q", what, other, key)
		}
		seen[key] = what
	}
	for _, id := range names {
		note(k.account(id), "account "+id)
		for _, name := range names {
			note(k.budget(id, name), "budget "+id+" / "+name)
			note(k.key(id, Fingerprint(name)), "key "+id+" / "+name)
		}
	}
	if len(seen) != len(names)*(1+2*len(names)) {
		t.Errorf("%d keys of %d names", len(seen), len(names))
	}
}

// Names that are cut are told apart by all of a long hash.
func TestManyLongNamesNeverMeet(t *testing.T) {
	seen := map[string]bool{}
	for i := range 20_000 {
		seen[escape(strings.Repeat("x", 300)+strconv.Itoa(i))] = true
	}
	if len(seen) != 20_000 {
		t.Errorf("20000 names have %d keys", len(seen))
	}
}

func FuzzEscape(f *testing.F) {
	names := hardNames()
	for i, a := range names {
		f.Add(a, names[(i+1)%len(names)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := escape(a), escape(b)
		if (a == b) != (x == y) {
			t.Errorf("escape(%q) = %q, escape(%q) = %q", a, x, b, y)
		}
		checkKey(t, "p:{"+x+"}:a")
		if x == "" || len(x) > maxName {
			t.Errorf("escape(%q) is %d bytes long", a, len(x))
		}
	})
}

func TestPlainNamesStayReadable(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-4o": "gpt-4o", "@team_1.x": "@team_1.x", "a}b": "a%7db", "a b\n": "a%20b%0a", "": "%",
	} {
		if got := escape(name); got != want {
			t.Errorf("escape(%q) = %q, want %q", name, got, want)
		}
	}
	if got := escape(strings.Repeat("x", maxName)); got != strings.Repeat("x", maxName) {
		t.Errorf("a name of %d bytes became %q", maxName, got)
	}
}

// hashTag is the part of a key that Redis Cluster hashes.
func hashTag(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, ok := strings.Cut(rest, "}")
	if !ok || tag == "" {
		return key
	}
	return tag
}

func TestAllKeysOfAnAccountAreInOneSlot(t *testing.T) {
	k := keyspace{"p"}
	tags := map[string]string{}
	for _, id := range hardNames() {
		want := hashTag(k.account(id))
		if other, ok := tags[want]; ok && other != id {
			t.Errorf("accounts %q and %q have the tag %q", id, other, want)
		}
		tags[want] = id
		for _, name := range hardNames() {
			c := claim{account: id, budget: name, keys: []Fingerprint{"one", Fingerprint(name)}}
			keys := k.of(&c)
			if len(keys) != 4 || keys[0] != k.budget(id, name) || keys[1] != k.account(id) || keys[2] != k.key(id, "one") || keys[3] != k.key(id, Fingerprint(name)) {
				t.Fatalf("keys of the claim: %q", keys)
			}
			for _, key := range keys {
				if got := hashTag(key); got != want {
					t.Fatalf("%q has the tag %q, others of its account %q", key, got, want)
				}
			}
		}
	}
}

func TestPrefixes(t *testing.T) {
	k, err := newKeyspace("")
	if err != nil || k.account("x") != "headgate:{x}:a" || k.live() != "headgate:live" || k.events() != "headgate:events" {
		t.Errorf("default prefix: %q, %q, %q, %v", k.account("x"), k.live(), k.events(), err)
	}
	k, err = newKeyspace("prod:eu")
	if err != nil || k.budget("x", "m") != "prod:eu:{x}:b:m" {
		t.Errorf("own prefix: %q, %v", k.budget("x", "m"), err)
	}
	for _, prefix := range []string{"{", "}", "{x}", "a{b", "a}"} {
		if _, err := newKeyspace(prefix); err == nil || !strings.Contains(err.Error(), "RedisOptions.Prefix") {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}
