"""The exceptions and warnings of numpy."""


class ComplexWarning(RuntimeWarning):
    pass


class VisibleDeprecationWarning(UserWarning):
    pass


class RankWarning(RuntimeWarning):
    pass


class ModuleDeprecationWarning(DeprecationWarning):
    pass


class TooHardError(RuntimeError):
    pass


class DTypePromotionError(TypeError):
    pass


class AxisError(ValueError, IndexError):
    def __init__(self, axis, ndim=None, msg_prefix=None):
        if ndim is msg_prefix is None:
            self._msg = axis
            self.axis = self.ndim = None
        else:
            self._msg = msg_prefix
            self.axis = axis
            self.ndim = ndim

    def __str__(self):
        if self.ndim is None:
            return str(self._msg)
        text = f"axis {self.axis} is out of bounds for array of dimension {self.ndim}"
        return text if self._msg is None else f"{self._msg}: {text}"


for _c in (ComplexWarning, VisibleDeprecationWarning, RankWarning, ModuleDeprecationWarning, TooHardError, DTypePromotionError, AxisError):
    _c.__module__ = "numpy.exceptions"
del _c
