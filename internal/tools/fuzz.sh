#!/bin/bash
# Runs every fuzz target of the module, one after the other, for $1 each:
# `go test -fuzz` takes one target of one package at a time.
set -euo pipefail
each=${1:?how long each target runs, such as 10s}

go test -list '^Fuzz' ./... | awk '
	/^Fuzz/ { targets[++n] = $1 }
	/^ok/   { for (i = 1; i <= n; i++) print $2, targets[i]; n = 0 }
' | while read -r package target; do
	echo "$target in $package"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$each" "$package"
done
