// Package tensor holds values: dtypes, storages, strided tensors and views,
// type promotion, broadcasting, random streams and the printed form of a tensor.
//
// It computes nothing but copies between layouts and dtypes; operators live in
// package aten. Mirrors c10's TensorImpl and torch/_tensor_str.py.
package tensor
