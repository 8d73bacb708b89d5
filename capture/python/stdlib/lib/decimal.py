"""Decimal numbers of a chosen precision."""
import math as _math
import re as _re
from _whittle import native as _native

ROUND_DOWN, ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_CEILING = 'ROUND_DOWN', 'ROUND_HALF_UP', 'ROUND_HALF_EVEN', 'ROUND_CEILING'
ROUND_FLOOR, ROUND_UP, ROUND_HALF_DOWN, ROUND_05UP = 'ROUND_FLOOR', 'ROUND_UP', 'ROUND_HALF_DOWN', 'ROUND_05UP'
MAX_PREC = MAX_EMAX = 999999999999999999
MIN_EMIN, MIN_ETINY = -MAX_EMAX, -1999999999999999997
HAVE_THREADS = HAVE_CONTEXTVAR = True


class DecimalException(ArithmeticError): __module__ = 'decimal'
class Clamped(DecimalException): __module__ = 'decimal'
class InvalidOperation(DecimalException): __module__ = 'decimal'
class ConversionSyntax(InvalidOperation): __module__ = 'decimal'
class DivisionImpossible(InvalidOperation): __module__ = 'decimal'
class DivisionUndefined(InvalidOperation, ZeroDivisionError): __module__ = 'decimal'
class InvalidContext(InvalidOperation): __module__ = 'decimal'
class DivisionByZero(DecimalException, ZeroDivisionError): __module__ = 'decimal'
class Inexact(DecimalException): __module__ = 'decimal'
class Rounded(DecimalException): __module__ = 'decimal'
class Subnormal(DecimalException): __module__ = 'decimal'
class Overflow(Inexact, Rounded): __module__ = 'decimal'
class Underflow(Inexact, Rounded, Subnormal): __module__ = 'decimal'
class FloatOperation(DecimalException, TypeError): __module__ = 'decimal'


_SIGNALS = [InvalidOperation, FloatOperation, DivisionByZero, Overflow, Subnormal, Underflow, Rounded, Inexact, Clamped]


def _rounded(n, drop, mode, sign):
    """n without its last digits, some of them, rounded; n is not negative."""
    if drop <= 0:
        return n * 10 ** -drop, True
    unit = 10 ** drop
    q, r = divmod(n, unit)
    if not r:
        return q, True
    half = 2 * r - unit
    up = {ROUND_DOWN: False, ROUND_UP: True, ROUND_CEILING: not sign, ROUND_FLOOR: bool(sign), ROUND_HALF_UP: half >= 0, ROUND_HALF_DOWN: half > 0,
          ROUND_HALF_EVEN: half > 0 or half == 0 and q % 2 == 1, ROUND_05UP: q % 10 in (0, 5)}[mode]
    return q + up, False


