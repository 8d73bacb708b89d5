"""Legendre polynomials."""
from numpy.polynomial._family import Family, publish
from numpy.polynomial._polybase import ABCPolyBase

family = Family("leg", up=lambda n: (n + 1) / (2 * n + 1) if n else 1, mid=lambda n: 0, down=lambda n: n / (2 * n + 1),
                derivative=lambda n: [(k, 2 * k + 1) for k in range(n - 1, -1, -2)],
                integral=lambda n: ((n + 1, 1 / (2 * n + 1)), (n - 1, -1 / (2 * n + 1))) if n else ((1, 1),),
                weight=lambda x: x * 0.0 + 1.0, mass=2.0)


class Legendre(ABCPolyBase):
    window = family.domain
    domain = family.domain
    basis_name = "P"


publish(globals(), family, Legendre)
