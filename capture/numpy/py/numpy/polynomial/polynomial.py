"""Powers of x."""
import numpy as np
from numpy.polynomial import polyutils as pu
from numpy.polynomial._family import Family, publish
from numpy.polynomial._polybase import ABCPolyBase

family = Family("poly", up=lambda n: 1, mid=lambda n: 0, down=lambda n: 0, derivative=lambda n: ((n - 1, n),), integral=lambda n: ((n + 1, 1 / (n + 1)),))


def polymul(c1, c2):
    [c1, c2] = pu.as_series([c1, c2])
    return pu.trimseq(np.convolve(c1, c2))


family.mul = polymul


def polyvalfromroots(x, r, tensor=True):
    r = np.array(r, ndmin=1)
    if r.dtype.kind in "biu":
        r = r.astype(np.double)
    if isinstance(x, (tuple, list)):
        x = np.asarray(x)
    if isinstance(x, np.ndarray):
        if tensor:
            r = r.reshape(r.shape + (1,) * x.ndim)
        elif x.ndim >= r.ndim:
            raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return np.prod(x - r, axis=0)


class Polynomial(ABCPolyBase):
    window = family.domain
    domain = family.domain


publish(globals(), family, Polynomial, "polyvalfromroots")
