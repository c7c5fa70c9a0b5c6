package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports lie below the range from which systems pick ports of outgoing
// connections, so that none of them takes one while its server is stopped.
const minPort, maxPort = 16_000, 32_000

// busOffset is how far above its port a cluster node listens for its peers.
const busOffset = 10_000

// freeAddr returns a loopback address that nobody listens on.
func freeAddr() (string, error) { return freeAddrBelow(maxPort, 0) }

// freeNodeAddr is freeAddr for a cluster node, whose second port must be free
// too and is as safe from outgoing connections.
func freeNodeAddr() (string, error) { return freeAddrBelow(maxPort-busOffset, busOffset) }

// freeAddrBelow returns an address whose port, and the one that lies offset
// above it, are free.
func freeAddrBelow(limit, offset int) (string, error) {
	var err error
	for range 50 {
		port := minPort + rand.IntN(limit-minPort)
		if err = tryPort(port + offset); err != nil {
			continue
		}
		if err = tryPort(port); err == nil {
			return loopback(port), nil
		}
	}
	return "", fmt.Errorf("redistest: no free port: %w", err)
}

func tryPort(port int) error {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return err
	}
	return l.Close()
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
