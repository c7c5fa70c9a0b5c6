// Package redistest runs real redis-server processes for tests.
//
// Start gives a test a server of its own, which it may stop, restart or
// freeze. Shared gives every test of a binary the same one, which is cheaper
// where a key prefix per test is enough to keep tests apart; a package that
// uses it has
//
//	func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }
//
// StartCluster and SharedCluster do the same for a cluster of three masters,
// whose slots a test may move, step by step if it likes. StartSentinel and
// SharedSentinel run a master, two replicas and the sentinels that put one of
// them in its place.
//
// Servers keep no data on disk, listen on 127.0.0.1 only and end with the
// test, or, on Linux, with the test binary if that is killed. Where
// redis-server is not installed the test fails: a skipped test would let a
// store that was never tried pass.
package redistest
