// Package faultproxy is a TCP proxy that does harm, for tests of what a client
// of Redis makes of it: late replies, silence, lost replies, cut connections.
//
//	p := faultproxy.New(t, server.Addr)
//	client := redis.NewClient(&redis.Options{Addr: p.Addr})
//	lost := p.LoseReplies(1, "evalsha")
//	// … the next script runs, and nobody hears what came of it
//	<-lost.Done()
//
// A proxy passes everything on at first. What is set lasts until Pass, adds to
// what was set before, and holds for open connections and those to come.
//
// Bytes travel in whole commands and replies (RESP2 or RESP3), of which the
// n-th reply answers the n-th command; that is how a reply is known by its
// command. No such thing can be said after SUBSCRIBE, its relatives and
// MONITOR, or when either side speaks something else, be it TLS or an inline
// command: on such a connection everything works but LoseReplies and
// CutReplies. CLIENT REPLY is not supported.
package faultproxy
