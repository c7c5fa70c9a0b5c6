# Modules of their own: integrations and examples with dependencies that the
# root go.mod must not have. internal/tools only pins versions.
NESTED := $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path './go.mod' -not -path './internal/tools/*'))
MODULES := . $(sort $(NESTED))

# Modules with vendors' SDKs or a driver of browsers: building those once more for the race detector would
# take longer than all other tests together, and what races is tested elsewhere.
UNRACED := ./internal/pagetest ./internal/sdktest ./examples/chat ./examples/sms

# ST1005 wants errors in lower case; those of a configuration begin with the
# name of the field that is wrong, as it is spelled.
CHECKS := inherit,-ST1005

FUZZTIME ?= 10s
FLEETTIME ?= 1h
FLEETSEED ?= 1000000
SOAKTIME ?= 10m

.PHONY: help test prerequisites vet lint race allocations fuzz fleets soak bench quickstart

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

test: prerequisites vet lint race allocations ## everything that must pass: vet, lint, race, allocations

prerequisites: ## install redis-server, a C compiler and Chromium where missing
	@internal/tools/prerequisites.sh

vet: ## go vet, all modules
	@set -e; for m in $(MODULES); do echo "go vet: $$m"; go -C $$m vet ./...; done

lint: bin/staticcheck ## staticcheck and gofmt, all modules
	@set -e; for m in $(MODULES); do echo "staticcheck: $$m"; (cd $$m && "$(CURDIR)/bin/staticcheck" -checks $(CHECKS) ./...); done
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt: $$unformatted" >&2; exit 1; }

race: ## all tests with the race detector, but for modules with SDKs
	@set -e; for m in $(filter-out $(UNRACED),$(MODULES)); do echo "go test -race: $$m"; go -C $$m test -race -timeout 10m ./...; done
	@set -e; for m in $(UNRACED); do echo "go test: $$m"; go -C $$m test -timeout 5m ./...; done

allocations: ## what calls allocate, which the race detector would change
	go test -run 'Allocates' ./throttle

fuzz: ## every fuzz target for FUZZTIME (10s) each
	@internal/tools/fuzz.sh $(FUZZTIME)

fleets: ## random fleets against the exact model for FLEETTIME (1h), from FLEETSEED on
	go test -run '^TestRandomFleets$$' -v -timeout 0 ./throttle -fleets.for=$(FLEETTIME) -fleets.first=$(FLEETSEED)

soak: prerequisites ## a fleet and its faults for SOAKTIME (10m), after which all is as before
	go test -run '^TestAFleetForgetsAllFaultsInTheEnd$$' -v -timeout 0 ./throttle -soak.for=$(SOAKTIME)

bench: ## headgate against its peers, every goal beside its figure (8 min); draws docs/bench.svg
	go run -C internal/peerbench . -svg ../../docs/bench.svg $(BENCHFLAGS)

quickstart: ## run the quickstart example
	go run ./examples/quickstart

# Always handed to go build, which knows better than make whether the sources
# or the Go version changed.
.PHONY: bin/staticcheck
bin/staticcheck:
	@go build -C internal/tools -o "$(CURDIR)/bin/staticcheck" honnef.co/go/tools/cmd/staticcheck
