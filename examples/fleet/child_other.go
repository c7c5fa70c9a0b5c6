//go:build !linux

package main

import "os/exec"

// dieWithParent can't be had here: if the program itself is killed, its servers
// stay.
func dieWithParent(*exec.Cmd) {}
