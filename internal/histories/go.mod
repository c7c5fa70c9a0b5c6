module github.com/headgate-go/headgate/internal/histories

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/headgate-go/headgate v0.0.0
	github.com/redis/go-redis/v9 v9.23.0
)

require (
	github.com/cenkalti/backoff/v4 v4.3.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace github.com/headgate-go/headgate => ../..
