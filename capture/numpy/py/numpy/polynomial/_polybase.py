"""The class of series: coefficients of a family, a domain that is mapped to a window, and a symbol."""
import abc
import numbers
import os

import numpy as np
from numpy.polynomial import polyutils as pu

__all__ = ["ABCPolyBase"]

_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"), str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class ABCPolyBase(abc.ABC):
    __hash__ = None
    __array_ufunc__ = None
    maxpower = 100
    family = None
    basis_name = None
    _use_unicode = os.name != "nt"

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        [self.coef] = pu.as_series([coef], trim=False)
        self.domain, self.window = (self._pair(v, name) for v, name in ((domain, "Domain"), (window, "Window")))
        try:
            if not symbol.isidentifier():
                raise ValueError("Symbol string must be a valid Python identifier")
        except AttributeError:
            raise TypeError("Symbol must be a non-empty string")
        self._symbol = symbol

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)

    def _pair(self, v, name):
        if v is None:
            return self.family.domain if name == "Domain" else type(self).window
        [v] = pu.as_series([v], trim=False)
        if len(v) != 2:
            raise ValueError(f"{name} has wrong number of elements.")
        return v

    @property
    def symbol(self):
        return self._symbol

    def _like(self, coef, domain=None, window=None):
        return type(self)(coef, self.domain if domain is None else domain, self.window if window is None else window, self.symbol)

    # comparisons

    def has_samecoef(self, other):
        return len(self.coef) == len(other.coef) and bool(np.all(self.coef == other.coef))

    def has_samedomain(self, other):
        return np.all(self.domain == other.domain)

    def has_samewindow(self, other):
        return np.all(self.window == other.window)

    def has_sametype(self, other):
        return isinstance(other, self.__class__)

    def __eq__(self, other):
        return (isinstance(other, self.__class__) and bool(np.all(self.domain == other.domain)) and bool(np.all(self.window == other.window))
                and self.coef.shape == other.coef.shape and bool(np.all(self.coef == other.coef)) and self.symbol == other.symbol)

    def __ne__(self, other):
        return not self == other

    # arithmetic

    def _coefs(self, other):
        if not isinstance(other, ABCPolyBase):
            return other
        if not isinstance(other, self.__class__):
            raise TypeError("Polynomial types differ")
        if not np.all(self.domain == other.domain):
            raise TypeError("Domains differ")
        if not np.all(self.window == other.window):
            raise TypeError("Windows differ")
        if self.symbol != other.symbol:
            raise ValueError("Polynomial symbols differ")
        return other.coef

    def _binary(self, f, other, swapped=False):
        other = other if swapped else self._coefs(other)
        try:
            return self._like(f(other, self.coef) if swapped else f(self.coef, other))
        except Exception:
            return NotImplemented

    def __neg__(self):
        return self._like(-self.coef)

    def __pos__(self):
        return self

    def __add__(self, other):
        return self._binary(self.family.add, other)

    def __sub__(self, other):
        return self._binary(self.family.sub, other)

    def __mul__(self, other):
        return self._binary(self.family.mul, other)

    def __radd__(self, other):
        return self._binary(self.family.add, other, True)

    def __rsub__(self, other):
        return self._binary(self.family.sub, other, True)

    def __rmul__(self, other):
        return self._binary(self.family.mul, other, True)

    def __truediv__(self, other):
        if not isinstance(other, numbers.Number) or isinstance(other, bool):
            raise TypeError(f"unsupported types for true division: '{type(self)}', '{type(other)}'")
        return self.__floordiv__(other)

    def __rtruediv__(self, other):
        return NotImplemented

    def _divided(self, a, b):
        try:
            q, r = self.family.div(a, b)
        except ZeroDivisionError:
            raise
        except Exception:
            return NotImplemented
        return self._like(q), self._like(r)

    def __divmod__(self, other):
        return self._divided(self.coef, self._coefs(other))

    def __rdivmod__(self, other):
        return self._divided(other, self.coef)

    def __floordiv__(self, other):
        r = self.__divmod__(other)
        return r if r is NotImplemented else r[0]

    def __mod__(self, other):
        r = self.__divmod__(other)
        return r if r is NotImplemented else r[1]

    def __rfloordiv__(self, other):
        r = self.__rdivmod__(other)
        return r if r is NotImplemented else r[0]

    def __rmod__(self, other):
        r = self.__rdivmod__(other)
        return r if r is NotImplemented else r[1]

    def __pow__(self, other):
        return self._like(self.family.pow(self.coef, other, maxpower=self.maxpower))

    # evaluation and shape

    def __call__(self, arg):
        return self.family.val(pu.mapdomain(arg, self.domain, self.window), self.coef)

    def __iter__(self):
        return iter(self.coef)

    def __len__(self):
        return len(self.coef)

    def __getstate__(self):
        d = self.__dict__.copy()
        d.update(coef=self.coef.copy(), domain=self.domain.copy(), window=self.window.copy())
        return d

    def __setstate__(self, state):
        self.__dict__ = state

    def copy(self):
        return self._like(self.coef)

    def degree(self):
        return len(self) - 1

    def cutdeg(self, deg):
        return self.truncate(deg + 1)

    def trim(self, tol=0):
        return self._like(pu.trimcoef(self.coef, tol))

    def truncate(self, size):
        n = int(size)
        if n != size or n < 1:
            raise ValueError("size must be a positive integer")
        return self._like(self.coef if n >= len(self.coef) else self.coef[:n])

    def mapparms(self):
        return pu.mapparms(self.domain, self.window)

    def linspace(self, n=100, domain=None):
        domain = self.domain if domain is None else domain
        x = np.linspace(domain[0], domain[1], n)
        return x, self(x)

    # calculus

    def integ(self, m=1, k=[], lbnd=None):
        off, scl = self.mapparms()
        return self._like(self.family.int(self.coef, m, k, 0 if lbnd is None else off + scl * lbnd, 1.0 / scl))

    def deriv(self, m=1):
        return self._like(self.family.der(self.coef, m, self.mapparms()[1]))

    def roots(self):
        return pu.mapdomain(self.family.roots(self.coef), self.window, self.domain)

    # series made of others

    def convert(self, domain=None, kind=None, window=None):
        kind = type(self) if kind is None else kind
        domain = kind.family.domain if domain is None else domain
        window = kind.window if window is None else window
        return self(kind.identity(domain, window=window, symbol=self.symbol))

    @classmethod
    def fit(cls, x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        if domain is None:
            domain = pu.getdomain(x)
            if domain[0] == domain[1]:
                domain[0] -= 1
                domain[1] += 1
        elif isinstance(domain, list) and not domain:
            domain = cls.family.domain
        window = cls.window if window is None else window
        r = cls.family.fit(pu.mapdomain(x, domain, window), y, deg, w=w, rcond=rcond, full=full)
        coef, status = r if full else (r, None)
        out = cls(coef, domain=domain, window=window, symbol=symbol)
        return (out, status) if full else out

    @classmethod
    def fromroots(cls, roots, domain=[], window=None, symbol="x"):
        [roots] = pu.as_series([roots], trim=False)
        if domain is None:
            domain = pu.getdomain(roots)
        elif isinstance(domain, list) and not domain:
            domain = cls.family.domain
        window = cls.window if window is None else window
        off, scl = pu.mapparms(domain, window)
        return cls(cls.family.fromroots(off + scl * roots) / scl**len(roots), domain=domain, window=window, symbol=symbol)

    @classmethod
    def identity(cls, domain=None, window=None, symbol="x"):
        domain = cls.family.domain if domain is None else domain
        window = cls.window if window is None else window
        off, scl = pu.mapparms(window, domain)
        return cls(cls.family.line(off, scl), domain, window, symbol)

    @classmethod
    def basis(cls, deg, domain=None, window=None, symbol="x"):
        n = int(deg)
        if n != deg or n < 0:
            raise ValueError("deg must be non-negative integer")
        return cls([0] * n + [1], domain, window, symbol)

    @classmethod
    def cast(cls, series, domain=None, window=None):
        return series.convert(cls.family.domain if domain is None else domain, cls, cls.window if window is None else window)

    # text

    def __repr__(self):
        coef, domain, window = (repr(v)[6:-1] for v in (self.coef, self.domain, self.window))
        return f"{type(self).__name__}({coef}, domain={domain}, window={window}, symbol='{self.symbol}')"

    def __format__(self, spec):
        if spec not in ("", "ascii", "unicode"):
            raise ValueError(f"Unsupported format string '{spec}' passed to {type(self)}.__format__. Valid options are 'ascii' and 'unicode'")
        return self._text(self._use_unicode if spec == "" else spec == "unicode")

    def __str__(self):
        return self._text(self._use_unicode)

    def _text(self, unicode):
        width = np.get_printoptions()["linewidth"]
        width = 75 if width < 1 else width
        out = pu.format_float(self.coef[0])
        off, scl = self.mapparms()
        inner, full = self._inner(off, scl, pu.format_float)
        for n, c in enumerate(self.coef[1:], 1):
            power = str(n)
            if unicode and self.basis_name is None:
                power = power.translate(_DIGITS[0])
            sign = "+"
            if not np.iscomplexobj(c) and not c >= 0:
                sign, c = "-", -c
            term = f"{sign} {pu.format_float(c, parens=True)}{self._term(unicode, power, inner)}"
            if len(out.split("\n")[-1]) + len(term) + (0 if n == len(self.coef) - 1 else 2) >= width:
                term = term.replace(" ", "\n", 1)
            out += " " + term
        return out

    def _inner(self, off, scl, number):
        if off == 0 and scl == 1:
            return self.symbol, self.symbol
        if scl == 1:
            return f"({number(off)} + {self.symbol})", ""
        if off == 0:
            return f"({number(scl)}{self.symbol})", ""
        return f"({number(off)} + {number(scl)}{self.symbol})", ""

    def _term(self, unicode, n, arg):
        if self.basis_name is None:
            if unicode:
                return f"·{arg}{'' if n == '¹' else n}"
            return f" {arg}" + ("" if n == "1" else f"**{n}")
        if unicode:
            return f"·{self.basis_name}{n.translate(_DIGITS[1])}({arg})"
        return f" {self.basis_name}_{n}({arg})"

    def _repr_latex_(self):
        off, scl = self.mapparms()

        def number(x, parens=False):
            return rf"\text{{{pu.format_float(x, parens=parens)}}}"

        def term(n, arg):
            if self.basis_name is not None:
                return f"{{{self.basis_name}}}_{{{n}}}({arg})"
            return "1" if n == 0 else arg if n == 1 else f"{arg}^{{{n}}}"

        arg = self.symbol
        if (off, scl) != (0, 1):
            arg = rf"\left({'' if off == 0 else number(off) + ' + '}{'' if scl == 1 else number(scl)}{self.symbol}\right)"
        parts = []
        for n, c in enumerate(self.coef):
            if n == 0:
                text = number(c)
            elif not isinstance(c, numbers.Real) or c >= 0:
                text = f" + {number(c, parens=True)}"
            else:
                text = f" - {number(-c, parens=True)}"
            if n or self.basis_name is not None:
                text += rf"\,{term(n, arg)}"
            parts.append(rf"\color{{LightGray}}{{{text}}}" if c == 0 and len(self.coef) > 1 else text)
        return rf"${self.symbol} \mapsto {''.join(parts)}$"
