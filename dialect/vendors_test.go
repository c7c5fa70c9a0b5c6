package dialect_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

const sigV4 = "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=abc"

// tokenWith returns a JSON web token with one claim.
func tokenWith(name, value string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(`{"`+name+`":"`+value+`"}`)) + ".sig"
}

// abc is an account that is known by a part of its credential.
var abc = string(throttle.FingerprintOf("abc"))

func TestCredentialAndAccountOfEveryVendor(t *testing.T) {
	const vertexURL = "https://us-central1-aiplatform.googleapis.com/v1/projects/acme/locations/us-central1/publishers/google/models/gemini:generateContent"
	tests := []struct {
		name          string
		dialect       dialect.Dialect
		url           string
		headers       []string
		key, accounts string
	}{
		{"bearer", dialect.Mistral, "https://x/", []string{"Authorization", "Bearer k"}, "k", ""},
		{"bearer", dialect.Cohere, "https://x/", []string{"Authorization", "Bearer k"}, "k", ""},
		{"bearer", dialect.HuggingFace, "https://x/", []string{"Authorization", "Bearer k"}, "k", ""},

		{"key", dialect.AzureOpenAI, "https://acme.openai.azure.com/openai/deployments/d/x", []string{"Api-Key", "k"}, "k", "acme.openai.azure.com"},
		{"Entra: the resource", dialect.AzureOpenAI, "https://acme.openai.azure.com/openai/deployments/d/x", []string{"Authorization", "Bearer eyJhourly"}, "https://acme.openai.azure.com", "acme.openai.azure.com"},

		{"the project", dialect.Vertex, vertexURL, []string{"Authorization", "Bearer ya29.hourly"}, "projects/acme", "projects/acme/locations/us-central1"},
		{"the payer", dialect.Vertex, "https://x/v1/publishers/google/models/g:generateContent", []string{"X-Goog-User-Project", "acme"}, "projects/acme", ""},
		{"express mode's header", dialect.Vertex, "https://x/v1/publishers/google/models/g:generateContent", []string{"X-Goog-Api-Key", "AIza"}, "AIza", ""},
		{"express mode", dialect.Vertex, "https://x/v1/publishers/google/models/g:generateContent?key=AIza", nil, "AIza", ""},
		{"neither", dialect.Vertex, "https://x/v1/publishers/google/models/g:generateContent", []string{"Authorization", "Bearer ya29.hourly"}, "https://x", ""},

		{"signature", dialect.Bedrock, "https://x/", []string{"Authorization", sigV4}, "AKIAEXAMPLE", string(throttle.FingerprintOf("AKIAEXAMPLE")) + "/us-east-1"},
		{"without blanks", dialect.SES, "https://x/", []string{"Authorization", strings.ReplaceAll(sigV4, ", ", ",")}, "AKIAEXAMPLE", string(throttle.FingerprintOf("AKIAEXAMPLE")) + "/us-east-1"},
		{"presigned", dialect.SNS, "https://x/?X-Amz-Credential=AKIAEXAMPLE%2F20260101%2Feu-west-1%2Fsns%2Faws4_request", nil, "AKIAEXAMPLE", string(throttle.FingerprintOf("AKIAEXAMPLE")) + "/eu-west-1"},
		{"bearer", dialect.Bedrock, "https://x/", []string{"Authorization", "Bearer ABSK"}, "ABSK", ""},
		{"odd signature", dialect.Bedrock, "https://x/", []string{"Authorization", "AWS4-HMAC-SHA256 Signature=abc"}, "AWS4-HMAC-SHA256 Signature=abc", ""},

		{"basic", dialect.Vonage, "https://x/", []string{"Authorization", "Basic YWJjOnNlY3JldA=="}, "abc:secret", abc},
		{"query", dialect.Vonage, "https://x/sms/json?api_key=abc&api_secret=secret", nil, "abc:secret", abc},
		{"web token: the application", dialect.Vonage, "https://x/", []string{"Authorization", "Bearer " + tokenWith("application_id", "app-1")}, "app-1", ""},
		{"no web token", dialect.Vonage, "https://x/", []string{"Authorization", "Bearer a.b.c"}, "a.b.c", ""},
		{"nor this", dialect.Vonage, "https://x/", []string{"Authorization", "Bearer a.!.c"}, "a.!.c", ""},
		{"another web token", dialect.Vonage, "https://x/", []string{"Authorization", "Bearer " + tokenWith("sub", "x")}, tokenWith("sub", "x"), ""},

		{"access key", dialect.MessageBird, "https://x/", []string{"Authorization", "AccessKey k"}, "AccessKey k", ""},
		{"basic", dialect.Plivo, "https://x/", []string{"Authorization", "Basic YTpi"}, "Basic YTpi", ""},
		{"basic", dialect.Mailgun, "https://x/", []string{"Authorization", "Basic YTpi"}, "Basic YTpi", ""},
		{"bearer", dialect.Stripe, "https://x/", []string{"Authorization", "Bearer sk_live_1"}, "sk_live_1", ""},
		{"bearer", dialect.Slack, "https://x/api/chat.postMessage", []string{"Authorization", "Bearer xoxb-1"}, "xoxb-1", ""},
		{"query", dialect.Slack, "https://x/api/users.list?token=xoxb-1", nil, "xoxb-1", ""},
		{"bearer", dialect.GitHub, "https://x/", []string{"Authorization", "Bearer ghp_1"}, "ghp_1", ""},
		{"token", dialect.GitHub, "https://x/", []string{"Authorization", "token ghp_1"}, "ghp_1", ""},
		{"header", dialect.Shopify, "https://x/", []string{"X-Shopify-Access-Token", "shpat_1"}, "shpat_1", ""},
		{"query", dialect.MetaGraph, "https://x/v19.0/me?access_token=EAA", nil, "EAA", ""},
		{"bearer", dialect.WhatsApp, "https://x/v19.0/1/messages", []string{"Authorization", "Bearer EAA"}, "EAA", ""},
	}
	for _, tt := range tests {
		t.Run(tt.dialect.Name()+"/"+tt.name, func(t *testing.T) {
			asked := read(t, tt.dialect, post(t, tt.url, "{}", tt.headers...))
			if asked.Credential != tt.key || asked.Account != tt.accounts {
				t.Errorf("credential %q of account %q, want %q of %q", asked.Credential, asked.Account, tt.key, tt.accounts)
			}
		})
	}
}

