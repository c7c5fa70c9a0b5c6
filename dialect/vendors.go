package dialect

import (
	"net/http"

	"github.com/headgate-go/headgate/throttle"
)

// The dialects of this package. Each says in its source file what it goes by.
var (
	Generic Dialect = generic
	IETF    Dialect = ietf

	// Models.
	OpenAI      Dialect = openAI
	AzureOpenAI Dialect = azureOpenAI
	Anthropic   Dialect = anthropic
	Gemini      Dialect = gemini
	Vertex      Dialect = vertex
	Bedrock     Dialect = bedrock
	Mistral     Dialect = mistral
	Cohere      Dialect = cohere
	Groq        Dialect = groq
	DeepSeek    Dialect = deepSeek
	XAI         Dialect = xAI
	OpenRouter  Dialect = openRouter
	Together    Dialect = together
	Fireworks   Dialect = fireworks
	Perplexity  Dialect = perplexity
	HuggingFace Dialect = huggingFace

	// Messages and mail.
	Twilio      Dialect = twilio
	Vonage      Dialect = vonage
	MessageBird Dialect = messageBird
	Plivo       Dialect = plivo
	Sinch       Dialect = sinch
	SES         Dialect = ses
	SNS         Dialect = sns
	SendGrid    Dialect = sendGrid
	Mailgun     Dialect = mailgun
	WhatsApp    Dialect = whatsApp

	// Others.
	Stripe    Dialect = stripe
	Slack     Dialect = slack
	GitHub    Dialect = gitHub
	Shopify   Dialect = shopify
	MetaGraph Dialect = metaGraph
)

var known = []*vendor{
	generic, ietf,
	openAI, azureOpenAI, anthropic, gemini, vertex, bedrock, mistral, cohere, groq, deepSeek, xAI, openRouter, together,
	fireworks, perplexity, huggingFace,
	twilio, vonage, messageBird, plivo, sinch, ses, sns, sendGrid, mailgun, whatsApp,
	stripe, slack, gitHub, shopify, metaGraph,
}

// ByName returns the dialect of that name, as its Name returns it: "openai",
// "azure_openai", "meta_graph".
func ByName(name string) (Dialect, bool) {
	for _, v := range known {
		if v.name == name {
			return v, true
		}
	}
	return nil, false
}

// Names returns the names of all dialects that ByName finds.
func Names() []string {
	names := make([]string, len(known))
	for i, v := range known {
		names[i] = v.name
	}
	return names
}

// generic is plain HTTP: a credential in one of the usual headers, the model,
// if any, in a JSON body, and the status' own meaning. A limit is taken to be
// the whole key's, since nothing tells what else it could belong to.
var generic = plainHTTP("generic")

// ietf is a server that sends the IETF's RateLimit fields (httpapi
// draft-ietf-httpapi-ratelimit-headers). They are understood of everybody, so
// it differs from generic in its name only.
var ietf = plainHTTP("ietf")

func plainHTTP(name string) *vendor {
	return &vendor{
		name:      name,
		key:       headerKey("Authorization", "X-Api-Key", "Api-Key"),
		modelAt:   "model",
		busyScope: throttle.ScopeKey,
		codes:     []string{"error.code", "error.type", "code", "type", "error"},
		messages:  []string{"error.message", "message", "detail", "error"},
		rules:     []rule{deniedAccess, deniedModel},
		shown:     gatewayShown,
		reports:   []func(*http.Response) []throttle.Report{draftOrX},
	}
}

// What a refusal of a model says at vendors that have no code for it.
var (
	deniedAccess = rule{status: 403, says: []string{"access to model"}, class: throttle.ModelDenied}
	deniedModel  = rule{status: 403, says: []string{"model", "not allowed"}, class: throttle.ModelDenied}
)
