// Command sms sends messages with Twilio's SDK, through headgate, as fast as
// one account's limits allow: a pace, and how many requests run at once. It shows
// how far apart they reached the vendor, and how many it worked on at once.
//
//	go run -C examples/sms .
//
// The vendor is a small one on the loopback interface; nothing is sent to
// anybody. It exits with 1 if a rule doesn't hold, and with 2 if it can't run.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

const (
	messages = 60
	senders  = 15 // at once
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	broken, err := run(ctx, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "sms:", err)
		os.Exit(2)
	case broken > 0:
		os.Exit(1)
	}
}

// run sends the messages and returns how many rules don't hold.
func run(ctx context.Context, out io.Writer) (broken int, err error) {
	v := startVendor()
	defer v.Close()
	s, err := newSender(v)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	fmt.Fprintf(out, "%d messages from %d senders at once, at %d a second and %d in flight; the vendor takes %v for one, and %v for a third of them\n\n",
		messages, senders, perSecond, inFlight, quick, slow)
	if err := s.sendAll(ctx, messages, senders); err != nil {
		return 0, err
	}
	r := v.report()
	r.print(out)
	return r.broken(), nil
}
