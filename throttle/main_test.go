package throttle

import (
	"os"
	"testing"

	"github.com/headgate-go/headgate/internal/redistest"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }
