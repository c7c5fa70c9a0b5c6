// Package procs runs parts of a test in processes of their own, which can be
// killed and frozen as no goroutine can.
//
// The process is the test's own binary, run once more. A test file says what it
// does there, and a test starts it:
//
//	func init() { procs.Serve("caller", &Caller{}) }
//
//	p := procs.Start(t, "caller")
//	p.Call(t, "Acquire", args, &reply)
//	p.Kill(t)
//
// Methods are called by net/rpc over the process's standard input and output,
// so they have its form: two arguments, of which the second is a pointer, and an
// error. Several may run at a time.
package procs
