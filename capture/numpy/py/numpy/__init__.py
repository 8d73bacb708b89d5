"""NumPy: arrays, on kernels written in Go."""
import sys as _sys

from numpy import exceptions
from numpy._core import _multiarray_umath as _mu
from numpy._core._multiarray_umath import *
from numpy._core.arrayprint import *
from numpy._core.fromnumeric import *
from numpy._core.numeric import *
from numpy._core.numerictypes import *
from numpy.lib import shapes as _shapes
from numpy.lib.functions import *
from numpy.lib.npyio import fromfile, fromstring, genfromtxt, load, loadtxt, save, savetxt, savez, savez_compressed
from numpy.lib.shapes import *

__version__ = "2.2.4"

# What star imports carry along from the modules above.
for _n in ("builtins", "math", "warnings", "functools", "operator", "contextlib", "contextvars", "where_", "isscalar_", "issubclass_", "normalize_axis_index", "normalize_axis_tuple", "issubclass_", "nd_grid", "IndexExpression", "AxisError", "scalar"):
    globals().pop(_n, None)
del _n

newaxis = None
little_endian = _sys.byteorder == "little"
True_, False_ = bool_(1), bool_(0)
bool = bool_
half, single, double = float16, float32, float64
byte, ubyte, short, ushort, intc, uintc = int8, uint8, int16, uint16, int32, uint32
int_ = intp = long = longlong = int64
uint = uintp = ulong = ulonglong = uint64
csingle, cdouble = complex64, complex128
ScalarType = (int, float, complex, type(True), bytes, str, memoryview, bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, float64, complex64, complex128, object_, bytes_, str_)

# Names that hide Python's own, and methods that are functions.
from numpy._core.fromnumeric import all, any, max, min, round, sum
from numpy._core._multiarray_umath import absolute as abs
from numpy._core._multiarray_umath import array, dtype, ndarray
from numpy import fft, lib, linalg, random


def __getattr__(name):
    if name in ("testing", "typing", "_core", "core", "polynomial"):
        full = "numpy." + ("_core" if name == "core" else name)
        __import__(full)
        return _sys.modules[full]
    if name in ("float", "int", "complex", "object", "str"):
        raise AttributeError(f"module 'numpy' has no attribute '{name}'.\n`np.{name}` was a deprecated alias for the builtin `{name}`. To avoid this error in existing code, use `{name}` by itself. Doing this will not modify any behavior and is safe."
                             + (f" If you specifically wanted the numpy scalar type, use `np.{name}64` here." if name == "float" else " When replacing `np.int`, you may wish to use e.g. `np.int64` or `np.int32` to specify the precision. If you wish to review your current use, check the release note link for additional information." if name == "int" else f" If you specifically wanted the numpy scalar type, use `np.complex128` here." if name == "complex" else f" If you specifically wanted the numpy scalar type, use `np.str_` here." if name == "str" else "")
                             + "\nThe aliases was originally deprecated in NumPy 1.20; for more details and guidance see the original release note at:\n    https://numpy.org/devdocs/release/1.20.0-notes.html#deprecations")
    raise AttributeError(f"module 'numpy' has no attribute {name!r}")
