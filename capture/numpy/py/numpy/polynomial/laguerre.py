"""Laguerre polynomials."""
import numpy as np
from numpy.polynomial._family import Family, publish
from numpy.polynomial._polybase import ABCPolyBase

family = Family("lag", up=lambda n: -(n + 1), mid=lambda n: 2 * n + 1, down=lambda n: -n, derivative=lambda n: [(k, -1) for k in range(n)],
                integral=lambda n: ((n, 1), (n + 1, -1)), domain=(0.0, 1.0), weight=lambda x: np.exp(-x), mass=1.0)


class Laguerre(ABCPolyBase):
    window = family.domain
    domain = family.domain
    basis_name = "L"


publish(globals(), family, Laguerre)
