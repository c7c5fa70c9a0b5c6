package faultproxy

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// A chunk is a command, a reply, or bytes of something else.
type chunk struct {
	data []byte
	at   time.Time // when it arrived
	resp bool      // data is one RESP value
	end  bool      // the connection has ended; there is no data
}

// A source takes what arrives apart.
type source struct {
	r *bufio.Reader
	// requests says that only arrays are commands; anything else that a client
	// may say gets an answer that can't be told from others.
	requests bool
	raw      bool // what arrives is no RESP, or is no longer
}

func newSource(r io.Reader, requests bool) *source {
	return &source{r: bufio.NewReaderSize(r, maxLine), requests: requests}
}

// next returns what arrives next. After a chunk whose end is set there is none.
func (s *source) next() chunk {
	if !s.raw {
		data, err := s.value()
		if !errors.Is(err, errNotRESP) {
			// Half a value at the end is of no use to anybody.
			return chunk{data: data, at: time.Now(), resp: err == nil, end: err != nil}
		}
		s.raw = true
		if len(data) > 0 {
			return chunk{data: data, at: time.Now()}
		}
	}
	buf := make([]byte, 4096)
	n, err := s.r.Read(buf)
	// The reader keeps an error for the next call if there are bytes.
	return chunk{data: buf[:n], at: time.Now(), end: n == 0 && err != nil}
}

func (s *source) value() ([]byte, error) {
	if s.requests {
		kind, err := s.r.Peek(1)
		if err != nil {
			return nil, err
		}
		if kind[0] != '*' {
			return nil, errNotRESP
		}
	}
	return readValue(s.r)
}
