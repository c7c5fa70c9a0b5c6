package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// An svg is a drawing in the making. Its height is known at its end.
type svg struct{ body bytes.Buffer }

func (s *svg) text(x, y, size float64, colour, weight, anchor, text string) {
	fmt.Fprintf(&s.body, `<text x="%.1f" y="%.1f" font-size="%.1f" fill="%s" font-weight="%s" text-anchor="%s">`, x, y, size, colour, weight, anchor)
	_ = xml.EscapeText(&s.body, []byte(text)) // a buffer takes everything
	s.body.WriteString("</text>\n")
}

func (s *svg) rect(x, y, wide, high float64, colour string) {
	fmt.Fprintf(&s.body, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1.5" fill="%s"/>`+"\n", x, y, wide, high, colour)
}

func (s *svg) line(x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(&s.body, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

func (s *svg) dot(x, y, r float64, colour string) {
	fmt.Fprintf(&s.body, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"/>`+"\n", x, y, r, colour)
}

// close returns the whole drawing.
func (s *svg) close(high float64) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %d %.0f" `+
		`font-family="-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif">`+"\n", chartWide, high, chartWide, high)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", ground)
	b.Write(s.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}
