// Package numpy is the module numpy of the Python VM: its classes and functions over package kernels/ndarray.
//
// Register makes it known to an interpreter; nothing is loaded before it is imported. What is composed of other functions is Python of our own
// in py/numpy, on the native module numpy._core._multiarray_umath, which this package is. Of gives the state of an interpreter, and with it the
// conversions between Python objects and arrays that other packages (torch) need.
//
// py/scipy is what programs for PyTorch use of SciPy and can be said with numpy alone; the rest of SciPy's public names can be imported, and raise
// NotImplementedError when they are used.
package numpy
