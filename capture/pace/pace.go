// Package pace puts off the first collections of Go's collector while a program's packages are initialised.
//
// The tables of operators, opcodes and types take more than the four megabytes at which Go collects first, though nothing of them is ever free:
// three or four collections, a third of what it takes to start. Packages are initialised in the order of their paths where they do not depend on each
// other, so this one, which depends on none, comes before the large ones that it is a neighbour of. A program imports it for that alone, and
// decides about the pace of the collector when it runs.
package pace

import (
	"os"
	"runtime/debug"
)

// First is the percentage until the first collection: it comes at about a hundred megabytes. Go counts from 4 MB at least.
const First = 2300

func init() {
	if os.Getenv("GOGC") == "" { // else the user has decided
		debug.SetGCPercent(First)
	}
}
