// Package sdktest holds headgate's transport against the SDKs that its users
// have: each is given an http.Client whose requests pass a throttle, and talks
// to a vendor on the loopback interface that answers in the vendor's own forms.
//
// It has nothing but tests, and is a module of its own, so that no SDK gets
// into the root go.mod. What the tests measure is a table in docs/sdks.md, which
// is compared with each run. After a change of an SDK's version, write it anew:
//
//	go test -C internal/sdktest -run TestTable -update
package sdktest
