package throttle

import "context"

// A Throttle decides which calls go out and when.
type Throttle struct{}

func New(c Config) (*Throttle, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Throttle{}, nil
}

func (t *Throttle) Acquire(ctx context.Context, call Call) (Permit, error) {
	return Permit{}, nil
}
func (t *Throttle) Check(ctx context.Context, call Call) error { return nil }
func (t *Throttle) Fit(ctx context.Context, call Call, guess Cost) Cost {
	return call.Cost.plus(guess)
}
func (t *Throttle) Status(ctx context.Context) (Status, error) { return Status{}, nil }
func (t *Throttle) SetBudgets(b []Budget) error                { return notBuilt("SetBudgets", "it") }
func (t *Throttle) Close() error                               { return nil }

type Status struct{}

type Permit struct{}

func (p Permit) Answered(v Verdict) {}
func (p Permit) Settle(actual Cost) {}
func (p Permit) Done()              {}
func (p Permit) Cancel()            {}
func (p Permit) Probe() bool        { return false }

type Store interface{ sealed() }

type MemoryStore struct{}

func (*MemoryStore) sealed()       {}
func NewMemoryStore() *MemoryStore { return &MemoryStore{} }
