package throttle

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/internal/redistest"
)

// edgeNumbers are around every change of width, both ways.
func edgeNumbers() []float64 {
	ns := []float64{0, maxWait, costCap, levelFloor, 1.7e15, MaxAmount}
	for bits := range 54 {
		for d := -1.0; d <= 1; d++ {
			if n := math.Ldexp(1, bits) + d; n <= 1<<53 {
				ns = append(ns, n, 0-n) // there is no -0 on the wire
			}
		}
	}
	return ns
}

func edgeStrings() []string {
	ss := []string{"", "a", "\x00\xff", "模型"}
	for _, n := range []int{15, 16, 31, 32, 255, 256, 65_535, 65_536} {
		ss = append(ss, strings.Repeat("s", n))
	}
	return ss
}

func TestNumbersComeBackAsTheyWent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	ns := edgeNumbers()
	for range 10_000 {
		ns = append(ns, math.Trunc(math.Ldexp(rnd.Float64()*2-1, rnd.IntN(54))))
	}
	var p packer
	p.nums(ns)
	u := unpacker{buf: p.buf}
	for _, want := range ns {
		if got := u.num(); got != want || u.err != nil {
			t.Fatalf("%.0f came back as %.0f, %v", want, got, u.err)
		}
	}
	if len(u.buf) != 0 {
		t.Errorf("%d bytes left", len(u.buf))
	}
}

func TestStringsAndArraysComeBackAsTheyWent(t *testing.T) {
	for _, want := range edgeStrings() {
		var p packer
		p.str(want)
		u := unpacker{buf: p.buf}
		if got := u.str(); got != want || u.err != nil || len(u.buf) != 0 {
			t.Errorf("a string of %d bytes came back with %d, %v", len(want), len(got), u.err)
		}
	}
	for _, want := range []int{0, 1, 15, 16, 17, 65_535, 65_536, 100_000} {
		var p packer
		p.array(want)
		u := unpacker{buf: append(p.buf, make([]byte, want)...)}
		if got := u.array(); got != want || u.err != nil || len(u.buf) != want {
			t.Errorf("an array of %d came back with %d, %v", want, got, u.err)
		}
	}
}

// Redis says in its own words what it has read, so that two wrongs of packer
// and unpacker can't make a right.
func TestRedisReadsWhatPackerWrites(t *testing.T) {
	const script = `local out = {}
for i, v in ipairs(cmsgpack.unpack(ARGV[1])) do
  out[i] = type(v) == 'number' and string.format('%.0f', v) or 's' .. v
end
return out`
	ns, ss := edgeNumbers(), edgeStrings()
	var p packer
	p.array(len(ns) + len(ss))
	p.nums(ns)
	for _, s := range ss {
		p.str(s)
	}
	got, err := redistest.Shared(t).Client(t).Eval(context.Background(), script, nil, p.buf).StringSlice()
	if err != nil || len(got) != len(ns)+len(ss) {
		t.Fatalf("%d values, %v", len(got), err)
	}
	for i, n := range ns {
		want := fmt.Sprintf("%.0f", n)
		if got[i] != want {
			t.Errorf("Redis read %s as %s", want, got[i])
		}
	}
	for i, s := range ss {
		if got[len(ns)+i] != "s"+s {
			t.Errorf("Redis read a string of %d bytes as one of %d", len(s), len(got[len(ns)+i])-1)
		}
	}
}

