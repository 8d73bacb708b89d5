// Package ops checks whittle against recorded PyTorch operator calls.
//
// Run reads a folder of records (see the README.md beside them) and counts, for each measure,
// how many are met: "eager" compares results on real tensors, "meta" compares shape,
// dtype and strides computed from fake ones. What a record's call means is decided by a
// Resolver: ATen resolves to operators alone; a layer above that knows the torch
// package can supply a fuller one. The package prints nothing.
package ops
