//go:build !amd64

package parallel

import "runtime"

// pause lets another goroutine run.
func pause() { runtime.Gosched() }
