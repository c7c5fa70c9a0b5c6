package throttle

import (
	"embed"
	"strings"
)

// scriptFiles are the parts of the one script that a RedisStore runs, in their
// order: each uses what those before it define.
//
//go:embed lua/*.lua
var scriptFiles embed.FS

var scriptOrder = []string{
	"script",  // what it is given
	"plain",   // the common claim, decided at once
	"claim",   // the arguments, the records
	"slots",   // has the claim come before?
	"window",  // counting, by algorithm
	"log",     //
	"bucket",  //
	"counter", // counting, whatever the algorithm
	"ramp",    // after a pause
	"tenants", // whose counters count
	"restore", // what processes know of lost records
	"settle",  // what earlier calls really cost
	"verdict", // what a vendor's answer means
	"tickets", // who waits in other processes
	"runs",    // which calls go
	"lease",   // units ahead
	"answer",  // what is said and kept
}

// claimSource is the whole script.
var claimSource = joinScript()

func joinScript() string {
	var b strings.Builder
	for _, name := range scriptOrder {
		part, err := scriptFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			panic("headgate: " + err.Error()) // it was embedded, or this wouldn't have compiled
		}
		b.Write(part)
	}
	return b.String()
}
