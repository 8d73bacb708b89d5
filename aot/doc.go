// Package aot turns a captured function into aten graphs for forward and backward.
//
// Compile runs the function on fake tensors through a stack of dispatchers
// (autograd.Engine, Functional, Tracer), which leaves one joint graph free of mutation;
// the partitioner cuts it in two. What comes back is a callable over real tensors that
// applies input mutations, rebuilds aliased outputs and hooks the backward graph into
// eager autograd. CompileForAllSizes does the same for inputs with symbolic sizes, by
// several traces. Mirrors torch/_functorch/aot_autograd.py. It compiles nothing itself: see
// package lowering.
package aot
