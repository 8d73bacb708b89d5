// Package ndarray computes with arrays as NumPy has them: any strides over a buffer, NumPy's dtypes, its promotion (NEP 50), its universal
// functions and reductions, indexing, sorting, text forms and random streams.
//
// It knows no Python. Elements that are Python objects (dtype O) are opaque; what they mean is told by the Language of their dtype.
// A buffer may be the storage of a tensor: then both see the same bytes.
//
// To find one's way: dtype.go, array.go and layout.go have the values; cast.go conversions; walk.go the loops over several arrays; ufunc.go
// and the files loops_*.go the table of universal functions; reduce.go what is made of them; index.go, sort.go, format.go the rest.
package ndarray
