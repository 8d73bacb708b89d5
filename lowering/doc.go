// Package lowering compiles aten graphs.
//
// Lower turns each node into loops (pointwise, reduction), a view, or an extern call of
// the eager kernel; package sched groups loops; package codegen writes C++ for each group, which
// kernels/native builds, caches and loads, or package tiles runs them without a compiler. Compile does all of it and returns a callable.
// Where Config.Tuned asks for it, the forms that a kernel can have (how many threads share its loops, tiles) are measured, and the fastest is taken.
// Triton stops at the text: package triton writes what would run on a GPU.
// Mirrors torch/_inductor/graph.py and compile_fx.py. It never traces: see package aot.
package lowering
