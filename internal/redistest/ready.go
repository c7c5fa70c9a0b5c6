package redistest

import (
	"bufio"
	"net"
	"strconv"
	"strings"
	"time"
)

// serverPID returns the process id of the server that answers at addr. Unlike
// a PING it tells whose server that is.
func serverPID(addr string) (int, bool) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return 0, false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("INFO server\r\n")); err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "-") {
			return 0, false
		}
		if id, ok := strings.CutPrefix(line, "process_id:"); ok {
			pid, err := strconv.Atoi(id)
			return pid, err == nil
		}
	}
	return 0, false
}
