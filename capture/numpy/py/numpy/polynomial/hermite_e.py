"""Hermite polynomials, the probabilists'."""
import numpy as np
from numpy.polynomial._family import Family, publish
from numpy.polynomial._polybase import ABCPolyBase

family = Family("herme", up=lambda n: 1, mid=lambda n: 0, down=lambda n: n, derivative=lambda n: ((n - 1, n),),
                integral=lambda n: ((n + 1, 1 / (n + 1)),), weight=lambda x: np.exp(-0.5 * x**2), mass=np.sqrt(2 * np.pi))


class HermiteE(ABCPolyBase):
    window = family.domain
    domain = family.domain
    basis_name = "He"


publish(globals(), family, HermiteE)