func TestUnpackerReadsWhatRedisWrites(t *testing.T) {
	const script = `local out = {}
for i, v in ipairs(ARGV) do out[i] = tonumber(v) or string.sub(v, 2) end
return cmsgpack.pack(out)`
	ns, ss := edgeNumbers(), edgeStrings()
	var args []any
	for _, n := range ns {
		args = append(args, fmt.Sprintf("%.0f", n))
	}
	for _, s := range ss {
		args = append(args, "s"+s)
	}
	raw, err := redistest.Shared(t).Client(t).Eval(context.Background(), script, nil, args...).Text()
	if err != nil {
		t.Fatal(err)
	}
	u := unpacker{buf: []byte(raw)}
	if n := u.array(); n != len(args) {
		t.Fatalf("an array of %d, want %d", n, len(args))
	}
	for _, want := range ns {
		if got := u.num(); got != want {
			t.Fatalf("Redis wrote %.0f, read as %.0f, %v", want, got, u.err)
		}
	}
	for _, want := range ss {
		if got := u.str(); got != want {
			t.Fatalf("a string of %d bytes was read with %d, %v", len(want), len(got), u.err)
		}
	}
	if u.err != nil || len(u.buf) != 0 {
		t.Errorf("%v, %d bytes left", u.err, len(u.buf))
	}
}

// Anything but whole numbers, strings and arrays is refused, and so is a size
// that the rest of the buffer can't have.
func TestUnpackerRefusesWhatItDoesntKnow(t *testing.T) {
	for name, raw := range map[string]string{
		"nil": "\xc0", "true": "\xc3", "double": "\xcb\x40\x09\x21\xfb\x54\x44\x2d\x18", "float": "\xca\x40\x09\x21\xfb", "map": "\x81\x01\x01",
		"empty": "", "cut number": "\xd3\x00\x00", "cut tag": "\xcd", "extension": "\xd4\x01\x01",
	} {
		u := unpacker{buf: []byte(raw)}
		if n := u.num(); n != 0 || u.err == nil {
			t.Errorf("%s: %v as a number", name, n)
		}
	}
	for name, raw := range map[string]string{
		"4 G long": "\xdb\xff\xff\xff\xff", "cut": "\xa5abc", "binary, 4 G": "\xc6\xff\xff\xff\xff", "number": "\x01", "array": "\x90", "empty": "", "cut size": "\xda\x01",
	} {
		u := unpacker{buf: []byte(raw)}
		if s := u.str(); len(s) > 8 || u.err == nil {
			t.Errorf("%s: %q as a string", name, s)
		}
	}
	for name, raw := range map[string]string{
		"4 G long": "\xdd\xff\xff\xff\xff", "longer than the rest": "\xdc\x00\x03\x01\x01", "string": "\xa1a", "map": "\x80", "empty": "", "cut size": "\xdc\x01",
	} {
		u := unpacker{buf: []byte(raw)}
		if n := u.array(); n != 0 || u.err == nil {
			t.Errorf("%s: an array of %d", name, n)
		}
	}
}

// wireClaim is what the answers of these tests are about.
func wireClaim() *claim {
	return &claim{
		keys: []Fingerprint{"a", "b"}, limits: make([]spec, 3),
		runs: []run{{n: 5}, {hold: true}, {n: 1}},
	}
}

func wireAnswer() []float64 {
	return []float64{
		1.7e15, 12, 5e6, 1e6, 3, float64(Busy), 0, 0, 0, 0,
		1, 1, float64(KeyRefused), 3e8, 0, 0, 0, 0,
		40, 41, 42, aString, aString,
		float64(granted), 3, 0, 0, 0, float64(deniedRoom), 2, 2, 4, 1e6, float64(waitsPause), 1, 0, float64(lacksAccount), 7,
	}
}

// aString stands for an epoch in an answer.
const aString = 0.5

func packed(ns []float64) []byte {
	var p packer
	p.array(len(ns))
	for _, n := range ns {
		if n == aString {
			p.str("epoch")
		} else {
			p.num(n)
		}
	}
	return p.buf
}

func TestAnAnswerIsReadWhole(t *testing.T) {
	a, err := (&unpacker{buf: packed(wireAnswer())}).answer(wireClaim())
	if err != nil {
		t.Fatal(err)
	}
	want := answer{
		now: 1.7e15, leased: 12, budget: closure{5e6, 1e6, 3, Busy},
		keys: []keyView{{gen: 1, refused: true, class: KeyRefused, next: 3e8}, {}},
		used: []float64{40, 41, 42}, epochs: [2]string{"epoch", "epoch"},
		outcomes: [][]outcome{
			{{code: granted, n: 3}, {code: deniedRoom, n: 2, limit: 2, lacks: 4, wait: 1e6}},
			nil,
			{{code: waitsPause, n: 1, lacks: lacksAccount, wait: 7}},
		},
	}
	if !equalAnswers(a, want) {
		t.Errorf("%+v, want %+v", a, want)
	}
}

