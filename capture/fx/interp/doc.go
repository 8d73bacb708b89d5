// Package interp computes fx graphs with kernels/aten: on real tensors, or on fake ones for shape propagation.
//
// It resolves overloads by name, arithmetic on symbolic sizes to Go integers, and, as far as an aten operator of the
// same name exists, torch functions and tensor methods. It does not know Python: modules and autograd belong to others.
package interp
