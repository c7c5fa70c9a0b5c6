package dialect

// opaqueRun is how many bytes of base64's alphabet in a row make a string an
// embedded file rather than prose.
const opaqueRun = 4096

// A proseMeter finds embedded files in a request's strings: images and
// documents in base64, whose size says nothing about their tokens. The methods
// of a nil proseMeter do nothing.
type proseMeter struct {
	run   int64 // the current run of base64's alphabet
	bytes int64 // in files
	files int64
}

func (m *proseMeter) add(p []byte) {
	if m == nil {
		return
	}
	for len(p) > 0 {
		block := p[:min(len(p), opaqueRun/4)]
		p = p[len(block):]
		if m.run+int64(len(block)) < opaqueRun {
			m.skim(block)
		} else {
			m.follow(block)
		}
	}
}

// skim takes a block in which no run can become long enough to count, so that
// only the run at its end matters: a word, in prose.
func (m *proseMeter) skim(block []byte) {
	tail := len(block)
	for tail > 0 && base64Byte[block[tail-1]] {
		tail--
	}
	if tail > 0 {
		m.run = 0
	}
	m.run += int64(len(block) - tail)
}

func (m *proseMeter) follow(block []byte) {
	for _, c := range block {
		if base64Byte[c] {
			m.run++
		} else {
			m.endRun()
		}
	}
}

// escape takes the byte after a backslash. Some encoders escape every slash.
func (m *proseMeter) escape(c byte) {
	if m != nil && c != '/' {
		m.endRun()
	}
}

func (m *proseMeter) endString() {
	if m != nil {
		m.endRun()
	}
}

func (m *proseMeter) endRun() {
	if m.run >= opaqueRun {
		m.bytes += m.run
		m.files++
	}
	m.run = 0
}

var base64Byte = func() (table [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=") {
		table[c] = true
	}
	return table
}()
