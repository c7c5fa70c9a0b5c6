#!/bin/bash
# Runs every fuzz target of the module, one after the other, for $1 each:
# `go test -fuzz` takes one target of one package at a time.
set -euo pipefail
each=${1:?how long each target runs, such as 10s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Up to Go 1.26 the end of -fuzztime may itself be reported as a failure. A real
# one names the input that it wrote down.
only_out_of_time() {
	grep -q '^ *context deadline exceeded$' "$log" && ! grep -q 'Failing input written' "$log"
}

targets=$(go test -list '^Fuzz' ./... | awk '
	/^Fuzz/ { targets[++n] = $1 }
	/^ok/   { for (i = 1; i <= n; i++) print $2, targets[i]; n = 0 }
')
while read -r package target; do
	echo "$target in $package"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" "$package" </dev/null >"$log" 2>&1 ||
		only_out_of_time || { cat "$log"; exit 1; }
done <<<"$targets"
