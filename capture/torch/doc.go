// Package torch is the torch package as scripts see it.
//
// What PyTorch has in C++ (tensors, operators, dtypes, the autograd switch, graph modules) is
// bound here in Go; what it has in Python lies in py/ as sources of our own, embedded. Every public call
// goes through one place (call), where capture can listen: that is PyTorch's __torch_function__ mode.
// It knows neither derivatives nor backends: they are handed in by whoever wires the program.
package torch