func TestCredentialInTheBodyIsFoundAndTheBodyKept(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	tests := []struct {
		name         string
		dialect      dialect.Dialect
		typ, body    string
		key, account string
	}{
		{"JSON", dialect.Vonage, "application/json", `{"to":"1","api_secret":"secret","api_key":"abc"}`, "abc:secret", abc},
		{"form", dialect.Vonage, form, "to=1&api_key=abc&text=Z%C3%BCrich&api_secret=secret", "abc:secret", abc},
		{"form", dialect.Slack, form, "channel=C1&token=xoxb-1", "xoxb-1", ""},
		{"JSON", dialect.MetaGraph, "application/json", `{"access_token":"EAA"}`, "EAA", ""},
		{"none", dialect.Vonage, form, "to=1", "https://x", ""},
		{"secret alone", dialect.Vonage, form, "api_secret=secret", "https://x", ""},
		{"another type", dialect.Vonage, "text/plain", "api_key=abc", "https://x", ""},
		{"not within", dialect.Vonage, "application/json", `{"x":{"api_key":"abc"}}`, "https://x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.dialect.Name()+"/"+tt.name, func(t *testing.T) {
			for _, copies := range []bool{true, false} {
				r := post(t, "https://x/", tt.body, "Content-Type", tt.typ)
				if !copies {
					r.GetBody = nil
				}
				asked := read(t, tt.dialect, r)
				if asked.Credential != tt.key || asked.Account != tt.account {
					t.Errorf("credential %q of account %q, want %q of %q", asked.Credential, asked.Account, tt.key, tt.account)
				}
				sent := io.Reader(r.Body)
				if asked.Body != nil {
					sent = asked.Body
				}
				if got, _ := io.ReadAll(sent); string(got) != tt.body {
					t.Errorf("body %q is sent, want %q", got, tt.body)
				}
			}
		})
	}
}

