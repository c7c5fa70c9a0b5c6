// Command chat asks a model some questions with OpenAI's SDK, through headgate,
// and shows what each call was charged: its estimate while it runs, and in
// the end the usage that the vendor reports.
//
//	go run -C examples/chat .
//
// The vendor is a small one on the loopback interface. If OPENAI_API_KEY is
// set it is OpenAI, and the questions cost what they cost.
//
// It exits with 1 if a figure is wrong, and with 2 if it can't run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/openai/openai-go/v3"
)

var questions = []string{
	"Say hello in five words or fewer.",
	"Name three prime numbers.",
	"In one short sentence: what is a token bucket?",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	key := os.Getenv("OPENAI_API_KEY")
	wrong, err := run(ctx, os.Stdout, key)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "chat:", plain(err, key))
		os.Exit(2)
	case wrong > 0:
		os.Exit(1)
	}
}

// run asks the questions, of OpenAI if there is a key, and returns how many
// figures are wrong.
func run(ctx context.Context, out io.Writer, key string) (wrong int, err error) {
	if key != "" {
		return ask(ctx, out, openAI(key))
	}
	v := startVendor()
	defer v.Close()
	return ask(ctx, out, v.place())
}

func ask(ctx context.Context, out io.Writer, at place) (wrong int, err error) {
	d, err := newDesk(at)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	fmt.Fprintf(out, "%s at %s, with %d tokens a day\n", model, at.name, at.budget)
	estimates := int64(0)
	for _, q := range questions {
		b, err := d.ask(ctx, q)
		if err != nil {
			return wrong, err
		}
		b.print(out, q)
		wrong += b.wrong()
		estimates += b.estimate
	}
	fmt.Fprintf(out, "\nestimated %d tokens in all, used %d\n", estimates, d.charged())
	return wrong, nil
}

// plain is an error's text without the key. Of a vendor's answer it is the
// status and the code: texts of refused keys show a part of the key.
func plain(err error, key string) string {
	var answer *openai.Error
	if errors.As(err, &answer) {
		return fmt.Sprintf("the vendor answered %d %s", answer.StatusCode, answer.Code)
	}
	if key == "" {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), key, "…")
}
