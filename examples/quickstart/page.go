package main

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headgate-go/headgate"
)

// pages are the status pages of the scenes, below their names: each scene has a
// throttle of its own. A scene's page stays when the scene is over. The nil
// pages show nothing.
type pages struct {
	url    string
	server *http.Server

	mu     sync.Mutex
	scenes map[string]http.Handler
	names  []string // in the order of the scenes
}

// servePages serves pages at an address, host:port, port 0 for any.
func servePages(address string) (*pages, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("-page: %w", err)
	}
	p := &pages{url: "http://" + reachable(l.Addr()) + "/", scenes: map[string]http.Handler{}}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(l) }() // it ends with Close
	return p, nil
}

// reachable is an address that a browser on this machine can open.
func reachable(a net.Addr) string {
	host, port, _ := net.SplitHostPort(a.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

func (p *pages) close() {
	if p != nil {
		_ = p.server.Close()
	}
}

// show adds a scene's page, or puts it in the place of the one before.
func (p *pages) show(scene string, h http.Handler) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scenes[scene] = h; !slices.Contains(p.names, scene) {
		p.names = append(p.names, scene)
	}
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scene, _, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	p.mu.Lock()
	h, names := p.scenes[scene], slices.Clone(p.names)
	p.mu.Unlock()
	switch {
	case scene == "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_ = contents.Execute(w, names)
	case h == nil:
		http.NotFound(w, r)
	case !below:
		http.Redirect(w, r, "/"+scene+"/", http.StatusFound)
	default:
		h.ServeHTTP(w, r)
	}
}

// contents lists the scenes, and is loaded anew while they come.
var contents = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta http-equiv="refresh" content="2"><title>headgate quickstart</title>
<style>body { font: 16px/1.6 system-ui, sans-serif; margin: 2rem auto; max-width: 40rem; padding: 0 1rem; }</style></head>
<body><main><h1>headgate quickstart</h1>{{if .}}<p>Each scene has a throttle of its own:</p>
<ul>{{range .}}<li><a href="/{{.}}/">{{.}}</a></li>{{end}}</ul>{{else}}<p>The first scene is about to begin.</p>{{end}}</main></body></html>
`))

// sceneOf is the name of a job's page.
func sceneOf(j job) string { return strings.TrimPrefix(j.Key, "sk-") }

// shows reports whether the worker has the page of its fleet: the last one,
// which no scene kills.
func (j job) shows() bool { return j.Paged && j.Worker == j.Workers-1 }

// servePage serves the page of a worker in a process of its own, for the first
// process to pass on, until ctx ends.
func (w *worker) servePage(ctx context.Context) (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: headgate.StatusHandler(w.throttle), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			_ = l.Close()
		}
	}()
	return l.Addr().String(), nil
}

// passOn is the page of a worker process.
func passOn(address string) http.Handler {
	return httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
}