@_native
class Context:
    def __init__(self, prec=None, rounding=None, Emin=None, Emax=None, capitals=None, clamp=None, flags=None, traps=None):
        base = DefaultContext if 'DefaultContext' in globals() else None
        def pick(v, name, default): return v if v is not None else getattr(base, name) if base is not None else default
        self.prec, self.rounding = pick(prec, 'prec', 28), pick(rounding, 'rounding', ROUND_HALF_EVEN)
        self.Emin, self.Emax = pick(Emin, 'Emin', -999999), pick(Emax, 'Emax', 999999)
        self.capitals, self.clamp = pick(capitals, 'capitals', 1), pick(clamp, 'clamp', 0)
        on = [InvalidOperation, DivisionByZero, Overflow] if base is None else [s for s, v in base.traps.items() if v]
        self.traps = dict.fromkeys(_SIGNALS, False)
        self.flags = dict.fromkeys(_SIGNALS, False)
        for name, given in (('traps', on if traps is None else traps), ('flags', flags or [])):
            d = getattr(self, name)
            if isinstance(given, dict):
                d.update(given)
            else:
                for s in given:
                    d[s] = True

    def __setattr__(self, name, v):
        if name == 'prec' and not (isinstance(v, int) and 1 <= v <= MAX_PREC):
            raise ValueError("valid range for prec is [1, MAX_PREC]") if isinstance(v, int) else TypeError("argument must be an integer")
        if name == 'rounding' and v not in (ROUND_DOWN, ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_HALF_DOWN, ROUND_05UP):
            raise TypeError("valid values for rounding are:\n  [ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_DOWN,\n   ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN,\n   ROUND_05UP]")
        object.__setattr__(self, name, v)

    def _signal(self, kind, why=None, result=None):
        """Notes a signal; raises where it is trapped."""
        top = next(s for s in kind.__mro__ if s in self.flags)
        self.flags[top] = True
        if self.traps[top]:
            raise top([why or kind])
        return result

    def clear_flags(self): self.flags = dict.fromkeys(_SIGNALS, False)
    def clear_traps(self): self.traps = dict.fromkeys(_SIGNALS, False)
    def copy(self): return Context(self.prec, self.rounding, self.Emin, self.Emax, self.capitals, self.clamp, dict(self.flags), dict(self.traps))
    __copy__ = copy
    def create_decimal(self, num='0'): return Decimal(num, self)._fix(self)
    def create_decimal_from_float(self, f): return Decimal.from_float(f)._fix(self)
    def Etiny(self): return self.Emin - self.prec + 1
    def Etop(self): return self.Emax - self.prec + 1
    def add(self, a, b): return _make(a)._add(_make(b), self)
    def subtract(self, a, b): return _make(a)._add(_make(b).copy_negate(), self)
    def multiply(self, a, b): return _make(a)._mul(_make(b), self)
    def divide(self, a, b): return _make(a)._div(_make(b), self)
    def power(self, a, b, modulo=None): return _make(a)._pow(_make(b), self)
    def sqrt(self, a): return _make(a).sqrt(self)
    def quantize(self, a, b): return _make(a).quantize(b, context=self)
    def plus(self, a): return _make(a)._fix(self)
    def minus(self, a): return (-_make(a))._fix(self)

    def __repr__(self):
        names = ', '.join(s.__name__ for s, v in self.flags.items() if v), ', '.join(s.__name__ for s, v in self.traps.items() if v)
        return (f'Context(prec={self.prec}, rounding={self.rounding}, Emin={self.Emin}, Emax={self.Emax}, capitals={self.capitals}, '
                f'clamp={self.clamp}, flags=[{names[0]}], traps=[{names[1]}])')


_NUMBER = _re.compile(r'(?P<sign>[-+])?(?:(?=\d|\.\d)(?P<int>\d*)(?:\.(?P<frac>\d*))?(?:e(?P<exp>[-+]?\d+))?|inf(?:inity)?|(?P<nan>s?nan)(?P<diag>\d*))', _re.I)


def _new(sign, n, exp, kind=''):
    d = object.__new__(Decimal)
    d._sign, d._n, d._exp, d._kind = sign, n, exp, kind
    return d


def _make(v):
    """An operand as a Decimal; None where it is none."""
    if isinstance(v, Decimal):
        return v
    if isinstance(v, int):
        return _new(int(v < 0), abs(int(v)), 0)
    return None


def _operator(f):
    def op(self, o):
        o = _make(o)
        return NotImplemented if o is None else f(self, o)
    return op


def _reflected(f):
    def op(self, o):
        o = _make(o)
        return NotImplemented if o is None else f(o, self)
    return op


