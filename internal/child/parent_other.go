//go:build !linux

package child

import "os/exec"

// EndsWithParent is whether the system ends a child with its parent.
const EndsWithParent = false

// dieWithParent does nothing where the system offers nothing.
func dieWithParent(*exec.Cmd) {}
