package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
)

func TestPageFlagServesThePageOfEachScene(t *testing.T) {
	t.Parallel()
	for what, redis := range map[string]string{"one process": "", "a fleet": redistest.Start(t).Addr} {
		t.Run(what, func(t *testing.T) {
			v := startTestVendor(t)
			v.open("sk-paged", 0, 0)
			s, _, err := parse([]string{"-page", "127.0.0.1:0", "-redis", redis})
			if err != nil {
				t.Fatal(err)
			}
			s.vendor = v
			if s.pages, err = servePages(s.page); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.pages.close)
			f, err := s.hire(t.Context(), job{
				Key: "sk-paged", Limit: throttle.Requests(10, 24*time.Hour), For: 100 * time.Millisecond,
				Streams: []stream{{Lane: live, Every: 5 * time.Millisecond}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(f.close)
			t.Cleanup(s.tidy)
			if list := get(t, s.pages.url, 200); !strings.Contains(list, `href="/paged/"`) {
				t.Errorf("the scene is missing: %s", list)
			}
			if page := get(t, s.pages.url+"paged", 200); !strings.Contains(page, "<title>headgate</title>") {
				t.Errorf("no page: %.200s", page)
			}
			get(t, s.pages.url+"nonesuch/", 404)
			var shown struct {
				Store   struct{ Kind string }
				Members []struct{ Self bool }
			}
			if err := json.Unmarshal([]byte(get(t, s.pages.url+"paged/?format=json", 200)), &shown); err != nil {
				t.Fatal(err)
			}
			if shown.Store.Kind == "redis" != (redis != "") || len(shown.Members) != len(f.processes) {
				t.Errorf("%+v, with %d processes", shown, len(f.processes))
			}
		})
	}
}

func TestPageFlagNamesAnAddressThatItCannotHave(t *testing.T) {
	t.Parallel()
	if _, err := servePages("nowhere"); err == nil || !strings.Contains(err.Error(), "-page") {
		t.Errorf("%v, want an error that names -page", err)
	}
	p, err := servePages(":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	if !strings.HasPrefix(p.url, "http://localhost:") {
		t.Errorf("the address is %s, which no browser opens", p.url)
	}
}

func get(t *testing.T, url string, want int) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		t.Fatalf("%s: status %d, %v, want %d", url, resp.StatusCode, err, want)
	}
	return string(body)
}