func TestAnAnswerThatIsNotTheClaimsIsRefused(t *testing.T) {
	good := wireAnswer()
	refused := func(name string, buf []byte) {
		t.Helper()
		if a, err := (&unpacker{buf: buf}).answer(wireClaim()); err == nil {
			t.Errorf("%s: read as %+v", name, a)
		}
	}
	raw := packed(good)
	for n := range raw {
		refused(fmt.Sprintf("cut to %d bytes", n), raw[:n])
	}
	for n := range good {
		refused(fmt.Sprintf("%d numbers", n), packed(good[:n]))
	}
	refused("a number too many", packed(append(slices.Clone(good), 0)))
	refused("a byte too many", append(slices.Clone(raw), 0))
	change := func(i int, to float64) []byte {
		ns := slices.Clone(good)
		ns[i] = to
		return packed(ns)
	}
	const n, limit = 24, 30 // the first outcome's, the second's
	refused("more calls than the run has", change(n, 6))
	refused("no calls", change(n, 0))
	refused("negative calls", change(n, -1))
	refused("2^53 calls", change(n, 1<<53))
	refused("fewer calls than the run has", change(n, 1))
	// Likewise where the sizes agree, so that nothing else gives them away.
	refused("an outcome of no calls", packed(slices.Insert(slices.Clone(good), n-1, 0, 0, 0, 0, 0)))
	refused("one outcome of more calls than the run has", packed(append(slices.Clone(good[:n-1]), 0, 6, 0, 0, 0, 3, 1, 0, 0, 7)))
	header := packed(make([]float64, len(good)+1))[:5]
	refused("a size above what follows", append(header, raw[5:]...))
	refused("a limit that the claim hasn't", change(limit, 4))
	refused("a negative limit", change(limit, -1))
	refused("a string", bytes.Replace(raw, []byte{0x03}, []byte{0xa0}, 1))
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(wireAnswer()))
	f.Add([]byte("\xdd\xff\xff\xff\xff\x00"))
	f.Add([]byte("\xdb\xff\xff\xff\xff"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := wireClaim()
		if a, err := (&unpacker{buf: raw}).answer(c); err == nil {
			for i, outs := range a.outcomes {
				sum := 0
				for _, o := range outs {
					sum += o.n
				}
				if sum != c.runs[i].n || len(outs) > sum {
					t.Fatalf("run %d of %d calls has the outcomes %+v", i, c.runs[i].n, outs)
				}
			}
		}
		_, _ = (&unpacker{buf: raw}).notice()
		for u := (unpacker{buf: raw}); u.err == nil; {
			left := len(u.buf)
			if s := u.str(); len(s) > max(left, 8) {
				t.Fatalf("%d bytes out of %d", len(s), left)
			}
		}
		for u := (unpacker{buf: raw}); u.err == nil; {
			if n := u.array(); n > max(len(raw), 15) {
				t.Fatalf("an array of %d in %d bytes", n, len(raw))
			}
			u.num()
		}
	})
}

func TestAnOutcomeOutOfRangeIsRefused(t *testing.T) {
	const code, limit = 23, 30
	for name, change := range map[string]func([]float64){
		"the limit after the last": func(ns []float64) { ns[limit] = 3 },
		"a code of the future":     func(ns []float64) { ns[code] = 9 },
		"a negative code":          func(ns []float64) { ns[code] = -1 },
	} {
		ns := wireAnswer()
		change(ns)
		if a, err := (&unpacker{buf: packed(ns)}).answer(wireClaim()); err == nil {
			t.Errorf("%s: read as %+v", name, a.outcomes)
		}
	}
}
