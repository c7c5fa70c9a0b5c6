package faultproxy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate/internal/redistest"
)

func TestLostReplyOfACommandThatWasCarriedOut(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p, key := New(t, s.Addr), uuid.NewString()
	k := talk(t, p)
	lost := p.LoseReplies(2, key)
	k.say("PING")
	k.say("INCR", key)
	k.say("ECHO", "between")
	k.say("INCR", key)
	k.say("INCR", key)
	k.hears("+PONG\r\n")
	k.hears("$7\r\nbetween\r\n")
	k.hears(":3\r\n")
	<-lost.Done()
	if n := lost.Hits(); n != 2 {
		t.Errorf("%d hits, want 2", n)
	}
	if got := p.Stats().Swallowed; got != int64(len(":1\r\n:2\r\n")) {
		t.Errorf("%d bytes swallowed", got)
	}
	k.check()
}

func TestLostReplyOfAScript(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p, key := New(t, s.Addr), uuid.NewString()
	c := redis.NewClient(&redis.Options{Addr: p.Addr, MaxRetries: -1})
	defer c.Close()
	script := redis.NewScript("return redis.call('INCR', KEYS[1])")
	if err := script.Load(t.Context(), c).Err(); err != nil {
		t.Fatal(err)
	}
	lost := p.LoseReplies(1, "evalsha")
	impatient := c.WithTimeout(100 * time.Millisecond)
	if err := script.EvalSha(t.Context(), impatient, []string{key}).Err(); err == nil {
		t.Error("the reply arrived")
	}
	<-lost.Done()
	if n, err := script.EvalSha(t.Context(), c, []string{key}).Int(); n != 2 || err != nil {
		t.Errorf("the second run counts %d, error %v, want 2", n, err)
	}
}

func TestCutAfterTheCommandWasCarriedOut(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p, key := New(t, s.Addr), uuid.NewString()
	k, bystander := talk(t, p), talk(t, p)
	bystander.check()
	cut := p.CutReplies(1, key)
	k.say("INCR", key)
	k.hearsTheEnd()
	<-cut.Done()
	if got := stored(t, s, key); got != "1" {
		t.Errorf("stored %q, want 1", got)
	}
	bystander.check()
}

func TestCutBeforeTheCommandArrives(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p, key := New(t, s.Addr), uuid.NewString()
	k := talk(t, p)
	cut := p.CutRequests(1, key)
	k.say("SET", "before", "1")
	k.say("INCR", key)
	k.hearsTheEndAfter("+OK\r\n")
	<-cut.Done()
	if got := stored(t, s, key); got != "" {
		t.Errorf("stored %q, want nothing", got)
	}
	talk(t, p).say("INCR", key) // the next one passes
	eventually(t, "the next one passes", func() bool { return stored(t, s, key) == "1" })
}

func TestFaultsStrikeOldestFirstAndEndWithPass(t *testing.T) {
	t.Parallel()
	p := New(t, redistest.Shared(t).Addr)
	k := talk(t, p)
	first, second := p.LoseReplies(1, "PING"), p.LoseReplies(5, "")
	k.say("PING")
	<-first.Done()
	if n := second.Hits(); n != 0 {
		t.Errorf("the younger fault struck %d times", n)
	}
	k.say("ECHO", "gone")
	eventually(t, "the younger fault strikes", func() bool { return second.Hits() == 1 })
	p.Pass()
	k.check()
	select {
	case <-second.Done():
		t.Error("a fault that Pass ended is done")
	default:
	}
	<-p.LoseReplies(0, "").Done()
	k.check()
}

func TestPushesAreNoReplies(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p, key := New(t, s.Addr), uuid.NewString()
	k := talk(t, p)
	k.say("HELLO", "3")
	if got, err := readValue(k.r); err != nil || got[0] != '%' {
		t.Fatalf("the greeting is %q, error %v", got, err)
	}
	k.say("CLIENT", "TRACKING", "ON")
	k.hears("+OK\r\n")
	k.say("GET", key)
	k.hears("_\r\n")
	// The push comes between a command and its reply.
	list := uuid.NewString()
	lost := p.LoseReplies(1, list)
	passed := p.Stats().ToTarget + int64(k.say("BLPOP", list, "0"))
	eventually(t, "command passed", func() bool { return p.Stats().ToTarget == passed })
	if err := s.Client(t).Set(t.Context(), key, 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	k.hears(">2\r\n$10\r\ninvalidate\r\n*1\r\n$36\r\n" + key + "\r\n")
	s.Client(t).RPush(t.Context(), list, "x")
	<-lost.Done()
	k.check()
}

func TestSubscribersHearEverything(t *testing.T) {
	t.Parallel()
	s := redistest.Shared(t)
	p := New(t, s.Addr)
	k := talk(t, p)
	k.say("SUBSCRIBE", "faultproxy")
	if got, err := readValue(k.r); err != nil || !strings.Contains(string(got), "subscribe") {
		t.Fatalf("heard %q, error %v", got, err)
	}
	lost := p.LoseReplies(1, "")
	k.say("PING")
	k.hears("*2\r\n$4\r\npong\r\n$0\r\n\r\n")
	s.Client(t).Publish(t.Context(), "faultproxy", "x")
	k.hears("*3\r\n$7\r\nmessage\r\n$10\r\nfaultproxy\r\n$1\r\nx\r\n")
	if n := lost.Hits(); n != 0 {
		t.Errorf("%d hits on a subscriber, want none", n)
	}
}
