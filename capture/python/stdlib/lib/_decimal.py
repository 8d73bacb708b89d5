"""decimal's arithmetic by _pydecimal, with exceptions that list the conditions met, as those of CPython's C version do."""
import _pydecimal
import _whittle
from _pydecimal import *
from _pydecimal import DecimalTuple, __libmpdec_version__, __version__


def _raise_error(self, condition, explanation=None, *args):
    error = _pydecimal._condition_map.get(condition, condition)
    if error in self._ignored_flags:
        return error().handle(self, *args)
    self.flags[error] = 1
    if not self.traps[error]:
        return condition().handle(self, *args)
    raise error([condition])


_pydecimal.Context._raise_error = _raise_error


def _repr(self):
    def names(d): return ', '.join(s.__name__ for s in _order if d.get(s))
    return (f'Context(prec={self.prec}, rounding={self.rounding}, Emin={self.Emin}, Emax={self.Emax}, capitals={self.capitals}, clamp={self.clamp}, '
            f'flags=[{names(self.flags)}], traps=[{names(self.traps)}])')


_order = (InvalidOperation, FloatOperation, DivisionByZero, Overflow, Subnormal, Underflow, Rounded, Inexact, Clamped)
_pydecimal.Context.__repr__ = _repr


def _int(self):
    if self._is_special:
        if self.is_nan():
            raise ValueError("cannot convert NaN to integer")
        raise OverflowError("cannot convert Infinity to integer")
    return _pydecimal_int(self)


def _divmod(self, other, context=None):
    x = _pydecimal._convert_other(other)
    if isinstance(x, Decimal) and self and not self._is_special and not x:
        context = context or getcontext()
        context.flags[InvalidOperation] = context.flags[DivisionByZero] = 1
        trapped = [s for s in (InvalidOperation, DivisionByZero) if context.traps[s]]
        if trapped:
            raise trapped[0]([InvalidOperation, DivisionByZero])
    return _pydecimal_divmod(self, other, context)


_pydecimal_int, _pydecimal_divmod = Decimal.__int__, Decimal.__divmod__
Decimal.__int__ = Decimal.__trunc__ = _int
Decimal.__divmod__ = _divmod
for _class in (Decimal, Context, *_order, DecimalException):
    _whittle.native_class(_class)
del _class
