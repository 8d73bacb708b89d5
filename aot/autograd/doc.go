// Package autograd records operators for differentiation and runs them backward.
//
// Engine is a dispatcher layer: it runs an operator on the layer below and, where a
// gradient is needed, hangs a Node on the result. The derivative table is the only
// place that knows a formula; eager backward() and the joint graph of package aot
// evaluate the same row, each on its own dispatcher. Mirrors torch/csrc/autograd
// and derivatives.yaml. What a node keeps for its backward pass, by the program's hooks where
// it has some, is what its formula reads when it runs on shapes alone: saved.go. A Watcher is told of what
// runs, and an Anomaly of what fails in a backward pass: watch.go; without them an operator costs one look at a pointer. It does not accumulate into Python objects: .grad lives in Meta.
package autograd