@_native
class Decimal:
    """sign, a whole number and an exponent of ten; kind is '' for those, 'F' for infinity, 'n' and 'N' for not a number."""
    __slots__ = ('_sign', '_n', '_exp', '_kind')

    def __new__(cls, value='0', context=None):
        self = object.__new__(cls)
        if isinstance(value, str):
            m = _NUMBER.fullmatch(value.strip().replace('_', ''))
            if m is None:
                (context or getcontext())._signal(InvalidOperation, ConversionSyntax)
                self._sign, self._n, self._exp, self._kind = 0, 0, 0, 'n'
                return self
            self._sign = int(m['sign'] == '-')
            if m['int'] is not None:
                frac = m['frac'] or ''
                self._n, self._exp, self._kind = int(m['int'] + frac), int(m['exp'] or 0) - len(frac), ''
            elif m['nan']:
                self._n, self._exp, self._kind = int(m['diag'] or 0), 0, 'N' if len(m['nan']) == 4 else 'n'
            else:
                self._n, self._exp, self._kind = 0, 0, 'F'
        elif isinstance(value, Decimal):
            self._sign, self._n, self._exp, self._kind = value._sign, value._n, value._exp, value._kind
        elif isinstance(value, int):
            self._sign, self._n, self._exp, self._kind = int(value < 0), abs(int(value)), 0, ''
        elif isinstance(value, float):
            v = cls.from_float(value)
            self._sign, self._n, self._exp, self._kind = v._sign, v._n, v._exp, v._kind
        elif isinstance(value, (tuple, list)):
            if len(value) != 3:
                raise ValueError('argument must be a sequence of length 3')
            sign, digits, exp = value
            self._sign, self._n = sign, int(''.join(map(str, digits)) or 0)
            self._exp, self._kind = (exp, '') if isinstance(exp, int) else (0, exp)
        else:
            raise TypeError(f"conversion from {type(value).__name__} to Decimal is not supported")
        return self

    @classmethod
    def from_float(cls, f):
        if isinstance(f, int):
            return cls(f)
        if not isinstance(f, float):
            raise TypeError("argument must be int or float")
        if f != f or f in (_math.inf, -_math.inf):
            return cls(repr(f))
        n, d = abs(f).as_integer_ratio()
        k = d.bit_length() - 1
        return _new(int(_math.copysign(1, f) < 0), n * 5 ** k, -k)

    real = property(lambda self: self)
    imag = property(lambda self: Decimal(0))
    def conjugate(self): return self
    def is_nan(self): return self._kind in 'nN' and self._kind != ''
    def is_qnan(self): return self._kind == 'n'
    def is_snan(self): return self._kind == 'N'
    def is_infinite(self): return self._kind == 'F'
    def is_finite(self): return not self._kind
    def is_signed(self): return self._sign == 1
    def is_zero(self): return not self._kind and self._n == 0
    def copy_negate(self): return _new(1 - self._sign, self._n, self._exp, self._kind)
    def copy_abs(self): return _new(0, self._n, self._exp, self._kind)
    def copy_sign(self, o): return _new(_make(o)._sign, self._n, self._exp, self._kind)
    def adjusted(self): return 0 if self._kind else self._exp + len(str(self._n)) - 1
    def as_tuple(self):
        return DecimalTuple(self._sign, (0,) if self._kind == 'F' else () if self._kind and not self._n else tuple(map(int, str(self._n))), self._kind or self._exp)

    def as_integer_ratio(self):
        if self._kind:
            raise (OverflowError if self._kind == 'F' else ValueError)(f"cannot convert {'Infinity' if self._kind == 'F' else 'NaN'} to integer ratio")
        n = -self._n if self._sign else self._n
        if self._exp >= 0:
            return n * 10 ** self._exp, 1
        g = _math.gcd(n, 10 ** -self._exp)
        return n // g, 10 ** -self._exp // g

    def _fix(self, ctx):
        """Rounded to a context's precision and range."""
        if self._kind:
            return self
        n, exp = self._n, self._exp
        if not n:
            return _new(self._sign, 0, max(ctx.Etiny(), min(exp, ctx.Emax)))
        low = max(len(str(n)) + exp - ctx.prec, ctx.Etiny())
        if exp < low:
            q, exact = _rounded(n, low - exp, ctx.rounding, self._sign)
            if len(str(q)) > ctx.prec:
                q, low = q // 10, low + 1
            ctx._signal(Rounded)
            if not exact:
                ctx._signal(Inexact)
                if q * 10 ** 0 and low + len(str(q)) - 1 < ctx.Emin:
                    ctx._signal(Underflow)
            n, exp = q, low
        if exp + len(str(n)) - 1 > ctx.Emax:
            inf = _new(self._sign, 0, 0, 'F')
            ctx._signal(Overflow)
            return inf
        return _new(self._sign, n, exp)

    def _nan(self, o=None, ctx=None):
        """The not-a-number that an operation gives for its operands, or None."""
        for x in (self, o):
            if x is not None and x._kind == 'N':
                (ctx or getcontext())._signal(InvalidOperation)
                return _new(x._sign, x._n, 0, 'n')
        for x in (self, o):
            if x is not None and x._kind == 'n':
                return x
        return None

    def _invalid(self, ctx, why=None): return ctx._signal(InvalidOperation, why, _new(0, 0, 0, 'n'))

    def _add(self, o, ctx=None):
        ctx = ctx or getcontext()
        r = self._nan(o, ctx)
        if r is not None:
            return r
        if self._kind or o._kind:
            if self._kind and o._kind and self._sign != o._sign:
                return self._invalid(ctx)
            return self if self._kind else o
        exp = min(self._exp, o._exp)
        a = self._n * 10 ** (self._exp - exp) * (-1) ** self._sign
        b = o._n * 10 ** (o._exp - exp) * (-1) ** o._sign
        s = a + b
        sign = int(s < 0)
        if s == 0:
            sign = self._sign if self._sign == o._sign else int(ctx.rounding == ROUND_FLOOR)
        return _new(sign, abs(s), exp)._fix(ctx)

    def _mul(self, o, ctx=None):
        ctx = ctx or getcontext()
        r = self._nan(o, ctx)
        if r is not None:
            return r
        sign = self._sign ^ o._sign
        if self._kind or o._kind:
            if self.is_zero() or o.is_zero():
                return self._invalid(ctx)
            return _new(sign, 0, 0, 'F')
        return _new(sign, self._n * o._n, self._exp + o._exp)._fix(ctx)

    def _div(self, o, ctx=None):
        ctx = ctx or getcontext()
        r = self._nan(o, ctx)
        if r is not None:
            return r
        sign = self._sign ^ o._sign
        if self._kind:
            return self._invalid(ctx) if o._kind else _new(sign, 0, 0, 'F')
        if o._kind:
            return _new(sign, 0, ctx.Etiny())
        if not o._n:
            if not self._n:
                return self._invalid(ctx, DivisionUndefined)
            return ctx._signal(DivisionByZero, None, _new(sign, 0, 0, 'F'))
        ideal = self._exp - o._exp
        if not self._n:
            return _new(sign, 0, ideal)._fix(ctx)
        shift = len(str(o._n)) - len(str(self._n)) + ctx.prec + 1
        exp = ideal - shift
        if shift >= 0:
            q, r = divmod(self._n * 10 ** shift, o._n)
        else:
            q, r = divmod(self._n, o._n * 10 ** -shift)
        if r:
            if q % 5 == 0:
                q += 1
        else:
            while exp < ideal and q % 10 == 0:
                q, exp = q // 10, exp + 1
        return _new(sign, q, exp)._fix(ctx)

    def _divide(self, o, ctx):
        """Whole quotient and remainder."""
        exp = min(self._exp, o._exp)
        q, r = divmod(self._n * 10 ** (self._exp - exp), o._n * 10 ** (o._exp - exp))
        if q >= 10 ** ctx.prec:
            bad = self._invalid(ctx, DivisionImpossible)
            return bad, bad
        return _new(self._sign ^ o._sign, q, 0), _new(self._sign, r, exp)._fix(ctx)

    def _divmod(self, o):
        ctx = getcontext()
        r = self._nan(o, ctx)
        if r is not None:
            return r, r
        sign = self._sign ^ o._sign
        if self._kind:
            if o._kind:
                bad = self._invalid(ctx)
                return bad, bad
            return _new(sign, 0, 0, 'F'), self._invalid(ctx)
        if o._kind:
            return _new(sign, 0, 0), self._fix(ctx)
        if not o._n:
            if not self._n:
                bad = self._invalid(ctx, DivisionUndefined)
                return bad, bad
            ctx.flags[DivisionByZero] = ctx.flags[InvalidOperation] = True
            if ctx.traps[InvalidOperation]:
                raise InvalidOperation([InvalidOperation, DivisionByZero])
            return ctx._signal(DivisionByZero, None, _new(sign, 0, 0, 'F')), _new(0, 0, 0, 'n')
        return self._divide(o, ctx)

    def _floordiv(self, o):
        if not self._kind and not o._kind and not o._n and self._n:
            return getcontext()._signal(DivisionByZero, None, _new(self._sign ^ o._sign, 0, 0, 'F'))
        if self._kind == 'F' and o._kind == '':
            return _new(self._sign ^ o._sign, 0, 0, 'F')
        return self._divmod(o)[0]

    def _mod(self, o):
        if not self._kind and not o._kind and not o._n and self._n or self._kind == 'F' and not o.is_nan():
            return self._invalid(getcontext())
        return self._divmod(o)[1]

    def _pow(self, o, ctx=None):
        ctx = ctx or getcontext()
        r = self._nan(o, ctx)
        if r is not None:
            return r
        if o.is_zero():
            return self._invalid(ctx) if self.is_zero() else _new(0, 1, 0)
        whole = not o._kind and (o._exp >= 0 or o._n % 10 ** -o._exp == 0)
        k = int(o) if whole else 0
        sign = self._sign if whole and k % 2 else 0
        if self._sign and not whole and not self.is_zero():
            return self._invalid(ctx)
        if self.is_zero():
            return _new(sign, 0, 0) if not o._sign else _new(sign, 0, 0, 'F')
        if self._kind:
            return _new(sign, 0, 0) if o._sign else _new(sign, 0, 0, 'F')
        if whole and abs(k) < 10 ** 6:
            work = ctx.copy()
            work.prec += 4 + len(str(abs(k)))
            work.clear_traps()
            if k >= 0:
                exact = _new(0, self._n ** k, self._exp * k) if self._n.bit_length() * k < 10 ** 6 else None
                if exact is not None:
                    return _new(sign, exact._n, exact._exp)._fix(ctx)
            r, b, e = _new(0, 1, 0), self.copy_abs(), abs(k)
            while e:
                if e & 1:
                    r = r._mul(b, work)
                b, e = b._mul(b, work), e >> 1
            if k < 0:
                q = _new(0, 1, 0)._div(r, work)
                r = q
            return _new(sign, r._n, r._exp)._fix(ctx)
        work = ctx.copy()
        work.prec += 8
        work.clear_traps()
        return o._mul(self.copy_abs().ln(work), work).exp(ctx)

    def ln(self, context=None):
        ctx = context or getcontext()
        if self._sign and not self.is_zero():
            return self._invalid(ctx)
        if self.is_zero():
            return _new(1, 0, 0, 'F')
        if self._kind:
            return self
        if self._n == 10 ** (len(str(self._n)) - 1) and self.adjusted() == 0:
            return _new(0, 0, 0)
        p = ctx.prec + 10
        scale = 10 ** p
        e = self.adjusted()
        m = self._n * 10 ** (p - len(str(self._n)) + 1) if len(str(self._n)) <= p + 1 else self._n // 10 ** (len(str(self._n)) - p - 1)
        ten = _log_int(10, scale)
        v = _log_fixed(m, scale) + e * ten
        return _new(int(v < 0), abs(v), -p)._fix(_nearest(ctx))

    def log10(self, context=None):
        ctx = context or getcontext()
        if not self._kind and not self._sign and self._n and str(self._n).rstrip('0') == '1':
            return Decimal(self.adjusted())._fix(ctx)
        work = ctx.copy()
        work.prec += 6
        r = self.ln(work)
        return r if r._kind else r._div(_new(0, 10, 0).ln(work), _nearest(ctx))

    def exp(self, context=None):
        ctx = context or getcontext()
        r = self._nan(None, ctx)
        if r is not None:
            return r
        if self._kind:
            return _new(0, 0, 0) if self._sign else self
        if self.is_zero():
            return _new(0, 1, 0)
        p = ctx.prec + 10 + max(0, self.adjusted() + 1)
        scale = 10 ** p
        v = self._n * 10 ** (self._exp + p) if self._exp + p >= 0 else self._n // 10 ** -(self._exp + p)
        v = -v if self._sign else v
        ten = _log_int(10, scale)
        k, v = divmod(v, ten)
        halvings = 12
        x = v >> halvings
        total = term = scale
        i = 1
        while term:
            term = term * x // (scale * i)
            total += term
            i += 1
        for _ in range(halvings):
            total = total * total // scale
        return _new(0, total, k - p)._fix(_nearest(ctx))

    def sqrt(self, context=None):
        ctx = context or getcontext()
        r = self._nan(None, ctx)
        if r is not None:
            return r
        if self.is_zero():
            return _new(self._sign, 0, self._exp >> 1)._fix(ctx)
        if self._sign:
            return self._invalid(ctx)
        if self._kind:
            return self
        prec = ctx.prec + 1
        e = self._exp >> 1
        n = self._n * 10 if self._exp & 1 else self._n
        digits = (len(str(n)) + 1) >> 1
        shift = prec - digits
        exact = True
        if shift >= 0:
            n *= 100 ** shift
        else:
            n, rest = divmod(n, 100 ** -shift)
            exact = not rest
        e -= shift
        q = _math.isqrt(n)
        exact = exact and q * q == n
        if exact:
            if shift >= 0:
                q //= 10 ** shift
            else:
                q *= 10 ** -shift
            e += shift
        elif q % 5 == 0:
            q += 1
        work = ctx.copy()
        work.rounding = ROUND_HALF_EVEN
        return _new(0, q, e)._fix(work)

    def quantize(self, exp, rounding=None, context=None):
        ctx = context or getcontext()
        exp = _make(exp)
        r = self._nan(exp, ctx)
        if r is not None:
            return r
        if self._kind or exp._kind:
            return self if self._kind == exp._kind else self._invalid(ctx)
        q, exact = _rounded(self._n, exp._exp - self._exp, rounding or ctx.rounding, self._sign)
        if len(str(q)) > ctx.prec or exp._exp + len(str(q)) - 1 > ctx.Emax:
            return self._invalid(ctx)
        if exp._exp > self._exp:
            ctx._signal(Rounded)
        if not exact:
            ctx._signal(Inexact)
        return _new(self._sign, q, exp._exp)

    def to_integral_value(self, rounding=None, context=None):
        if self._kind or self._exp >= 0:
            return self
        return _new(self._sign, _rounded(self._n, -self._exp, rounding or (context or getcontext()).rounding, self._sign)[0], 0)

    to_integral = to_integral_exact = to_integral_value

    def normalize(self, context=None):
        v = self._fix(context or getcontext())
        if v._kind:
            return v
        n, e = v._n, v._exp
        while n and n % 10 == 0:
            n, e = n // 10, e + 1
        return _new(v._sign, n, e if n else 0)

    def fma(self, o, third): return _new(self._sign ^ _make(o)._sign, self._n * _make(o)._n, self._exp + _make(o)._exp)._add(_make(third))
    def remainder_near(self, o):
        o = _make(o)
        q = self._div(o).to_integral_value(ROUND_HALF_EVEN)
        return self._add(q._mul(o).copy_negate())

    def scaleb(self, k, context=None): return _new(self._sign, self._n, self._exp + int(k))._fix(context or getcontext())
    def shift(self, k): return _new(self._sign, self._n * 10 ** int(k) if k >= 0 else self._n // 10 ** -int(k), self._exp)
    def same_quantum(self, o): return self._exp == _make(o)._exp and self._kind == _make(o)._kind
    def number_class(self): return ('-' if self._sign else '+') + ('Zero' if self.is_zero() else 'Infinity' if self._kind == 'F' else 'Normal')

    def _order(self, o):
        if self._kind == 'F' or o._kind == 'F':
            a = 0 if self._kind != 'F' else -1 if self._sign else 1
            b = 0 if o._kind != 'F' else -1 if o._sign else 1
            return (a > b) - (a < b)
        exp = min(self._exp, o._exp)
        a = self._n * 10 ** (self._exp - exp) * (-1) ** self._sign
        b = o._n * 10 ** (o._exp - exp) * (-1) ** o._sign
        return (a > b) - (a < b)

    def _compare(self, o, test, equality=False):
        if isinstance(o, float):
            o = Decimal.from_float(o)
        elif not isinstance(o, (Decimal, int)):
            ratio = getattr(o, 'numerator', None), getattr(o, 'denominator', None)
            if None in ratio:
                return NotImplemented
            return test(_new(self._sign, self._n * ratio[1], self._exp, self._kind)._order(Decimal(ratio[0])))
        o = _make(o)
        if self.is_nan() or o.is_nan():
            if not equality or 'N' in (self._kind, o._kind):
                getcontext()._signal(InvalidOperation)
            return False
        return test(self._order(o))

    def __eq__(self, o): return self._compare(o, lambda c: c == 0, True)
    def __lt__(self, o): return self._compare(o, lambda c: c < 0)
    def __le__(self, o): return self._compare(o, lambda c: c <= 0)
    def __gt__(self, o): return self._compare(o, lambda c: c > 0)
    def __ge__(self, o): return self._compare(o, lambda c: c >= 0)

    def compare(self, o, context=None):
        o = _make(o)
        r = self._nan(o, context)
        return Decimal(self._order(o)) if r is None else r

    def max(self, o, context=None): return (self if self._order(_make(o)) >= 0 else _make(o))._fix(context or getcontext())
    def min(self, o, context=None): return (self if self._order(_make(o)) <= 0 else _make(o))._fix(context or getcontext())

    def __hash__(self):
        if self._kind == 'N':
            raise TypeError('Cannot hash a signaling NaN value')
        if self._kind == 'n':
            return object.__hash__(self)
        if self._kind:
            return -314159 if self._sign else 314159
        p = 2 ** 61 - 1
        h = self._n * pow(10, self._exp, p) % p if self._exp >= 0 else self._n * pow(pow(10, p - 2, p), -self._exp, p) % p
        h = -h if self._sign else h
        return -2 if h == -1 else h

    __add__, __radd__ = _operator(lambda a, b: a._add(b)), _reflected(lambda a, b: a._add(b))
    __sub__, __rsub__ = _operator(lambda a, b: a._add(b.copy_negate()) if not b.is_nan() else a._add(b)), _reflected(lambda a, b: a._add(b.copy_negate()))
    __mul__, __rmul__ = _operator(lambda a, b: a._mul(b)), _reflected(lambda a, b: a._mul(b))
    __truediv__, __rtruediv__ = _operator(lambda a, b: a._div(b)), _reflected(lambda a, b: a._div(b))
    __floordiv__, __rfloordiv__ = _operator(lambda a, b: a._floordiv(b)), _reflected(lambda a, b: a._floordiv(b))
    __mod__, __rmod__ = _operator(lambda a, b: a._mod(b)), _reflected(lambda a, b: a._mod(b))
    __divmod__, __rdivmod__ = _operator(lambda a, b: a._divmod(b)), _reflected(lambda a, b: a._divmod(b))
    __rpow__ = _reflected(lambda a, b: a._pow(b))

    def __pow__(self, o, mod=None):
        o = _make(o)
        if o is None:
            return NotImplemented
        if mod is not None:
            return Decimal(pow(int(self), int(o), int(mod)))
        return self._pow(o)

    def __neg__(self):
        if self.is_nan():
            return self._nan()
        v = self if self.is_zero() and getcontext().rounding != ROUND_FLOOR else self.copy_negate()
        return (v.copy_abs() if self.is_zero() and getcontext().rounding != ROUND_FLOOR else v)._fix(getcontext())

    def __pos__(self): return (self.copy_abs() if self.is_zero() and getcontext().rounding != ROUND_FLOOR else self)._fix(getcontext())
    def __abs__(self): return self.copy_abs()._fix(getcontext())
    def __bool__(self): return bool(self._kind) or self._n != 0

    def __int__(self):
        if self._kind == 'F':
            raise OverflowError("cannot convert Infinity to integer")
        if self._kind:
            raise ValueError("cannot convert NaN to integer")
        n = self._n * 10 ** self._exp if self._exp >= 0 else self._n // 10 ** -self._exp
        return -n if self._sign else n

    __trunc__ = __int__

    def __float__(self):
        if self._kind == 'N':
            raise ValueError("cannot convert signaling NaN to float")
        return float(('-' if self._sign else '') + ('nan' if self._kind == 'n' else 'inf' if self._kind else f'{self._n}e{self._exp}'))

    def __complex__(self): return complex(float(self))
    def __floor__(self): return int(self.to_integral_value(ROUND_FLOOR))
    def __ceil__(self): return int(self.to_integral_value(ROUND_CEILING))

    def __round__(self, n=None):
        if n is None:
            if self._kind:
                int(self)
            return int(self.to_integral_value(ROUND_HALF_EVEN))
        return self.quantize(_new(0, 1, -n))

    def __str__(self, eng=False):
        sign = '-' if self._sign else ''
        if self._kind == 'F':
            return sign + 'Infinity'
        if self._kind:
            return sign + ('sNaN' if self._kind == 'N' else 'NaN') + (str(self._n) if self._n else '')
        digits, exp = str(self._n), self._exp
        left = exp + len(digits)
        if exp <= 0 and left > -6:
            point = left
        elif not eng:
            point = 1
        elif self._n == 0:
            point = (left + 1) % 3 - 1
        else:
            point = (left - 1) % 3 + 1
        if point <= 0:
            text = '0.' + '0' * -point + digits
        elif point >= len(digits):
            text = digits + '0' * (point - len(digits))
        else:
            text = digits[:point] + '.' + digits[point:]
        return sign + text + ('' if left == point else ('E' if getcontext().capitals else 'e') + '%+d' % (left - point))

    def to_eng_string(self, context=None): return self.__str__(True)
    def __repr__(self): return f"Decimal('{self}')"
    def __reduce__(self): return Decimal, (str(self),)
    def __copy__(self): return self
    def __deepcopy__(self, memo): return self

    def __format__(self, spec):
        m = _re.fullmatch(r'(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<alt>#)?(?P<zero>0(?=\d))?(?P<width>\d+)?(?P<sep>,)?(?:\.(?P<prec>\d+))?(?P<type>[eEfFgGn%])?', spec, _re.S)
        if m is None:
            raise ValueError("invalid format string")
        t, prec = m['type'] or '', None if m['prec'] is None else int(m['prec'])
        mode = getcontext().rounding
        if self._kind:
            body = str(self.copy_abs()) + ('%' if t == '%' else '')
        else:
            d = self
            if t == '%':
                d = _new(d._sign, d._n, d._exp + 2)
            def cut(d, exp): return d if d._exp >= exp else _new(d._sign, _rounded(d._n, exp - d._exp, mode, d._sign)[0], exp)
            if prec is not None:
                if t in 'fF%' and t:
                    d = _new(d._sign, _rounded(d._n, -prec - d._exp, mode, d._sign)[0], -prec)
                elif t in 'eE' and t:
                    if d._n:
                        d = cut(d, d.adjusted() - prec)
                        if len(str(d._n)) > prec + 1:
                            d = _new(d._sign, d._n // 10, d._exp + 1)
                        if len(str(d._n)) < prec + 1:
                            k = prec + 1 - len(str(d._n))
                            d = _new(d._sign, d._n * 10 ** k, d._exp - k)
                    else:
                        d = _new(d._sign, 0, d._exp - prec)
                elif len(str(d._n)) > max(prec, 1):
                    k = max(prec, 1)
                    d = cut(d, d.adjusted() - k + 1)
                    if len(str(d._n)) > k:
                        d = _new(d._sign, d._n // 10, d._exp + 1)
            digits, exp = str(d._n), d._exp
            left = exp + len(digits)
            if t in 'fF%' and t:
                if exp > 0:
                    digits, exp, left = digits + '0' * exp if d._n else '0', 0, (len(digits) + exp) if d._n else 1
                point = left
            elif t in 'eE' and t:
                point = 1 if d._n or prec is None else 1
                if not d._n and prec is not None:
                    digits, left = '0' * (prec + 1), 1 + d._exp + 2 * prec
            else:
                point = left if exp <= 0 and left > -6 else 1
            if point <= 0:
                whole, frac = '0', '0' * -point + digits
            elif point >= len(digits):
                whole, frac = digits + '0' * (point - len(digits)), ''
            else:
                whole, frac = digits[:point], digits[point:]
            e = left - point
            if m['sep']:
                whole = f'{int(whole):,}'
            body = whole + ('.' + frac if frac or m['alt'] else '')
            if e or t in ('e', 'E'):
                body += ('e' if t in ('e', 'g') else 'E') + '%+d' % e
            if t == '%':
                body += '%'
        sign = '-' if self._sign else m['sign'] if m['sign'] in ('+', ' ') else ''
        width = int(m['width'] or 0)
        fill, align = m['fill'] or ' ', m['align'] or '>'
        if m['zero'] and not m['align']:
            fill, align = '0', '='
        pad = fill * max(0, width - len(sign) - len(body))
        if align == '=':
            return sign + pad + body
        if align == '^':
            return pad[:len(pad) // 2] + sign + body + pad[len(pad) // 2:]
        return sign + body + pad if align == '<' else pad + sign + body


import collections as _collections
DecimalTuple = _collections.namedtuple('DecimalTuple', 'sign digits exponent', module='decimal')


def _nearest(ctx):
    """The context, rounding to the nearest."""
    c = ctx.copy()
    c.rounding, c.flags = ROUND_HALF_EVEN, ctx.flags
    return c


def _log_fixed(m, scale):
    """The natural logarithm of m/scale, between 1 and 10, as a multiple of 1/scale."""
    k = 0
    while m > scale + (scale >> 3):
        m = _math.isqrt(m * scale)
        k += 1
    y = (m - scale) * scale // (m + scale)
    total, term, square, i = y, y, y * y // scale, 1
    while term:
        term = term * square // scale
        i += 2
        total += term // i
    return total << k + 1


def _log_int(n, scale):
    guard = 10 ** 12
    return _log_fixed(n * scale * guard, scale * guard) // guard


DefaultContext = Context()
BasicContext = Context(prec=9, rounding=ROUND_HALF_UP, traps=[DivisionByZero, Overflow, InvalidOperation, Clamped, Underflow])
ExtendedContext = Context(prec=9, rounding=ROUND_HALF_EVEN, traps=[])
_current = [DefaultContext.copy()]


@_native
def getcontext(): return _current[-1]


@_native
def setcontext(context): _current[-1] = context.copy() if context in (DefaultContext, BasicContext, ExtendedContext) else context


class localcontext:
    def __init__(self, ctx=None, **kwargs):
        self._new = (getcontext() if ctx is None else ctx).copy()
        for k, v in kwargs.items():
            setattr(self._new, k, v)

    def __enter__(self):
        self._saved = getcontext()
        setcontext(self._new)
        return self._new

    def __exit__(self, *a): setcontext(self._saved)


import numbers as _numbers
_numbers.Number.register(Decimal)
