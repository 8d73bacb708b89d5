// Package ops checks whittle against recorded PyTorch operator calls.
//
// Run reads a folder of records (see the README.md beside them), makes each call through whittle's torch package as a script would,
// and counts, for each of Measures, how many are met. The package prints nothing.
package ops
