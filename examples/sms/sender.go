package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/twilio/twilio-go/client"
	// The same Api as in twilio.RestClient, which has a package for each of
	// Twilio's products and takes minutes to compile.
	api "github.com/twilio/twilio-go/rest/api/v2010"
	"golang.org/x/sync/errgroup"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

const (
	perSecond = 20
	inFlight  = 10
)

// limits are the account's, all of its senders together: one message every
// 50 ms, and Twilio's own kind of limit, how many requests run at once.
func limits() []throttle.Limit {
	return append(dialect.TwilioLimits(inFlight),
		throttle.Requests(perSecond, time.Second).Using(throttle.GCRA).WithBurst(1))
}

// A sender sends through a throttle.
type sender struct {
	throttle *throttle.Throttle
	http     *http.Client
	api      *api.ApiService
}

func newSender(v *vendor) (*sender, error) {
	th, err := throttle.New(throttle.Config{Account: limits()})
	if err != nil {
		return nil, err
	}
	hc := &http.Client{
		Transport: headgate.NewTransport(th, dialect.Twilio, headgate.WithBase(v.base())),
		Timeout:   15 * time.Second, // waiting for the pace counts
	}
	twilio := &client.Client{Credentials: client.NewCredentials(accountSID, "token"), HTTPClient: hc}
	twilio.SetAccountSid(accountSID)
	return &sender{throttle: th, http: hc, api: api.NewApiServiceWithClient(twilio)}, nil
}

func (s *sender) Close() error {
	s.http.CloseIdleConnections()
	return s.throttle.Close()
}

// sendAll sends n messages, atOnce at a time. Each waits for its turn, and for
// another to end, within the SDK's call.
func (s *sender) sendAll(ctx context.Context, n, atOnce int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err() // the SDK takes no context
			}
			_, err := s.api.CreateMessage((&api.CreateMessageParams{}).
				SetFrom("+15550100").SetTo(fmt.Sprintf("+1555019%02d", i%100)).SetBody("Your table is ready."))
			return err
		})
	}
	return g.Wait()
}
