"""Types for annotations."""
from typing import Any, Union

from numpy._core._multiarray_umath import dtype, generic, ndarray

ArrayLike = Union[ndarray, list, tuple, int, float, complex, str, bytes, Any]
DTypeLike = Union[dtype, type, str, None, Any]


class _NDArray:
    def __getitem__(self, item):
        return ndarray[tuple[int, ...], dtype[item]]

    def __repr__(self):
        return "numpy.typing.NDArray"


NDArray = _NDArray()
