package sdktest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

var update = flag.Bool("update", false, "write what was measured into docs/sdks.md")

const (
	page  = "../../docs/sdks.md"
	start = "<!-- measured: start -->\n"
	end   = "<!-- measured: end -->\n"
)

// What docs/sdks.md says of SDKs is what they do, at the versions in go.mod.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), start)
	said, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the tables", page)
	}
	measured := wiring(t) + "\n" + denials(t)
	if said == measured {
		return
	}
	if !*update {
		t.Fatalf("%s isn't what was measured (-update writes it anew):\n%s", page, measured)
	}
	if err := os.WriteFile(page, []byte(before+start+measured+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wiring is the table of how SDKs are put together with the transport.
func wiring(t *testing.T) string {
	b := header("SDK", "version", "dialect", "the client goes in by", "settings")
	for _, s := range sdks {
		b += row("`"+s.module+"`"+part(s), version(t, s.module), "`"+s.dialect.Name()+"`", s.client, s.settings)
	}
	return b
}

// part is what of an SDK a row is about, where it is about a part.
func part(s sdk) string {
	if _, after, ok := strings.Cut(s.name, ", "); ok {
		return ", " + after
	}
	if _, after, ok := strings.Cut(s.name, "/"); ok {
		return ", `" + after + "`"
	}
	return ""
}

// denials is the table of what SDKs do about a denial, with their own defaults.
func denials(t *testing.T) string {
	b := header("SDK", "error: tries", "returns", "response: tries", "returns", "`DeniedFrom`", "if there is room in 20 s")
	asResponse := []headgate.Option{headgate.WithDeniedResponses()}
	for _, s := range sdks {
		plain := deny(t, s, setting{bare: true, limit: oneADay}, once)
		response := deny(t, s, setting{bare: true, limit: oneADay, opts: asResponse}, once)
		short := deny(t, s, setting{bare: true, limit: onePer20s, opts: asResponse}, once)
		b += row(s.name,
			fmt.Sprint(plain.tries), plain.surface(s),
			fmt.Sprint(response.tries), response.surface(s), response.known(s), short.end())
	}
	return b
}

// surface says what the caller of the SDK gets.
func (d denial) surface(s sdk) string {
	var denied *throttle.DeniedError
	if errors.As(d.err, &denied) {
		return "`*throttle.DeniedError`, by `errors.As`"
	}
	r, ok := s.refusal(d.err)
	if !ok {
		return fmt.Sprintf("`%T`", d.err)
	}
	return fmt.Sprintf("`%s`, %d", r.kind, r.status)
}

// known says whether headgate.DeniedFrom can be asked about it.
func (d denial) known(s sdk) string {
	r, _ := s.refusal(d.err)
	if r.resp == nil {
		return "the SDK keeps no response"
	}
	if _, ok := headgate.DeniedFrom(r.resp); !ok {
		return "no"
	}
	return "yes"
}

// end says how often the SDK came, and whether it got through in the end.
func (d denial) end() string {
	if d.err != nil {
		return fmt.Sprintf("%d, denied", d.tries)
	}
	return fmt.Sprintf("%d, %v apart, sent", d.tries, d.gap)
}

func header(columns ...string) string {
	return row(columns...) + strings.Repeat("|---", len(columns)) + "|\n"
}

func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// version is the module's in go.mod.
func version(t *testing.T, module string) string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == module {
			return f[1]
		}
	}
	t.Fatalf("go.mod doesn't require %s", module)
	return ""
}
