package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// A budget is one entry of the file.
type budget struct {
	Models      []string `json:"models"`
	RPM         int64    `json:"rpm"`
	TPM         int64    `json:"tpm"`
	TenantShare float64  `json:"tenantShare"` // 0: a tenant may use all of it
}

// readBudgets returns what the file says, and no budgets for no file. A word that
// it doesn't know is an error: a limit that was misspelt must not be none.
func readBudgets(file string) ([]throttle.Budget, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var said []budget
	words := json.NewDecoder(bytes.NewReader(text))
	words.DisallowUnknownFields()
	if err := words.Decode(&said); err != nil {
		return nil, err
	}
	if words.More() {
		return nil, errors.New("there is more than one list")
	}
	var budgets []throttle.Budget
	for _, b := range said {
		budgets = append(budgets, b.limited())
	}
	return budgets, nil
}

func (b budget) limited() throttle.Budget {
	limited := throttle.Budget{Models: b.Models, Tenants: throttle.TenantPolicy{Share: b.TenantShare}}
	if b.RPM != 0 {
		limited.Limits = append(limited.Limits, throttle.Requests(b.RPM, time.Minute))
	}
	if b.TPM != 0 {
		limited.Limits = append(limited.Limits, throttle.Tokens(b.TPM, time.Minute))
	}
	return limited
}
