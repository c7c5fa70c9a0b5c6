package child

import (
	"os"
	"os/exec"
	"testing"
)

// TestMain is also the child: it ends as its variable says.
func TestMain(m *testing.M) {
	switch os.Getenv("CHILD") {
	case "fails":
		os.Exit(3)
	case "stays":
		select {}
	}
	os.Exit(m.Run())
}

func start(t *testing.T, how string) *Child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CHILD="+how)
	c, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAChildSaysHowItEnded(t *testing.T) {
	c := start(t, "fails")
	<-c.Exited()
	if exit, ok := c.Err().(*exec.ExitError); !ok || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v, want status 3", c.Err())
	}
	if err := c.Kill(); err == nil {
		t.Error("a process that is gone was killed")
	}
}

func TestAKilledChildIsReaped(t *testing.T) {
	c := start(t, "stays")
	if c.PID() <= 0 {
		t.Errorf("PID %d", c.PID())
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err == nil {
		t.Error("it ended with status 0")
	}
}

func TestACommandThatIsNoneIsAnError(t *testing.T) {
	if _, err := Start(exec.Command("/nowhere/at/all")); err == nil {
		t.Error("it was started")
	}
}
