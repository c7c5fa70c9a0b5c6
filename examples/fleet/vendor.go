package main

import (
	"encoding/json"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// thinking is how long the vendor takes for an answer that costs him work, and
// musing for telling that he refuses a key.
const (
	thinking = 20 * time.Millisecond
	musing   = 150 * time.Millisecond
)

// What a call costs in tokens: a prompt, and an answer of more or less length.
const (
	promptTokens = 5
	leastAnswer  = 5
	mostAnswer   = 35
	meanTokens   = promptTokens + (leastAnswer+mostAnswer)/2
	maxTokens    = promptTokens + mostAnswer
)

// model is what the fleet asks for.
const model = "gpt-4o-mini"

// A vendor is a small AI vendor on the loopback interface with one customer,
// whose requests and answers look like OpenAI's.
type vendor struct {
	*account
	url     string
	dates   bool
	network *network
	server  http.Server
}

func startVendor(p plan, key string) (*vendor, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	v := &vendor{account: newAccount(p, key), url: "http://" + l.Addr().String(), dates: p.Dates}
	v.network = newNetwork(p.Straggle, v.judge)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", v.complete)
	v.server.Handler = mux
	go v.server.Serve(l) // ends with Close, which is the only way it ends
	return v, nil
}

func (v *vendor) Close() error {
	v.network.close()
	return v.server.Close()
}

func (v *vendor) complete(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	var ask struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		v.fail(w, http.StatusBadRequest, "invalid_request_error", "", "We could not parse the JSON body of your request.")
		return
	}
	p := &parcel{
		origin: originOf(r.Header, now), judged: make(chan struct{}),
		tokens: float64(promptTokens + ask.MaxTokens),
		key:    strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
	}
	v.network.carry(p)
	select {
	case <-p.judged:
	case <-r.Context().Done():
		return
	}
	switch p.verdict.status {
	case http.StatusTooManyRequests:
		v.tell(p.verdict, time.Now())
		v.setDates(w.Header(), v.now(), p.verdict.after)
		v.fail(w, p.verdict.status, "requests", "rate_limit_exceeded", "Rate limit reached for "+model+" on requests per min (RPM).")
	case http.StatusUnauthorized:
		think(r, musing)
		v.tell(p.verdict, time.Now())
		v.fail(w, p.verdict.status, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
	default:
		think(r, thinking)
		v.answer(w, p.verdict.status, completion(ask.MaxTokens))
	}
}

// setDates says how long to wait: in seconds, or as a date by the vendor's own
// clock, which then is in the answer's date, too.
func (v *vendor) setDates(header http.Header, now time.Time, wait time.Duration) {
	header.Set("Date", now.UTC().Format(http.TimeFormat))
	if v.dates {
		header.Set("Retry-After", now.Add(wait+time.Second-1).UTC().Format(http.TimeFormat))
		return
	}
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

// think takes the time that an answer takes, unless nobody waits for it.
func think(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

func completion(tokens int) any {
	type object = map[string]any
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": time.Now().Unix(), "model": model,
		"choices": []object{{
			"index": 0, "finish_reason": "stop",
			"message": object{"role": "assistant", "content": "Yes."},
		}},
		"usage": object{"prompt_tokens": promptTokens, "completion_tokens": tokens, "total_tokens": promptTokens + tokens},
	}
}

func (v *vendor) fail(w http.ResponseWriter, status int, kind, code, message string) {
	v.answer(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": kind, "param": nil, "code": code,
	}})
}

func (v *vendor) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	if w.Header().Get("Date") == "" {
		w.Header().Set("Date", v.now().UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client is gone
}
