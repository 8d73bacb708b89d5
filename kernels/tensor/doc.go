// Package tensor holds values: dtypes, storages, strided tensors and views,
// type promotion, broadcasting, random streams and the printed form of a tensor.
//
// It computes nothing but copies between layouts and dtypes; operators live in
// package aten. The memory of large tensors is kept for others when nobody holds it any more. Mirrors c10's TensorImpl and torch/_tensor_str.py.
package tensor
