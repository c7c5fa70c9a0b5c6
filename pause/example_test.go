package pause_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/pause"
)

func ExampleFromHeaders() {
	h := http.Header{}
	h.Set("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
	h.Set("Retry-After", "Thu, 01 Jan 2026 00:01:30 GMT")

	wait, ok := pause.FromHeaders(h, time.Now()) // measured against the vendor's clock
	fmt.Println(wait, ok)

	wait = pause.Policy{Max: time.Minute}.Length(wait)
	fmt.Println(wait)
	// Output:
	// 1m30s true
	// 1m0s
}

func ExampleFromText() {
	fmt.Println(pause.FromText("Rate limit reached. Please try again in 9m38.016s."))
	fmt.Println(pause.FromText("Please try again later."))
	// Output:
	// 9m38.016s true
	// 0s false
}
