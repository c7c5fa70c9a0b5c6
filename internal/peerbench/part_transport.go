package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
)

const (
	bare   = "bare client"
	events = 10_000
)

// transport: what the transport adds to a request over a base that answers
// from memory, leased, so that Redis has no part in it.
func transport(b *bench) {
	b.requests()
	b.scanning()
	b.streaming()
}

// wrapped is a client whose requests pass headgate's transport.
func (b *bench) wrapped(base http.RoundTripper, prefix string) *http.Client {
	t := b.throttle(onLease(b.inRedis(limited("m"), prefix)))
	return &http.Client{Transport: headgate.NewTransport(t, dialect.OpenAI, headgate.WithBase(base))}
}

func (b *bench) requests() {
	base, text := chatStub(), prompt(1<<10)
	limit := ratelimiter.NewBursty[*http.Response](plenty, time.Second)
	retrying := retryablehttp.NewClient()
	retrying.Logger, retrying.HTTPClient = nil, &http.Client{Transport: base}
	o := b.hold(contest{name: "transport, 1 KB", workers: 1, of: []contestant{
		{bare, asking(&http.Client{Transport: base}, text, drain)},
		{alone, asking(b.wrapped(base, "http"), text, drain)},
		{"failsafehttp", asking(&http.Client{Transport: failsafehttp.NewRoundTripper(base, limit)}, text, drain)},
		{"go-retryablehttp", asking(retrying.StandardClient(), text, drain)},
	}})
	b.atMost("transport", "1 KB request: time against the bare client", o.slower(alone, bare), 2.5, "x",
		fmt.Sprintf("wanted: 2.0x; %.4f round trips", o.scripts(alone)))
	b.atMost("transport", "1 KB request: allocations added", o.allocs(alone)-o.allocs(bare), 10, "", "wanted: 8")
}

// asking is the job of sending a chat request and reading its answer.
func asking(c *http.Client, text string, read func(io.Reader) error) job {
	return func(int) error {
		r, err := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(text))
		if err != nil {
			return err
		}
		r.Header["Content-Type"] = []string{"application/json"}
		r.Header["Authorization"] = []string{"Bearer sk-bench"}
		resp, err := c.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return read(resp.Body)
	}
}

// scanning: reading the model and the estimate out of a large prompt.
func (b *bench) scanning() {
	text := prompt(1 << 20)
	r, err := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(text))
	b.must(err)
	r.Header["Content-Type"] = []string{"application/json"}
	r.Header["Authorization"] = []string{"Bearer sk-bench"}
	data := []byte(text)
	o := b.hold(contest{name: "scan, 1 MB", workers: 1, of: []contestant{
		{"bytes.IndexByte", func(int) error {
			if i := bytes.IndexByte(data, 0); i >= 0 {
				return fmt.Errorf("a zero byte at %d", i)
			}
			return nil
		}},
		{alone, func(int) error {
			asked, err := dialect.Read(dialect.OpenAI, r)
			if err == nil && asked.Model != "m" {
				err = fmt.Errorf("the model is read as %q", asked.Model)
			}
			return err
		}},
	}})
	b.atMost("transport", "1 MB prompt: scan against one pass of bytes.IndexByte", o.slower(alone, "bytes.IndexByte"), 3, "x",
		fmt.Sprintf("%.2f GB/s", float64(len(text))/median(o.times(alone))))
}

// streaming: an answer of many events, read line by line as SDKs do.
func (b *bench) streaming() {
	base, text := streamStub(events), prompt(1<<10)
	client, wrapped := &http.Client{Transport: base}, b.wrapped(base, "stream")
	o := b.hold(contest{name: "stream, 10 000 events", workers: 1, of: []contestant{
		{bare, asking(client, text, readLines)},
		{alone, asking(wrapped, text, readLines)},
	}})
	raw := b.hold(contest{name: "stream in pieces", workers: 1, of: []contestant{
		{bare, asking(client, text, drain)},
		{alone, asking(wrapped, text, drain)},
	}})
	per := (median(o.times(alone)) - median(o.times(bare))) / events
	b.atMost("transport", "10 000 events: time against reading them bare", o.slower(alone, bare), 1.3, "x",
		fmt.Sprintf("read by lines; %.0f ns more an event; %.2fx where nobody looks at them", per, raw.slower(alone, bare)))
	b.atMost("transport", "10 000 events: allocations added per event", (o.allocs(alone)-o.allocs(bare))/events, 0.05, "", "none, but for what a request costs and claims of leases beside it")
}

// readLines takes an answer apart into lines.
func readLines(r io.Reader) error {
	lines, data := bufio.NewScanner(r), 0
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte("data: ")) {
			data++
		}
	}
	if lines.Err() == nil && data != events+1 {
		return fmt.Errorf("%d events were read", data)
	}
	return lines.Err()
}
