package dialect

import (
	"encoding/base64"
	"encoding/binary"
)

// A frameReader takes apart an event stream as Bedrock sends it, in pieces of
// any size: frames of a prelude, headers, a payload and checksums. The payload
// is passed on as it comes. The checksums aren't checked: nobody is hurt by
// what this package misreads. See
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html
// and the AWS SDK for Go, aws/protocol/eventstream.
type frameReader struct {
	to *reading

	part    framePart
	left    int    // bytes of the part that are still to come
	head    []byte // the prelude, then the front of the headers
	payload int    // its size
	inner   chunkReader
	isChunk bool // the payload has another text in it
}

type framePart uint8

const (
	framePrelude framePart = iota
	frameHeaders
	framePayload
	frameChecksum
	frameLost // the stream isn't what it claims to be
)

// Sizes of a frame's parts, in bytes.
const (
	preludeSize  = 12 // with its checksum
	checksumSize = 4
	maxFrame     = 24 << 20
	maxHead      = 2 << 10 // of the headers that are looked at
)

func newFrameReader(to *reading) *frameReader {
	f := &frameReader{to: to, left: preludeSize, head: make([]byte, 0, maxHead)}
	f.inner.to = to
	f.inner.scan = newScanner(maxChunk, f.inner.visit)
	return f
}

// Write takes the next piece. It always returns len(p), nil.
func (f *frameReader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && f.part != frameLost; {
		n := min(f.left, len(rest))
		f.take(rest[:n])
		rest = rest[n:]
		for f.left -= n; f.left == 0 && f.part != frameLost; n = 0 {
			f.next()
		}
	}
	return len(p), nil
}

func (f *frameReader) take(p []byte) {
	switch {
	case f.part == framePayload && f.isChunk:
		f.inner.write(p)
	case f.part == framePayload:
		f.to.write(p)
	case f.part != frameChecksum:
		f.head = append(f.head, p[:min(len(p), cap(f.head)-len(f.head))]...)
	}
}

// next begins the part after one that is complete.
func (f *frameReader) next() {
	switch f.part {
	case framePrelude:
		f.beginHeaders()
	case frameHeaders:
		f.beginPayload()
	case framePayload:
		if f.isChunk {
			f.inner.scan.reset()
		}
		f.to.endText()
		f.part, f.left = frameChecksum, checksumSize
	case frameChecksum:
		f.part, f.left, f.head = framePrelude, preludeSize, f.head[:0]
	}
}

func (f *frameReader) beginHeaders() {
	total, headers := binary.BigEndian.Uint32(f.head), binary.BigEndian.Uint32(f.head[4:])
	if total > maxFrame || headers > maxFrame || total < headers+preludeSize+checksumSize {
		f.part = frameLost
		return
	}
	f.payload = int(total - headers - preludeSize - checksumSize)
	f.part, f.left, f.head = frameHeaders, int(headers), f.head[:0]
}

func (f *frameReader) beginPayload() {
	f.isChunk = false
	for name, value, rest := cutFrameHeader(f.head); rest != nil; name, value, rest = cutFrameHeader(rest) {
		switch string(name) {
		case ":event-type":
			f.isChunk = string(value) == "chunk"
		case ":exception-type", ":error-code":
			f.to.fail(value)
		}
	}
	f.part, f.left = framePayload, f.payload
}

// frameValueSizes are the sizes of a header's values by their type: booleans,
// integers of 1, 2, 4 and 8 bytes, bytes and strings with their length before
// them, instants, UUIDs.
var frameValueSizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

// cutFrameHeader returns the name and value of the header at the front of h.
// rest is nil where there is none.
func cutFrameHeader(h []byte) (name, value, rest []byte) {
	if len(h) == 0 || len(h) < 2+int(h[0]) {
		return nil, nil, nil
	}
	name, h = h[1:1+h[0]], h[1+h[0]:]
	kind := int(h[0])
	if h = h[1:]; kind >= len(frameValueSizes) {
		return nil, nil, nil
	}
	size := frameValueSizes[kind]
	if size < 0 {
		if len(h) < 2 {
			return nil, nil, nil
		}
		size, h = int(binary.BigEndian.Uint16(h)), h[2:]
	}
	if len(h) < size {
		return nil, nil, nil
	}
	return name, h[:size], h[size:]
}

// maxChunk is how much base64 of one chunk is looked at. What matters, the
// model's counts and its last metrics, comes in short ones.
const maxChunk = 16 << 10

// A chunkReader takes texts out of the payloads that they are in: {"bytes":
// "…"} with the base64 of what the model itself said.
type chunkReader struct {
	to    *reading
	scan  *scanner
	plain [maxChunk]byte
}

func (c *chunkReader) write(p []byte) { _, _ = c.scan.Write(p) }

func (c *chunkReader) visit(at *path, kind valueKind, text *textBuffer) {
	if kind != jsonString || text.cut || !at.is("bytes") {
		return
	}
	n, _ := base64.StdEncoding.Decode(c.plain[:], text.bytes)
	c.to.write(c.plain[:n])
	c.to.endText()
}
