package main

import (
	"fmt"
	"io"
)

// A bill is what one call was charged, in tokens.
type bill struct {
	answer   string
	before   int64 // charged for earlier calls
	estimate int64
	during   int64 // charged when the answer began
	usage    int64 // as the vendor reports it
	after    int64 // charged when the answer had ended
	left     int64 // of the budget
}

func (b bill) held() bool    { return b.during == b.estimate }
func (b bill) settled() bool { return b.usage > 0 && b.after == b.usage }

// wrong is how many figures aren't what they must be.
func (b bill) wrong() (n int) {
	for _, right := range []bool{b.held(), b.settled()} {
		if !right {
			n++
		}
	}
	return n
}

func (b bill) print(out io.Writer, question string) {
	fmt.Fprintf(out, "\n  %s\n  %s\n", question, b.answer)
	fmt.Fprintf(out, "    estimate %5d   charged while it ran %5d   %s\n", b.estimate, b.during, mark(b.held()))
	fmt.Fprintf(out, "    usage    %5d   charged in the end   %5d   %s\n", b.usage, b.after, mark(b.settled()))
	fmt.Fprintf(out, "    given back %3d   left in the budget   %5d\n", b.during-b.after, b.left)
}

func mark(right bool) string {
	if right {
		return "ok"
	}
	return "WRONG"
}
