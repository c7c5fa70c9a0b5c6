package redistest

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
)

func TestMain(m *testing.M) {
	logging.Disable() // of the client, which reports every server that is stopped here
	os.Exit(Main(m))
}
