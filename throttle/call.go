package throttle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/headgate-go/headgate/lanes"
)

// A Fingerprint stands for a credential wherever it has to be named: in
// Redis, logs, events and errors. It is one way.
type Fingerprint string

// FingerprintOf returns the fingerprint of a credential: the first 16 bytes,
// in hex, of a SHA-256 that is bound to this use. Equal credentials have equal
// fingerprints in every process. The fingerprint of "" is that of no
// credential, and not empty.
func FingerprintOf(credential string) Fingerprint {
	sum := sha256.Sum256([]byte("headgate key\x00" + credential))
	return Fingerprint(hex.EncodeToString(sum[:16]))
}

// A Call is what Acquire decides about.
type Call struct {
	// Key is the credential that the call uses, as a fingerprint. Refusal and
	// probe belong to it.
	Key Fingerprint
	// Account is who pays. Budgets, pauses and the Redis hash tag belong to
	// it. "": the key itself.
	Account string
	// Model chooses the budget.
	Model string
	// Tenant is the customer the call is made for; see WithTenant.
	Tenant string
	// Cost is the estimate that is charged now and settled later.
	Cost Cost
	// Lane is known by its name. The zero Lane is the context's, else the
	// first configured one.
	Lane lanes.Lane
}

type tenantKey struct{}

// WithTenant returns a context whose calls are made for the tenant id, unless
// their Call says otherwise. Tenants matter to budgets that have a policy for
// them (see TenantPolicy); elsewhere the id changes nothing.
func WithTenant(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, tenantKey{}, id)
}
