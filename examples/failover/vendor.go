package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
)

// A vendor on the loopback interface serves rpm calls of each model, whose answers
// are worded as OpenAI's and Anthropic's are as far as both agree, and refuses the
// rest.
type vendor struct {
	*httptest.Server

	mu     sync.Mutex
	called map[string]int
}

func startVendor() *vendor {
	v := &vendor{called: map[string]int{}}
	v.Server = httptest.NewServer(http.HandlerFunc(v.serve))
	return v
}

func (v *vendor) serve(w http.ResponseWriter, r *http.Request) {
	var call struct{ Model string }
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	v.called[call.Model]++
	full := v.called[call.Model] > rpm
	v.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if full {
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error":{"type":"rate_limit_error"}}`)
		return
	}
	json.NewEncoder(w).Encode(map[string]any{"model": call.Model})
}

// count returns how many calls of the model were answered, and how many refused.
func (v *vendor) count(model string) (served, refused int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	served = min(v.called[model], rpm)
	return served, v.called[model] - served
}
