package lanes_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

func TestDefaultLanesAreLiveThenBackground(t *testing.T) {
	ls := lanes.Default()
	if len(ls) != 2 || ls[0] != lanes.Live || ls[1] != lanes.Background {
		t.Fatalf("Default() = %v", ls)
	}
	if want := (lanes.Lane{Name: "live", Share: 1, Wait: 5 * time.Second}); lanes.Live != want {
		t.Errorf("Live = %+v, want %+v", lanes.Live, want)
	}
	if want := (lanes.Lane{Name: "background", Share: 0.6}); lanes.Background != want {
		t.Errorf("Background = %+v, want %+v", lanes.Background, want)
	}
	for _, l := range ls {
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	ls[0].Share = 0.1
	if lanes.Default()[0] != lanes.Live {
		t.Error("changing one Default() changed the next")
	}
}

func TestValidateNamesTheFieldOutOfRange(t *testing.T) {
	tests := []struct {
		name string
		lane lanes.Lane
		want string // the field; "": valid
	}{
		{"no name", lanes.Lane{Share: 1}, "Name"},
		{"share 0", lanes.Lane{Name: "x"}, "Share"},
		{"negative share", lanes.Lane{Name: "x", Share: -0.5}, "Share"},
		{"share above 1", lanes.Lane{Name: "x", Share: 1.5}, "Share"},
		{"share just above 1", lanes.Lane{Name: "x", Share: math.Nextafter(1, 2)}, "Share"},
		{"share NaN", lanes.Lane{Name: "x", Share: math.NaN()}, "Share"},
		{"share +Inf", lanes.Lane{Name: "x", Share: math.Inf(1)}, "Share"},
		{"share -Inf", lanes.Lane{Name: "x", Share: math.Inf(-1)}, "Share"},
		{"whole", lanes.Lane{Name: "x", Share: 1}, ""},
		{"tiny share", lanes.Lane{Name: "x", Share: math.SmallestNonzeroFloat64}, ""},
		{"negative wait: as long as the context allows", lanes.Lane{Name: "x", Share: 1, Wait: -1}, ""},
		{"longest wait", lanes.Lane{Name: "x", Share: 1, Wait: math.MaxInt64}, ""},
	}
	for _, tt := range tests {
		err := tt.lane.Validate()
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v, want no error", tt.name, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want+" ")):
			t.Errorf("%s: %v, want an error about %s", tt.name, err, tt.want)
		}
	}
}

func TestContextCarriesTheInnermostLane(t *testing.T) {
	ctx := context.Background()
	if l, ok := lanes.From(ctx); ok || l != (lanes.Lane{}) {
		t.Errorf("From(empty context) = %v, %v", l, ok)
	}
	outer := lanes.With(ctx, lanes.Background)
	inner := lanes.With(outer, lanes.Live)
	if l, ok := lanes.From(inner); !ok || l != lanes.Live {
		t.Errorf("From(inner) = %v, %v, want Live", l, ok)
	}
	if l, ok := lanes.From(outer); !ok || l != lanes.Background {
		t.Errorf("From(outer) = %v, %v: the outer context changed", l, ok)
	}
	// The zero lane is said, and overrides: it means "not said" to Acquire.
	if l, ok := lanes.From(lanes.With(outer, lanes.Lane{})); !ok || l != (lanes.Lane{}) {
		t.Errorf("From(zero lane) = %v, %v", l, ok)
	}
}

func TestContextLaneOutlivesDerivedContexts(t *testing.T) {
	ctx, cancel := context.WithTimeout(lanes.With(context.Background(), lanes.Background), time.Hour)
	cancel()
	if l, ok := lanes.From(context.WithoutCancel(ctx)); !ok || l != lanes.Background {
		t.Errorf("From = %v, %v, want Background", l, ok)
	}
}
