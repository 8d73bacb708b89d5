// Package pybz2 is Python's module _bz2: compression by a library, decompression here, as it has to stop where the stream does.
package pybz2
