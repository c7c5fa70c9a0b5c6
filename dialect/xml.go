package dialect

import (
	"bytes"
	"encoding/xml"
	"io"
)

// Where an error in XML has its code and its text for people, at any depth:
// "<ErrorResponse><Error><Code>Throttling</Code><Message>…".
const (
	xmlCode    = "Code"
	xmlMessage = "Message"
)

// readXML reads an error in XML, as far as it is well formed.
func (f *facts) readXML(body []byte) {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"+byteOrderMark), []byte("<")) {
		return
	}
	dec := xml.NewDecoder(bytes.NewReader(body))
	dec.Strict = false
	dec.CharsetReader = asItIs
	for inside := ""; ; {
		token, err := dec.Token()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			inside = t.Name.Local
		case xml.EndElement:
			inside = ""
		case xml.CharData:
			f.addXML(inside, t)
		}
	}
}

// asItIs takes any character set for one whose codes and phrases are ASCII.
func asItIs(_ string, r io.Reader) (io.Reader, error) { return r, nil }

func (f *facts) addXML(element string, text []byte) {
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0:
	case element == xmlCode:
		f.addCode(xmlCode, text)
	case element == xmlMessage:
		f.addMessage(xmlMessage, text)
	}
}
