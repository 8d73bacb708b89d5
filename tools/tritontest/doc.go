// Package tritontest runs generated Triton modules without Triton, for tests.
//
// The module's text, with all of its call and its kernels, runs in whittle's Python beside an interpreter of the part of Triton that it uses
// (interpreter.py), whose blocks are tensors. The interpreter is stricter than the language: see there.
package tritontest
