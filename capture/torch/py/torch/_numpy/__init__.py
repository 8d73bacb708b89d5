"""NumPy's API on tensors: what torch.compile makes of numpy code.

The functions take arrays, tensors, nested lists and numbers, and give arrays of this package, each of which is a tensor in NumPy's clothes. Types are
promoted as NumPy does, with Python's own numbers weak (NEP 50). Arguments that tensors have no counterpart for are refused, not ignored.
"""

from math import e, pi

from . import fft, linalg, random
from ._dtypes import *
from ._funcs import *
from ._getlimits import finfo, iinfo
from ._ndarray import array, asarray, ascontiguousarray, can_cast, from_dlpack, ndarray, newaxis, result_type
from ._ufuncs import *
from ._util import AxisError, UFuncTypeError

alltrue = all
sometrue = any

inf = float("inf")
nan = float("nan")

False_ = False
True_ = True
