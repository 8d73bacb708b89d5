//go:build !linux

package cli

// populate has the system give pages to n bytes of memory from at. This one is not asked.
func populate(at uintptr, n int) {}
