package headgateotel_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	headgateotel "github.com/headgate-go/headgate/integrations/otel"
	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Metrics for a throttle, and otelhttp's span of each request with the wait on it.
func Example() {
	reader, spans := metric.NewManualReader(), tracetest.NewSpanRecorder()
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	tracers := trace.NewTracerProvider(trace.WithSpanProcessor(spans))

	metrics, err := headgateotel.New(headgateotel.WithMeterProvider(meters))
	if err != nil {
		fmt.Println(err)
		return
	}
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{Models: []string{"gpt-4o*"}, Limits: []throttle.Limit{throttle.Requests(600, time.Minute)}}},
		Observe: metrics.Observe,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer th.Close()
	if err := metrics.Watch(th); err != nil {
		fmt.Println(err)
		return
	}
	defer metrics.Close()

	client := &http.Client{Transport: otelhttp.NewTransport(
		headgateotel.NewTransport(headgate.NewTransport(th, dialect.OpenAI)),
		otelhttp.WithTracerProvider(tracers), otelhttp.WithMeterProvider(meters),
	)}
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{}`) }))
	defer vendor.Close()
	resp, err := client.Post(vendor.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"gpt-4o-mini"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()

	for _, a := range spans.Ended()[0].Attributes() {
		if a.Key == "headgate.wait" {
			fmt.Println(a.Key, "below a second:", a.Value.AsFloat64() < 1)
		}
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		fmt.Println(err)
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "headgate.decisions" {
				fmt.Println(m.Name, sum.DataPoints[0].Value)
			}
		}
	}
	// Output:
	// headgate.wait below a second: true
	// headgate.decisions 1
}
