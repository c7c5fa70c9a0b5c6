package dialect

import (
	"strings"
	"testing"
)

func TestOnlyLongRunsOfBase64AreFiles(t *testing.T) {
	run := func(n int) string { return strings.Repeat("A", n) }
	tests := []struct {
		name, json   string
		files, bytes int64
	}{
		{"one short of it", `"` + run(opaqueRun-1) + `"`, 0, 0},
		{"just long enough", `"` + run(opaqueRun) + `"`, 1, opaqueRun},
		{"after a prefix", `"data:image/png;base64,` + run(5000) + `"`, 1, 5000},
		{"a blank in the middle", `"` + run(3000) + " " + run(3000) + `"`, 0, 0},
		{"two of them", `["` + run(5000) + `","` + run(6000) + `"]`, 2, 11_000},
		{"two in one string", `"` + run(5000) + " " + run(6000) + `"`, 2, 11_000},
		{"escaped slashes", `"` + strings.Repeat(`AAAA\/`, 2000) + `"`, 1, 8000},
		{"other escapes", `"` + strings.Repeat(run(76)+`\n`, 100) + `"`, 0, 0},
		{"prose", `"` + strings.Repeat("some words ", 1000) + `"`, 0, 0},
		{"not Latin", `"` + strings.Repeat("模型", 3000) + `"`, 0, 0},
		{"not in a string", strings.Repeat("1", 5000), 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{len(tt.json), 1, 1000} {
				var m proseMeter
				s := newScanner(maxModel, func(*path, valueKind, *textBuffer) {})
				s.measure = &m
				for rest := tt.json; rest != ""; {
					n := min(piece, len(rest))
					s.Write([]byte(rest[:n]))
					rest = rest[n:]
				}
				if m.files != tt.files || m.bytes != tt.bytes {
					t.Errorf("in pieces of %d: %d files of %d bytes, want %d of %d", piece, m.files, m.bytes, tt.files, tt.bytes)
				}
			}
		})
	}
}