func TestBodyIsLeftAloneWhereTheHeaderHasTheCredential(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.Vonage, dialect.Slack, dialect.WhatsApp, dialect.Stripe, dialect.SES, dialect.Generic, dialect.OpenAI} {
		own := &countedBody{Reader: strings.NewReader("token=x")}
		r := post(t, "https://x/", "", "Authorization", "Bearer k", "Content-Type", "application/x-www-form-urlencoded")
		r.Body, r.GetBody = own, nil
		if asked := read(t, d, r); own.reads > 0 || asked.Body != nil {
			t.Errorf("%s: the body was read", d.Name())
		}
	}
}

func TestModelOfEveryVendor(t *testing.T) {
	const bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/"
	const graph = "https://graph.facebook.com/v19.0/1/messages"
	tests := []struct {
		dialect         dialect.Dialect
		url, body, want string
	}{
		{dialect.Mistral, "https://x/v1/chat/completions", `{"model":"mistral-small"}`, "mistral-small"},
		{dialect.OpenRouter, "https://x/api/v1/chat/completions", `{"model":"meta-llama/llama-3:free"}`, "meta-llama/llama-3:free"},
		{dialect.Fireworks, "https://x/inference/v1/completions", `{"model":"accounts/fireworks/models/x"}`, "accounts/fireworks/models/x"},
		{dialect.Cohere, "https://x/v2/chat", `{"model":"command-r"}`, "command-r"},
		{dialect.HuggingFace, "https://router.huggingface.co/v1/chat/completions", `{"model":"org/name:fastest"}`, "org/name:fastest"},
		{dialect.HuggingFace, "https://router.huggingface.co/hf-inference/models/org/name", `{"inputs":"x"}`, "org/name"},

		{dialect.AzureOpenAI, "https://x/openai/deployments/my%20gpt/chat/completions?api-version=1", `{"model":"gpt-4o"}`, "my gpt"},
		{dialect.AzureOpenAI, "https://x/openai/deployments/100%2525zz/chat/completions", `{}`, "100%25zz"},
		{dialect.AzureOpenAI, "https://x/openai/v1/responses", `{"model":"my-gpt"}`, "my-gpt"},

		{dialect.Vertex, "https://x/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse", `{}`, "gemini-2.5-pro"},
		{dialect.Vertex, "https://x/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet@20250101:rawPredict", `{}`, "claude-sonnet@20250101"},
		{dialect.Vertex, "https://x/v1/projects/p/locations/l/endpoints/openapi/chat/completions", `{"model":"google/gemini-2.5"}`, "google/gemini-2.5"},

		{dialect.Bedrock, bedrock + "anthropic.claude-3-haiku-20240307-v1%3A0/converse", `{}`, "anthropic.claude-3-haiku-20240307-v1:0"},
		{dialect.Bedrock, bedrock + "anthropic.claude-3-haiku-20240307-v1:0/invoke", `{}`, "anthropic.claude-3-haiku-20240307-v1:0"},
		{dialect.Bedrock, bedrock + "arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x/converse-stream", `{}`, "arn:aws:bedrock:us-east-1:1:inference-profile/us.x"},
		{dialect.Bedrock, bedrock + "arn:aws:bedrock:us-east-1:1:inference-profile/us.x/invoke-with-response-stream", `{}`, "arn:aws:bedrock:us-east-1:1:inference-profile/us.x"},
		{dialect.Bedrock, "https://x/guardrail/g/version/1/apply", `{}`, ""},

		{dialect.Plivo, "https://x/v1/Account/MA/Message/", `{"src":"+15550100","dst":"+1"}`, "+15550100"},
		{dialect.WhatsApp, graph, `{"to":"1"}`, ""},
		{dialect.Vonage, "https://x/sms/json", `{"from":"acme","to":"1"}`, ""},
		{dialect.SNS, "https://x/", `{"model":"x"}`, ""},
		{dialect.SendGrid, "https://x/v3/mail/send", `{"model":"x"}`, ""},

		{dialect.Stripe, "https://x/v1/charges", `{}`, "POST /v1/charges"},
		{dialect.Stripe, "https://x/v1/payment_intents/pi_3Nf/confirm", `{}`, "POST /v1/payment_intents/:id/confirm"},
		{dialect.Slack, "https://slack.com/api/chat.postMessage", `{}`, "chat.postMessage"},
		{dialect.Shopify, "https://x/admin/api/2025-01/graphql.json", `{}`, "graphql"},
		{dialect.Shopify, "https://x/admin/api/2025-01/orders.json", `{}`, "rest"},
		{dialect.GitHub, "https://api.github.com/repos/o/r/issues/7/comments", `{}`, "core/repos/o/r/issues"},
		{dialect.GitHub, "https://api.github.com/user", `{}`, "core/user"},
		{dialect.GitHub, "https://api.github.com/", `{}`, "core"},
		{dialect.GitHub, "https://api.github.com/orgs/o/members", `{}`, "core/orgs/o/members"},
		{dialect.GitHub, "https://api.github.com/search/issues?q=x", `{}`, "search/issues"},
		{dialect.GitHub, "https://api.github.com/search/code?q=x", `{}`, "code_search/code"},
		{dialect.GitHub, "https://ghe.example/api/v3/repos/o/r/pulls", `{}`, "core/repos/o/r/pulls"},
		{dialect.GitHub, "https://ghe.example/api/graphql", `{}`, "graphql"},
	}
	for _, tt := range tests {
		if got := read(t, tt.dialect, post(t, tt.url, tt.body)).Model; got != tt.want {
			t.Errorf("%s %s: model %q, want %q", tt.dialect.Name(), tt.url, got, tt.want)
		}
	}
	form := post(t, "https://x/v1/Account/MA/Message/", "src=%2B15550100&dst=%2B1", "Content-Type", "application/x-www-form-urlencoded")
	if got := read(t, dialect.Plivo, form).Model; got != "+15550100" {
		t.Errorf("plivo's form: model %q", got)
	}
	get, _ := http.NewRequest("", "https://x/v1/customers/cus_1", nil)
	if got := read(t, dialect.HuggingFace, get).Model; got != "" {
		t.Errorf("huggingface's GET: model %q", got)
	}
	if got := read(t, dialect.Stripe, get).Model; got != "GET /v1/customers/:id" {
		t.Errorf("stripe's GET: model %q", got)
	}
}

