package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFiguresAreRight(t *testing.T) {
	var out strings.Builder
	wrong, err := run(t.Context(), &out, "")
	if wrong != 0 || err != nil {
		t.Errorf("%d figures are wrong, %v:\n%s", wrong, err, &out)
	}
	for _, reply := range replies {
		if !strings.Contains(out.String(), reply) {
			t.Errorf("%q isn't shown:\n%s", reply, &out)
		}
	}
}

// Of a vendor that reports no usage the example must not say that all is well.
func TestMissingUsageIsWrong(t *testing.T) {
	v := startVendor()
	defer v.Close()
	v.silent = true
	at := v.place()
	at.budget = 10_000 // nothing is given back
	var out strings.Builder
	if wrong, err := ask(t.Context(), &out, at); wrong != len(questions) || err != nil {
		t.Errorf("%d figures are wrong, %v; want one a call:\n%s", wrong, err, &out)
	}
	if !strings.Contains(out.String(), "WRONG") {
		t.Errorf("nothing is marked:\n%s", &out)
	}
}

// Two estimates fill the budget, so that the third call is denied if nothing
// is given back.
func TestThirdCallNeedsWhatTheOthersGaveBack(t *testing.T) {
	v := startVendor()
	defer v.Close()
	v.silent = true
	if _, err := ask(t.Context(), &strings.Builder{}, v.place()); err == nil {
		t.Error("three estimates fit into the budget")
	}
}

func TestKeyIsNotPrinted(t *testing.T) {
	const key = "sk-SECRET-0123456789"
	if text := plain(errors.New("dialling with "+key), key); strings.Contains(text, key) {
		t.Errorf("%q", text)
	}
	v := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: %s"}}`, r.Header.Get("Authorization"))
	}))
	defer v.Close()
	_, err := ask(t.Context(), &strings.Builder{}, place{name: "x", url: v.URL + "/v1/", key: key, budget: 900})
	if err == nil {
		t.Fatal("no error of a refused key")
	}
	if text := plain(err, key); strings.Contains(text, "SECRET") || !strings.Contains(text, "401 invalid_api_key") {
		t.Errorf("%q, want the status and the code", text)
	}
}
