// Package aten is the operator registry: for each operator its schema in
// PyTorch's grammar, tags, effect, meta function, and an eager kernel or a decomposition. What a
// call writes to, which results are views, whether it draws random numbers or may be dropped is
// said here, by Facts, and nowhere else.
//
// Everything that runs an operator goes through a Dispatcher: eager execution,
// fake (metadata) execution, autograd, functionalisation and tracing are layers
// of dispatchers over the same rows. Mirrors native_functions.yaml and torch._ops.
package aten
