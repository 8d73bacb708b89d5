import math
from numbers import Rational


class Fraction(Rational):
    __slots__ = ('numerator', 'denominator')

    def __new__(cls, n=0, d=None):
        self = object.__new__(cls)
        if d is None:
            if isinstance(n, Fraction):
                n, d = n.numerator, n.denominator
            elif isinstance(n, float):
                n, d = n.as_integer_ratio()
            elif isinstance(n, str):
                a, _, b = n.partition('/')
                if '.' in a:
                    i, _, f = a.partition('.')
                    n, d = int(i + f), 10 ** len(f)
                else:
                    n, d = int(a), int(b or 1)
            else:
                d = 1
        if isinstance(n, Fraction) or isinstance(d, Fraction):
            q = Fraction(n) / Fraction(d)
            n, d = q.numerator, q.denominator
        if d == 0:
            raise ZeroDivisionError(f'Fraction({n}, 0)')
        g = math.gcd(n, d) * (1 if d > 0 else -1)
        self.numerator, self.denominator = n // g, d // g
        return self

    def _c(o): return o if isinstance(o, Fraction) else Fraction(o) if isinstance(o, int) else None

    def _op(f, g):
        def op(a, b):
            if isinstance(b, float):
                return g(float(a), b)
            b = Fraction._c(b)
            return NotImplemented if b is None else f(a, b)
        def rop(a, b):
            if isinstance(b, float):
                return g(b, float(a))
            b = Fraction._c(b)
            return NotImplemented if b is None else f(b, a)
        return op, rop

    __add__, __radd__ = _op(lambda a, b: Fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator), lambda a, b: a + b)
    __sub__, __rsub__ = _op(lambda a, b: Fraction(a.numerator * b.denominator - b.numerator * a.denominator, a.denominator * b.denominator), lambda a, b: a - b)
    __mul__, __rmul__ = _op(lambda a, b: Fraction(a.numerator * b.numerator, a.denominator * b.denominator), lambda a, b: a * b)
    __truediv__, __rtruediv__ = _op(lambda a, b: Fraction(a.numerator * b.denominator, a.denominator * b.numerator), lambda a, b: a / b)
    __floordiv__, __rfloordiv__ = _op(lambda a, b: a.numerator * b.denominator // (a.denominator * b.numerator), lambda a, b: a // b)
    __mod__, __rmod__ = _op(lambda a, b: a - b * (a // b), lambda a, b: a % b)
    def __divmod__(self, o): return self // o, self % o
    def __rdivmod__(self, o): return o // self, o % self
    def __round__(self, ndigits=None):
        if ndigits is None:
            low, rest = divmod(self.numerator, self.denominator)
            twice = 2 * rest
            return low + (twice > self.denominator or twice == self.denominator and low % 2)
        shift = 10 ** abs(ndigits)
        if ndigits > 0:
            return Fraction(round(self * shift), shift)
        return Fraction(round(self / shift) * shift)
    def __pos__(self): return Fraction(self)
    def as_integer_ratio(self): return self.numerator, self.denominator
    def is_integer(self): return self.denominator == 1
    @classmethod
    def from_float(cls, f): return cls(f)
    def __pow__(self, n): return Fraction(self.numerator ** n, self.denominator ** n) if isinstance(n, int) and n >= 0 else Fraction(self.denominator ** -n, self.numerator ** -n) if isinstance(n, int) else float(self) ** n
    def __neg__(self): return Fraction(-self.numerator, self.denominator)
    def __abs__(self): return Fraction(abs(self.numerator), self.denominator)
    def __float__(self): return self.numerator / self.denominator
    def __int__(self): return int(self.numerator / self.denominator) if abs(self.numerator) < 2**50 else (self.numerator // self.denominator if self.numerator >= 0 else -(-self.numerator // self.denominator))
    __trunc__ = __int__
    def __floor__(self): return self.numerator // self.denominator
    def __ceil__(self): return -(-self.numerator // self.denominator)
    def __eq__(self, o): return self.numerator == o * self.denominator if isinstance(o, int) else float(self) == o if isinstance(o, float) else isinstance(o, Fraction) and (self.numerator, self.denominator) == (o.numerator, o.denominator)
    def __lt__(self, o): return self.numerator * Fraction(o).denominator < Fraction(o).numerator * self.denominator
    def __le__(self, o): return self == o or self < o
    def __gt__(self, o): return not self <= o
    def __ge__(self, o): return not self < o
    def __bool__(self): return self.numerator != 0
    def __hash__(self): return hash(self.numerator) if self.denominator == 1 else self._hash()
    def _hash(self):
        p = 2 ** 61 - 1
        if self.denominator % p == 0:
            h = 314159
        else:
            h = abs(self.numerator) * pow(self.denominator, -1, p) % p
        return -2 if self.numerator < 0 and h == 1 else h if self.numerator >= 0 else -h
    def __repr__(self): return f'Fraction({self.numerator}, {self.denominator})'
    def __str__(self): return str(self.numerator) if self.denominator == 1 else f'{self.numerator}/{self.denominator}'
    def limit_denominator(self, max_denominator=1000000):
        if max_denominator < 1:
            raise ValueError("max_denominator should be at least 1")
        if self.denominator <= max_denominator:
            return Fraction(self)
        # Convergents of the continued fraction, up to the last whose denominator is allowed, and the best before the next.
        before, last = (0, 1), (1, 0)
        n, d = self.numerator, self.denominator
        while True:
            a = n // d
            q = before[1] + a * last[1]
            if q > max_denominator:
                break
            before, last = last, (before[0] + a * last[0], q)
            n, d = d, n - a * d
        k = (max_denominator - before[1]) // last[1]
        near, other = Fraction(*last), Fraction(before[0] + k * last[0], before[1] + k * last[1])
        return near if abs(near - self) <= abs(other - self) else other