func TestCapOfTheOutputIsChargedWhereTheVendorReservesIt(t *testing.T) {
	tests := []struct {
		dialect         dialect.Dialect
		url, body       string
		stated, guessed int64 // output
	}{
		{dialect.AzureOpenAI, "https://x/openai/deployments/d/chat/completions", `{"max_completion_tokens":50}`, 50, 0},
		{dialect.Groq, "https://x/", `{"model":"m","max_tokens":50}`, 50, 0},
		{dialect.OpenRouter, "https://x/", `{"model":"m","max_tokens":50}`, 50, 0},
		{dialect.Bedrock, "https://x/model/m/converse", `{"inferenceConfig":{"maxTokens":50}}`, 50, 0},
		{dialect.Bedrock, "https://x/model/m/invoke", `{"max_tokens":50}`, 50, 0},
		{dialect.Bedrock, "https://x/model/amazon.titan-embed-text-v2%3A0/invoke", `{"inputText":"x"}`, 0, 0},
		{dialect.Vertex, "https://x/v1/projects/p/locations/l/publishers/google/models/g:generateContent", `{"generationConfig":{"maxOutputTokens":50}}`, 0, 50},
		{dialect.Mistral, "https://x/", `{"model":"m","max_tokens":50}`, 0, 50},
		{dialect.DeepSeek, "https://x/", `{"model":"m","max_tokens":5000}`, 0, 1024},
		{dialect.Cohere, "https://x/v2/chat", `{"model":"m","max_tokens":50}`, 0, 50},
		{dialect.Cohere, "https://x/v2/embed", `{"model":"m"}`, 0, 0},
		{dialect.HuggingFace, "https://x/models/o/n", `{"parameters":{"max_new_tokens":50}}`, 0, 50},
	}
	for _, tt := range tests {
		asked := read(t, tt.dialect, post(t, tt.url, tt.body))
		want := throttle.Cost{InputTokens: in(tt.body), OutputTokens: tt.guessed}
		if asked.Cost != (throttle.Cost{Requests: 1, OutputTokens: tt.stated}) || asked.Guess != want {
			t.Errorf("%s %s: %+v, want %d stated and a guess of %+v", tt.dialect.Name(), tt.body, asked, tt.stated, want)
		}
	}
	for _, d := range []dialect.Dialect{dialect.Plivo, dialect.Stripe, dialect.Slack, dialect.GitHub, dialect.Shopify} {
		asked := read(t, d, post(t, "https://x/api/x", `{"src":"1","max_tokens":50}`))
		if asked.Cost != (throttle.Cost{Requests: 1}) || asked.Guess != (throttle.Cost{}) {
			t.Errorf("%s: %+v, want one request and no tokens", d.Name(), asked)
		}
	}
}

