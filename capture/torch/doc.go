// Package torch is the torch package as scripts see it.
//
// What PyTorch has in C++ (tensors, operators, dtypes, the autograd switch, graph modules) is
// bound here in Go; what it has in Python lies in py/ as sources of our own, embedded. Every public call
// goes through one place (call), where capture can listen: that is PyTorch's __torch_function__ mode.
// Every operator goes through another, beneath autograd: there classes and modes hear of it by __torch_dispatch__
// (pydispatch.go), and tensors without data belong to a FakeMode, of which the device meta is one (fakemode.go, meta.go).
// Where transformations of torch.func are under way, operators run on their levels first (functorch.go, on kernels/levels).
// What runs is told to a profiler while one is on (profiler.go), and where a backward pass fails to the program that asked for it (anomaly.go).
// Public names of PyTorch that are not here yet are listed in absent.txtar: a use of one says which it is.
// It knows neither derivatives nor backends: they are handed in by whoever wires the program.
package torch
