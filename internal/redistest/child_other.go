//go:build !linux

package redistest

import "os/exec"

// diesWithParent tells tests whether dieWithParent works.
const diesWithParent = false

// dieWithParent does nothing where the system offers nothing: there a killed
// test binary leaves its servers running.
func dieWithParent(*exec.Cmd) {}
