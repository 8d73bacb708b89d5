// Package enginetest holds engines to what each of them has to do, whatever their processes do to themselves. It is for tests.
package enginetest
