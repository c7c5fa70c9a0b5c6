package main

import (
	"encoding/json"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// thinking is how long the vendor takes for an answer, as a quick model would.
const thinking = 20 * time.Millisecond

// A vendor is a small AI vendor on the loopback interface, whose requests and
// answers look like OpenAI's.
type vendor struct {
	url    string
	server http.Server

	mu       sync.Mutex
	accounts map[string]*account // by key
}

func startVendor() (*vendor, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	v := &vendor{url: "http://" + l.Addr().String(), accounts: map[string]*account{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", v.complete)
	v.server.Handler = mux
	go v.server.Serve(l) // ends with Close, which is the only way it ends
	return v, nil
}

func (v *vendor) Close() error { return v.server.Close() }

// open gives a key to a customer, with a limit for each model. amount 0: none.
func (v *vendor) open(key string, amount int, per time.Duration) *account {
	a := &account{models: map[string]*window{}}
	if amount > 0 {
		a.limit = &window{amount: amount, per: per}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.accounts[key] = a
	return a
}

func (v *vendor) account(r *http.Request) *account {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.accounts[key]
}

func (v *vendor) complete(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Model string `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "", "We could not parse the JSON body of your request.")
		return
	}
	a := v.account(r)
	if a == nil {
		fail(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
		return
	}
	switch status, retryAfter := a.receive(ask.Model, originOf(r.Header)); status {
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(retryAfter.Seconds()))))
		fail(w, status, "requests", "rate_limit_exceeded", "Rate limit reached for "+ask.Model+" on requests per min (RPM).")
	case http.StatusUnauthorized:
		fail(w, status, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
	default:
		think(r)
		answer(w, status, completion(ask.Model))
	}
}

// think takes the time that an answer takes, unless nobody waits for it.
func think(r *http.Request) {
	select {
	case <-time.After(thinking):
	case <-r.Context().Done():
	}
}

func completion(model string) any {
	type object = map[string]any
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": time.Now().Unix(), "model": model,
		"choices": []object{{
			"index": 0, "finish_reason": "stop",
			"message": object{"role": "assistant", "content": "Yes."},
		}},
		"usage": object{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
	}
}

func fail(w http.ResponseWriter, status int, kind, code, message string) {
	answer(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": kind, "param": nil, "code": code,
	}})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client is gone
}
