"""The names by which pickles know the core."""
from numpy._core._multiarray_umath import *
from numpy._core._multiarray_umath import _reconstruct, scalar
