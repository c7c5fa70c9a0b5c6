package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
)

// Two gateways, as their flags make them, share a budget in Redis, and close when
// they are asked to.
func TestTwoGatewaysShareABudget(t *testing.T) {
	server := redistest.Start(t)
	vendor := startVendor(t)
	file := writeBudgets(t, `[{"models": ["gpt-4o*"], "rpm": 2}]`)
	var gateways []string
	for range 2 {
		gateways = append(gateways, runGateway(t, "-to", vendor.URL, "-budgets", file, "-redis", server.Addr))
	}
	for i, want := range []int{200, 200, 429, 429} {
		if a := ask(t, gateways[i%2]); a.status != want {
			t.Errorf("call %d: %d %s, want %d", i, a.status, a.body, want)
		}
	}
	if n := len(vendor.requests()); n != 2 {
		t.Errorf("the vendor got %d requests, want 2", n)
	}
}

// runGateway returns the address of a gateway, which has to end well.
func runGateway(t *testing.T, args ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, append([]string{"-listen", addr}, args...)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return "http://" + addr
		}
		if time.Now().After(deadline) {
			t.Fatal("the gateway doesn't listen")
		}
	}
}

// The README's budgets are what the program reads.
func TestTheReadmesBudgetsCanBeRead(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "`budgets.json` is `")
	text, _, found := strings.Cut(rest, "`")
	if !found {
		t.Fatal("the README doesn't say what budgets.json is")
	}
	budgets, err := readBudgets(writeBudgets(t, text))
	if err != nil || len(budgets) != 1 || len(budgets[0].Limits) != 2 || budgets[0].Tenants.Share == 0 {
		t.Errorf("%s: %+v, %v", text, budgets, err)
	}
	if _, err := readBudgets(writeBudgets(t, text+text)); err == nil {
		t.Error("of two lists the second is ignored")
	}
}

func writeBudgets(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "budgets.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWrongFlags(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel() // what is taken for right ends at once
	to := []string{"-to", "http://127.0.0.1:1", "-listen", "127.0.0.1:0"}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"-to", nil},
		{"-to", []string{"-to", "api.openai.com"}},
		{"-vendor", append(to, "-vendor", "nonesuch")},
		{"-budgets", append(to, "-budgets", filepath.Join(t.TempDir(), "none.json"))},
		{"-budgets", append(to, "-budgets", writeBudgets(t, `[{"models":["*"],"rpmm":1}]`))},
		{"Amount", append(to, "-budgets", writeBudgets(t, `[{"models":["*"],"rpm":-1}]`))},
		{"Models", append(to, "-budgets", writeBudgets(t, `[{"rpm":1}]`))},
	} {
		if err := run(ended, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want an error about %s", c.args, err, c.want)
		}
	}
}

func TestTheFileSaysTheLimits(t *testing.T) {
	budgets, err := readBudgets(writeBudgets(t, `[{"models":["a*","b"],"rpm":3,"tpm":50,"tenantShare":0.25},{"models":["*"]}]`))
	if err != nil || len(budgets) != 2 {
		t.Fatal(budgets, err)
	}
	b := budgets[0]
	if len(b.Models) != 2 || len(b.Limits) != 2 || b.Limits[0].Amount != 3 || b.Limits[1].Amount != 50 || b.Tenants.Share != 0.25 {
		t.Errorf("got %+v", b)
	}
	if len(budgets[1].Limits) != 0 {
		t.Errorf("got %+v", budgets[1])
	}
}
