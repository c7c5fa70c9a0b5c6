package dialect

import (
	"io"
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// A Request is what an http.Request asks a vendor for.
type Request struct {
	// Credential is the key as it was sent, without "Bearer". Only its
	// fingerprint may go on. Where there is none it is scheme://host.
	Credential string
	// Account is who pays, "" unless the dialect knows.
	Account string
	// Model is "" where there is none.
	Model string
	// Cost is what the request itself states: one request, and the output it
	// is capped to, where the vendor charges that up front.
	Cost throttle.Cost
	// Guess is what else it may cost, to be added to Cost and clamped to what
	// the budget can hold. It is zero without a model.
	Guess throttle.Cost
	// Body is what to send in place of the request's body, where reading that
	// was unavoidable because no copy was to be had. nil: the body is untouched.
	// Closing it closes the request's own.
	Body io.ReadCloser
}

// Bounds of reading a request's body.
const (
	maxPeek  = 1 << 20 // bytes, where they have to be kept
	maxScan  = 64 << 20
	maxModel = 4096 // bytes of a model's name, before unescaping
)

// Read returns what a request asks for. It never modifies r. A JSON body is
// scanned for the model and what the request will cost, never decoded: a copy
// from GetBody, which is closed again, up to 64 MiB; else the first 1 MiB of
// the body itself, which Request.Body then puts back together. A form, up to
// 64 KiB of it, is read where the vendor has the credential or the sender
// there. Bodies of other types, compressed ones and those of GET and HEAD aren't
// read, and of no type only a copy.
//
// In this version the error is always nil.
func Read(d Dialect, r *http.Request) (Request, error) {
	v := d.spec()
	asked := Request{Credential: call(v.key, r), Account: call(v.account, r), Model: call(v.model, r)}
	found := bodyScan{vendor: v, wantsKey: asked.Credential == "" && len(v.bodyKey) > 0}
	if found.isNeeded() {
		asked.Body = found.read(r)
	}
	if found.wantsKey {
		asked.Credential = found.credential()
	}
	if asked.Account == "" {
		asked.Account = v.accountOf(asked.Credential)
	}
	if asked.Credential == "" {
		asked.Credential = origin(r)
	}
	if asked.Model == "" {
		asked.Model = found.model
	}
	asked.Cost, asked.Guess = v.cost(r, asked.Model, &found)
	return asked, nil
}

// accountOf returns the account that is a part of the credential, as a
// fingerprint: a part of a credential isn't to go on as it is either.
func (v *vendor) accountOf(credential string) string {
	if v.accountBefore == "" {
		return ""
	}
	account, _, found := strings.Cut(credential, v.accountBefore)
	if !found {
		return ""
	}
	return string(throttle.FingerprintOf(account))
}

// call calls one of a vendor's functions; none yields "".
func call(f func(*http.Request) string, r *http.Request) string {
	if f == nil {
		return ""
	}
	return f(r)
}

// A bodyKind is what a request's body may be read as.
type bodyKind uint8

const (
	unreadable bodyKind = iota
	jsonBody
	formBody
)

// kindOf returns what a request's body is. One of no declared type may be JSON,
// if a copy of it can be had: a scan ends at the first byte that isn't.
func kindOf(r *http.Request) bodyKind {
	if r.Body == nil || r.Body == http.NoBody || !maySend(r.Method) || r.Header.Get("Content-Encoding") != "" {
		return unreadable
	}
	switch contentType := r.Header.Get("Content-Type"); {
	case contentType == "" && r.GetBody != nil, isJSON(contentType):
		return jsonBody
	case mediaType(contentType) == "application/x-www-form-urlencoded":
		return formBody
	}
	return unreadable
}

// maySend reports whether a method sends a body that means something. The
// empty method is GET.
func maySend(method string) bool {
	return method != "" && method != http.MethodGet && method != http.MethodHead
}

func isJSON(contentType string) bool {
	media := mediaType(contentType)
	return media == "application/json" || strings.HasSuffix(media, "+json")
}
