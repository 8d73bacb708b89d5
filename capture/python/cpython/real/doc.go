// Package real is a real CPython 3.11 for tests: the one that github.com/kluctl/go-embed-python carries, so that no machine lacks it.
//
// The programs do not link it: it would add 31 MB to them.
package real
