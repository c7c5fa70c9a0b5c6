package main

import "github.com/headgate-go/headgate/examples/internal/findings"

// A table is what a scene found.
type table struct{ findings.Table }
