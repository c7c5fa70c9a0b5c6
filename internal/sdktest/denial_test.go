package sdktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

// As docs/sdks.md advises, an SDK comes once, and errors.As finds the denial in
// what it returns, whatever kind of call it was.
func TestAdvisedSettingsMakeADenialFinal(t *testing.T) {
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			for _, kind := range []func(calls) func(context.Context) error{once, stream} {
				d := deny(t, s, setting{limit: oneADay}, kind)
				if d.err == nil && d.tries == 0 {
					continue // it has no streams
				}
				var denied *throttle.DeniedError
				if d.tries != 1 || d.sent != 0 || !errors.As(d.err, &denied) || !errors.Is(d.err, throttle.ErrBudget) {
					t.Errorf("%d tries, %d sent, error %v; want one try and a *throttle.DeniedError", d.tries, d.sent, d.err)
				}
			}
		})
	}
}

// Whatever the settings, nothing is sent while there is no room, and no SDK
// comes back in a tight loop.
func TestDenialIsNeverRetriedHot(t *testing.T) {
	for _, s := range sdks {
		for _, set := range []setting{
			{bare: true, limit: oneADay},
			{bare: true, limit: oneADay, opts: []headgate.Option{headgate.WithDeniedResponses()}},
		} {
			t.Run(fmt.Sprintf("%s/%d", s.name, len(set.opts)), func(t *testing.T) {
				d := deny(t, s, set, once)
				if d.err == nil || d.sent != 0 || d.tries > 4 {
					t.Errorf("%d tries, %d sent, error %v; want none sent and at most 4 tries", d.tries, d.sent, d.err)
				}
				if d.tries > 1 && d.gap <= 0 {
					t.Errorf("%d tries without a pause between them", d.tries)
				}
			})
		}
	}
}

// A vendor that is busy gets one request, though SDKs send again after a 429:
// their tries end at the pause, or wait for its end.
func TestOneRequestReachesABusyVendor(t *testing.T) {
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThrottle(t, s, roomy()...)
				var sent []time.Time
				g := newGate(th, s, detour(func(r *http.Request) (*http.Response, error) {
					if sent = append(sent, time.Now()); len(sent) > 1 {
						return answered(s.says.once, r), nil
					}
					return answered(s.says.busy, r), nil
				}))
				err := g.connect(t, s, true).once(t.Context())
				// Without a figure from the vendor a pause is 30 s.
				if gap := shortest(sent); len(sent) > 2 || len(sent) == 2 && gap < 30*time.Second {
					t.Errorf("%d requests, %v apart, error %v; want none during the pause", len(sent), gap, err)
				}
			})
		})
	}
}

// anthropic-sdk-go sleeps for all of a vendor's Retry-After, five minutes here;
// openai-go returns the vendor's answer where that is more than two.
func TestLongRetryAfter(t *testing.T) {
	for _, c := range []struct {
		sdk  sdk
		sent int
		took time.Duration
	}{{anthropicSDK, 2, 5 * time.Minute}, {openAI, 1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			g := newGate(newThrottle(t, c.sdk, roomy()...), c.sdk, detour(func(r *http.Request) (*http.Response, error) {
				if sent++; sent > 1 {
					return answered(c.sdk.says.once, r), nil
				}
				return answered(c.sdk.says.busy, r), nil
			}))
			start := time.Now()
			err := g.connect(t, c.sdk, true).once(t.Context())
			if took := time.Since(start); sent != c.sent || took < c.took || c.took == 0 && took > 0 || (err == nil) != (sent > 1) {
				t.Errorf("%s: %d sent in %v, error %v; want %d in %v", c.sdk.name, sent, took, err, c.sent, c.took)
			}
		})
	}
}

// A timeout of the SDK's own counts waiting, but a wait that it would end is
// refused at once, so that the denial isn't lost to a bare deadline.
func TestRequestTimeoutLeavesTheDenial(t *testing.T) {
	hasty := openAI
	hasty.connect = func(c *http.Client, bare bool) (calls, error) {
		return chats(bare, option.WithHTTPClient(c), option.WithAPIKey(secret), option.WithRequestTimeout(time.Second)), nil
	}
	d := deny(t, hasty, setting{limit: onePer4s}, once)
	if d.tries != 1 || d.sent != 0 || !errors.Is(d.err, throttle.ErrBudget) || !errors.Is(d.err, context.DeadlineExceeded) {
		t.Errorf("%d tries, %d sent, error %v; want a denial that is a deadline error too", d.tries, d.sent, d.err)
	}
}

// genai retries nothing unless it is asked to, and then a denial in any form.
func TestGeminiRetriesDenialsIfAskedTo(t *testing.T) {
	eager := gemini
	eager.connect = func(c *http.Client, _ bool) (calls, error) {
		return contents(c, &genai.HTTPRetryOptions{Attempts: genai.Ptr[int32](3)})
	}
	for _, opts := range [][]headgate.Option{nil, {headgate.WithDeniedResponses()}} {
		if d := deny(t, eager, setting{limit: oneADay, opts: opts}, once); d.tries != 3 || d.sent != 0 {
			t.Errorf("%d tries, %d sent, want 3 tries and none sent", d.tries, d.sent)
		}
	}
}
