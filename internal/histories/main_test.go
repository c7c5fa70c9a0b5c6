package histories

import (
	"context"
	"os"
	"testing"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // tests cut connections, and the client says so at length
	os.Exit(redistest.Main(m))
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
