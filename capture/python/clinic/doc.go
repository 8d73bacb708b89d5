// Package clinic makes Python functions of Go functions from one line that says what they take, in the manner of CPython's Argument Clinic.
//
//	clinic.Def(m, "mkdir", "path:path, mode:int=511, *, dir_fd:int?=None", func(c *clinic.Call) (vm.Object, error) { ... })
//
// Arguments are bound and converted before the Go function runs, so that it never has to undo anything. The kinds:
//
//	obj    anything; this is what a parameter without a kind is
//	int    an integer, by __index__; CPython's errors for other things and for what does not fit 64 bits
//	float  a number, by __float__
//	bool   the truth of anything
//	str    a str
//	path   a str, bytes or os.PathLike, without a NUL
//	fpath  the same, or an open file descriptor
//	bytes  what has a buffer: bytes, bytearray, memoryview, array
//	fd     an integer, or what has fileno()
//	dirfd  the file descriptor of a folder, or None
//	float? and so on: None as well
//
// A parameter with the default "nil" is a nil Object in Call.Args if it is not given.
package clinic
