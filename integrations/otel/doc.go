// Package headgateotel reports a throttle to OpenTelemetry: Metrics counts its
// decisions and shows its state, and Transport puts the waits, denials and pauses
// of a request on the span of the request's context.
//
// Attributes are bounded: budgets, limits, lanes, outcomes and reasons. None is a
// tenant, an account, a key or a model; see WithMaxBudgets for the budgets that stand for
// models without one.
package headgateotel
