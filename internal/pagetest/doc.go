// Package pagetest opens headgate's status page in a headless Chromium: in each
// state of a throttle, in light, dark and on a phone, with real calls behind it.
//
// It has nothing but tests, and is a module of its own, so that the driver of
// the browser doesn't get into the root go.mod. With -shots DIR it leaves a
// picture of every page there:
//
//	go test -C internal/pagetest -shots /tmp/shots
package pagetest