// A field longer than a form may be is like one that isn't there.
func TestFormIsReadInPart(t *testing.T) {
	body := "text=" + strings.Repeat("x", 100<<10) + "&token=xoxb-1"
	r := post(t, "https://x/api/chat.postMessage", body, "Content-Type", "application/x-www-form-urlencoded")
	r.GetBody = nil
	asked := read(t, dialect.Slack, r)
	if asked.Credential != "https://x" {
		t.Errorf("credential %q, want none", asked.Credential)
	}
	if got, _ := io.ReadAll(asked.Body); string(got) != body {
		t.Errorf("%d bytes are sent, want %d", len(got), len(body))
	}
}

// Once a request has been sent, its body is the transport's alone.
func TestJudgeLeavesTheRequestsBodyAlone(t *testing.T) {
	for _, typ := range []string{"application/json", "application/x-www-form-urlencoded"} {
		own := &countedBody{Reader: strings.NewReader("api_key=abc")}
		r := post(t, "https://x/", "", "Content-Type", typ)
		for _, copies := range []func() (io.ReadCloser, error){nil, func() (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }} {
			r.Body, r.GetBody = own, copies
			resp := answer(401, "{}")
			resp.Request = r
			if dialect.Judge(dialect.Vonage, resp); own.reads > 0 {
				t.Errorf("%s: the request's body was read", typ)
			}
		}
	}
}

// No dialect shows a credential, wherever it was.
func TestNoVendorShowsACredential(t *testing.T) {
	const secret = "SECRETLETTERSONLY"
	body := `{"error":{"code":"` + secret + `","type":"` + secret + `","status":"` + secret + `","metadata":{"reason":"` + secret + `"}},
		"code":"` + secret + `","type":"` + secret + `","__type":"` + secret + `","errors":[{"code":"` + secret + `"}]}`
	for _, name := range dialect.Names() {
		d, _ := dialect.ByName(name)
		for where, r := range map[string]*http.Request{
			"bearer": post(t, "https://x/", "{}", "Authorization", "Bearer "+secret),
			"header": post(t, "https://x/", "{}", "Api-Key", secret, "X-Api-Key", secret, "X-Shopify-Access-Token", secret),
			"query":  post(t, "https://x/?key="+secret+"&access_token="+secret+"&api_key="+secret, "{}"),
			"basic":  post(t, "https://x/", "{}", "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("u:"+secret))),
			"body":   post(t, "https://x/", `{"api_key":"`+secret+`","token":"`+secret+`","access_token":"`+secret+`"}`),
		} {
			if where == "body" && !strings.Contains(read(t, d, r).Credential, secret) {
				continue // this vendor has no credential there
			}
			resp := answer(401, body, "Stripe-Rate-Limited-Reason", secret, "X-Amzn-Errortype", secret)
			resp.Request = r
			if got := dialect.Judge(d, resp); strings.Contains(got.Detail, secret) {
				t.Errorf("%s, %s: Detail is %q", name, where, got.Detail)
			}
		}
	}
}
