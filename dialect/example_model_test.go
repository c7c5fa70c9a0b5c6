package dialect_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/dialect"
)

// The same request for another model: nothing else in it changes.
func ExampleWithModel() {
	req, err := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(`{ "n": 1, "model": "gpt-4o" }`))
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	other, err := dialect.WithModel(dialect.OpenAI, req, "gpt-4o-mini")
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := io.ReadAll(other.Body)
	fmt.Println(string(body), err, other.ContentLength-req.ContentLength)
	// Output: { "n": 1, "model": "gpt-4o-mini" } <nil> 5
}
