// Package levels runs operators under the transformations of torch.func: a stack of levels over a dispatcher.
//
// Each level has tensors of its own, that wrap those of the levels beneath. One of vmap wraps a tensor with one dimension more, and runs an operator by a rule
// for that dimension, or once for each index of it. One of grad or jvp records operators on what it wraps, by an engine that it is given. What the top
// level makes of an operator runs on the level beneath, and at last on the dispatcher under the stack.
//
// Mirrors aten/src/ATen/functorch.
package levels
