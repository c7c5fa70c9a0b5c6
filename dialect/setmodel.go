package dialect

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// ErrFixedModel is the error of WithModel for a request whose model can't be
// changed.
var ErrFixedModel = errors.New("dialect: the request's model can't be changed")

// SetsModel reports whether WithModel can do anything at the vendor: its
// requests have the model in the path or in a JSON body.
func SetsModel(d Dialect) bool {
	v := d.spec()
	return v.setModel != nil || v.modelAt != ""
}

// WithModel returns a copy of r that asks for another model, in the place where
// Read finds it: in the path, or in a JSON body of at most 64 MiB of which a
// copy can be had (GetBody). Every other byte stays what it was; Content-Length
// and GetBody are the new body's. r isn't modified. The copy shares r's header,
// its Body where only the path had to change, and its context; else its Body
// is opened by the first Read.
//
// It is an error that matches ErrFixedModel where the request has no model or
// has it elsewhere, where its body isn't sound JSON, and where it is signed or a
// header has its body's digest, which would no longer be right.
func WithModel(d Dialect, r *http.Request, model string) (*http.Request, error) {
	v := d.spec()
	switch {
	case isSigned(r):
		return nil, ErrFixedModel
	case call(v.model, r) != "":
		return v.withModelInPath(r, model)
	case v.modelAt != "" && !hasDigest(r.Header):
		return v.withModelInBody(r, model)
	}
	return nil, ErrFixedModel
}

func (v *vendor) withModelInPath(r *http.Request, model string) (*http.Request, error) {
	if v.setModel == nil || r.URL.Opaque != "" {
		return nil, ErrFixedModel
	}
	escaped := r.URL.EscapedPath()
	// The model that is there already must leave the path as it is, or it isn't
	// where setModel takes it to be.
	if same, err := url.PathUnescape(v.setModel(escaped, v.model(r))); err != nil || same != r.URL.Path {
		return nil, ErrFixedModel
	}
	u := *r.URL
	u.RawPath = v.setModel(escaped, model)
	path, err := url.PathUnescape(u.RawPath)
	if err != nil {
		return nil, ErrFixedModel
	}
	u.Path = path
	out := r.WithContext(r.Context())
	out.URL = &u
	return out, nil
}

// escapeSegment escapes a name for a path, the slash and the colon too: both
// have a meaning in some vendors' paths.
func escapeSegment(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), ":", "%3A")
}

// isSigned reports whether a request has a signature over its path or body.
func isSigned(r *http.Request) bool {
	if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") || r.Header.Get("Signature") != "" {
		return true
	}
	return strings.Contains(r.URL.RawQuery, "X-Amz-Signature=")
}

// digestHeaders are the headers that a body's digest may stand in.
var digestHeaders = [...]string{"Content-Md5", "Digest", "Content-Digest", "Repr-Digest", "X-Amz-Content-Sha256"}

func hasDigest(h http.Header) bool {
	for _, name := range digestHeaders {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}
