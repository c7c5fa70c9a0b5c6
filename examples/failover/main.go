// Command failover shows live calls that find no room: a backup model of the same
// vendor answers them and, where that has none either, another vendor does.
//
//	go run ./examples/failover
//
// Both vendors run on the loopback interface, and count for themselves. It exits
// with 1 if an answer doesn't come from where it should, or a vendor had to refuse.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

const (
	model  = "gpt-4o"
	backup = "gpt-4o-mini"
	other  = "claude-haiku-4-5"
)

// rpm is what each model may do in a minute, at its vendor and by its budget.
const rpm = 2

func main() {
	wrong, err := run(context.Background(), os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(2)
	case wrong > 0:
		os.Exit(1)
	}
}

// run asks seven questions, and returns how many figures are wrong.
func run(ctx context.Context, out io.Writer) (wrong int, err error) {
	openAI, anthropic := startVendor(), startVendor()
	defer openAI.Close()
	defer anthropic.Close()
	th, err := throttle.New(throttle.Config{Budgets: []throttle.Budget{{
		Models: []string{model, backup, other}, PerModel: true,
		Limits: []throttle.Limit{throttle.Requests(rpm, time.Minute)},
	}}, Logger: slog.New(slog.DiscardHandler)}) // what it would log is printed
	if err != nil {
		return 0, err
	}
	defer th.Close()
	d := newDesk(th, openAI.URL, anthropic.URL)

	fmt.Fprintf(out, "%d calls a minute for each model; a live call may wait for 5s\n\n", rpm)
	for i, want := range []string{model, model, backup, backup, other, other, ""} {
		began := time.Now()
		got, err := d.ask(ctx, fmt.Sprintf("Question %d?", i+1))
		var denied *throttle.DeniedError
		switch {
		case errors.As(err, &denied):
			fmt.Fprintf(out, "  question %d  denied: %q has room in %v", i+1, denied.Model, denied.RetryAfter.Round(time.Second))
		case err != nil:
			return 0, err
		default:
			fmt.Fprintf(out, "  question %d  answered by %s", i+1, got)
		}
		fmt.Fprintf(out, ", after %v%s\n", time.Since(began).Round(time.Millisecond), mark(got == want, &wrong))
	}

	fmt.Fprintln(out)
	for _, c := range []struct {
		at    *vendor
		model string
	}{{openAI, model}, {openAI, backup}, {anthropic, other}} {
		served, refused := c.at.count(c.model)
		fmt.Fprintf(out, "  %-16s  answered %d, refused %d%s\n", c.model, served, refused, mark(served == rpm && refused == 0, &wrong))
	}
	return wrong, nil
}

// mark says whether a figure is right, and counts it if it isn't.
func mark(right bool, wrong *int) string {
	if right {
		return "  ok"
	}
	*wrong++
	return "  WRONG"
}
