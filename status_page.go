package headgate

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"strings"
)

//go:embed page/status.html
var pageFrame string

//go:embed page/status.css
var pageStyle string

//go:embed page/status.js
var pageScript string

// pageHTML is the whole document, the same for everybody: what it shows is
// fetched by its script.
var pageHTML = []byte(strings.NewReplacer("/*style*/", pageStyle, "/*script*/", pageScript).Replace(pageFrame))

// pagePolicy lets a browser run the page's own script and style, known by their
// hashes, and fetch from where the page came; nothing else.
var pagePolicy = "default-src 'none'; script-src " + hashOf(pageScript) + "; style-src " + hashOf(pageStyle) +
	"; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
