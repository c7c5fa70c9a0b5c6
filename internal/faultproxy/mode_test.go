package faultproxy

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/headgate-go/headgate/internal/redistest"
)

func TestPassPassesAndCounts(t *testing.T) {
	t.Parallel()
	p := New(t, redistest.Shared(t).Addr)
	k := talk(t, p)
	k.check()
	big := strings.Repeat("x", 1<<20)
	sent := k.say("ECHO", big)
	k.hears("$1048576\r\n" + big + "\r\n")
	want := Stats{
		Accepted: 1, Open: 1,
		ToTarget: int64(len(command("PING")) + sent),
		ToClient: int64(len("+PONG\r\n$1048576\r\n\r\n") + len(big)),
	}
	eventually(t, "everything counted", func() bool { return p.Stats() == want })
	_ = k.conn.Close()
	eventually(t, "connection closed", func() bool { return p.Stats().Open == 0 })
}

func TestDelay(t *testing.T) {
	t.Parallel()
	const d = 100 * time.Millisecond
	for name, dir := range map[string]Direction{"commands": ToTarget, "replies": ToClient, "both": Both} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := New(t, redistest.Shared(t).Addr)
			k := talk(t, p)
			k.check()
			p.Delay(dir, d)
			least := d
			if dir == Both {
				least = 2 * d
			}
			began := time.Now()
			const pings = 100 // side by side, so late together
			for range pings {
				k.say("PING")
			}
			for range pings {
				k.hears("+PONG\r\n")
			}
			if took := time.Since(began); took < least || took > pings/4*d {
				t.Errorf("took %v, want %v", took, least)
			}
			p.Delay(dir, 0)
			k.check()
		})
	}
}

func TestPassReleasesWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	p := New(t, redistest.Shared(t).Addr)
	k := talk(t, p)
	p.Delay(ToClient, time.Hour)
	sent := k.say("PING")
	eventually(t, "command passed", func() bool { return p.Stats().ToTarget == int64(sent) })
	p.Pass()
	k.hears("+PONG\r\n")
}

func TestCommandOfAClientThatHasLeftIsCarriedOut(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p, key := New(t, s.Addr), uuid.NewString()
	k := talk(t, p)
	p.Delay(ToTarget, 50*time.Millisecond)
	k.say("SET", key, "1")
	_ = k.conn.Close()
	eventually(t, "command carried out", func() bool { return stored(t, s, key) == "1" })
	eventually(t, "connection closed", func() bool { return p.Stats().Open == 0 })
}

func TestClientWithNoMoreToSayHearsTheReply(t *testing.T) {
	t.Parallel()
	p := New(t, parrot(t))
	k := talk(t, p)
	p.Delay(Both, 20*time.Millisecond)
	k.say("PING")
	if err := k.conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	k.hears(string(command("PING")))
	k.hearsTheEnd()
}

func TestBlackHole(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p, key := New(t, s.Addr), uuid.NewString()
	old := talk(t, p)
	old.check()
	p.BlackHole()
	young := talk(t, p)
	sent := old.say("INCR", key) + young.say("INCR", key)
	eventually(t, "commands swallowed", func() bool { return p.Stats().Swallowed == int64(sent) })
	if n := p.Stats().Open; n != 2 {
		t.Errorf("%d connections open, want 2", n)
	}
	p.Pass()
	old.check() // the connections live on, what was swallowed is lost
	young.check()
	if got := stored(t, s, key); got != "" {
		t.Errorf("stored %q, want nothing", got)
	}
}

func TestBlackHoleSwallowsRepliesToo(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := New(t, s.Addr)
	k := talk(t, p)
	k.check()
	s.Pause(t)
	passed := p.Stats().ToTarget + int64(k.say("INCR", "under-way"))
	eventually(t, "command passed", func() bool { return p.Stats().ToTarget == passed })
	p.BlackHole()
	s.Continue(t)
	eventually(t, "reply swallowed", func() bool { return p.Stats().Swallowed == int64(len(":1\r\n")) })
	p.Pass()
	k.check()
	if got := stored(t, s, "under-way"); got != "1" {
		t.Errorf("stored %q, want 1", got)
	}
}

func TestTargetThatDiesInABlackHoleIsNoticedLater(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := New(t, s.Addr)
	k := talk(t, p)
	k.check()
	p.BlackHole()
	s.Stop(t)
	sent := k.say("PING")
	eventually(t, "command swallowed", func() bool { return p.Stats().Swallowed == int64(sent) })
	p.Pass()
	k.hearsTheEnd()
	talk(t, p).hearsTheEndAfterSaying("PING")
	s.Restart(t)
	talk(t, p).check()
}

func TestRefuseNew(t *testing.T) {
	t.Parallel()
	p := New(t, redistest.Shared(t).Addr)
	k := talk(t, p)
	k.check()
	p.RefuseNew()
	if c, err := net.Dial("tcp", p.Addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialled %v, error %v, want %v", c, err, syscall.ECONNREFUSED)
	}
	k.check()
	p.RefuseNew() // twice is no harm
	p.Pass()
	p.Pass()
	talk(t, p).check()
}

func TestCutAll(t *testing.T) {
	t.Parallel()
	p := New(t, redistest.Shared(t).Addr)
	a, b := talk(t, p), talk(t, p)
	a.check()
	b.check()
	p.Delay(Both, time.Hour)
	a.say("PING")
	if n := p.CutAll(); n != 2 {
		t.Errorf("%d connections cut, want 2", n)
	}
	a.hearsTheEnd()
	b.hearsTheEnd()
	p.Pass()
	talk(t, p).check()
}

func TestOtherProtocolsPass(t *testing.T) {
	t.Parallel()
	p := New(t, parrot(t))
	for _, s := range []string{"\x16\x03\x01 no line end", "GET / HTTP/1.1\r\n\r\n", "*2\r\n$1\r\nx\r\n oops", "PING\r\n"} {
		k := talk(t, p)
		if _, err := io.WriteString(k.conn, s); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(s))
		if _, err := io.ReadFull(k.r, got); err != nil || string(got) != s {
			t.Errorf("%q came back as %q, error %v", s, got, err)
		}
	}
}

func (k *talker) hearsTheEndAfter(want string) {
	k.t.Helper()
	// A cut may overtake the reply that is under way.
	if got, err := readValue(k.r); err == nil && string(got) != want {
		k.t.Fatalf("heard %q, want %q or the end", got, want)
	}
	k.hearsTheEnd()
}

func (k *talker) hearsTheEndAfterSaying(words ...string) {
	k.t.Helper()
	k.say(words...)
	k.hearsTheEnd()
}
