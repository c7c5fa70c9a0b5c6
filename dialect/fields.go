package dialect

import (
	"net/http"
	"strings"
)

// Bounds of a structured field.
const (
	maxField      = 4096 // bytes
	maxFieldItems = 32
)

// parseField reads a header as a list of items with parameters (RFC 9651), as
// far as rate limits need it. Several lines are one list. It is nil where
// anything in it is malformed, or there is too much of it.
func parseField(h http.Header, name string) (items []fieldItem) {
	field := strings.Join(h[name], ",")
	if field == "" || len(field) > maxField {
		return nil
	}
	members, ok := splitField(field, ',')
	if !ok || len(members) > maxFieldItems {
		return nil
	}
	for _, member := range members {
		item, ok := parseItem(member)
		if !ok {
			return nil
		}
		items = append(items, item)
	}
	return items
}

// parseItem reads NAME;key=value;…, where values may be quoted. Hugging Face's
// policies have a second name where a parameter should be ("fixed window";
// "api";q=1000), and that is the one that matters.
func parseItem(text string) (fieldItem, bool) {
	parts, ok := splitField(text, ';')
	if !ok || parts[0] == "" {
		return fieldItem{}, false
	}
	item := fieldItem{name: unquoted(parts[0]), quoted: parts[0][0] == '"', params: make(map[string]string, len(parts)-1)}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case strings.HasPrefix(part, `"`):
			item.name = unquoted(part)
		case key == "" || !isLower(key[0]) && key[0] != '*':
			return fieldItem{}, false
		default:
			item.params[key] = unquoted(value)
		}
	}
	return item, true
}

// splitField splits where sep isn't within quotes, and drops blanks around the
// parts. It is false where a quote isn't closed.
func splitField(s string, sep byte) (parts []string, ok bool) {
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			parts = append(parts, strings.Trim(s[start:i], " \t"))
			start = i + 1
		}
	}
	return append(parts, strings.Trim(s[start:], " \t")), !quoted
}

// unquoted returns a string without its quotes. What is escaped in it stays
// escaped: names are only compared.
func unquoted(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}
