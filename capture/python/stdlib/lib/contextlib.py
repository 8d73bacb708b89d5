"""Utilities for with statements."""
import sys
from functools import wraps
from abc import ABC, abstractmethod
from types import MethodType


class AbstractContextManager(ABC):
    def __enter__(self): return self

    @abstractmethod
    def __exit__(self, exc_type, exc_value, traceback): return None


class ContextDecorator:
    def _recreate_cm(self): return self

    def __call__(self, func):
        @wraps(func)
        def inner(*args, **kwds):
            with self._recreate_cm():
                return func(*args, **kwds)
        return inner


class _GeneratorContextManager(ContextDecorator, AbstractContextManager):
    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)
        self.func, self.args, self.kwds = func, args, kwds
        self.__doc__ = getattr(func, "__doc__", None)

    def _recreate_cm(self): return self.__class__(self.func, self.args, self.kwds)

    def __enter__(self):
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, typ, value, traceback):
        if typ is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        if value is None:
            value = typ()
        try:
            self.gen.throw(value)
        except StopIteration as exc:
            return exc is not value
        except RuntimeError as exc:
            if exc is value:
                exc.__traceback__ = traceback
                return False
            if isinstance(value, StopIteration) and exc.__cause__ is value:
                value.__traceback__ = traceback
                return False
            raise
        except BaseException as exc:
            if exc is not value:
                raise
            exc.__traceback__ = traceback
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(func):
    @wraps(func)
    def helper(*args, **kwds):
        return _GeneratorContextManager(func, args, kwds)
    return helper


class closing(AbstractContextManager):
    def __init__(self, thing): self.thing = thing
    def __enter__(self): return self.thing
    def __exit__(self, *exc): self.thing.close()


class nullcontext(AbstractContextManager):
    def __init__(self, enter_result=None): self.enter_result = enter_result
    def __enter__(self): return self.enter_result
    def __exit__(self, *exc): pass


class suppress(AbstractContextManager):
    def __init__(self, *exceptions): self._exceptions = exceptions
    def __enter__(self): pass
    def __exit__(self, typ, value, tb): return typ is not None and issubclass(typ, self._exceptions)


class _Redirect(AbstractContextManager):
    _stream = None

    def __init__(self, target):
        self._new_target = target
        self._old = []

    def __enter__(self):
        self._old.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._new_target)
        return self._new_target

    def __exit__(self, *a): setattr(sys, self._stream, self._old.pop())


class redirect_stdout(_Redirect):
    _stream = 'stdout'


class redirect_stderr(_Redirect):
    _stream = 'stderr'


class chdir(AbstractContextManager):
    def __init__(self, path):
        self.path, self._old = path, []

    def __enter__(self):
        import os
        self._old.append(os.getcwd())
        os.chdir(self.path)

    def __exit__(self, *a):
        import os
        os.chdir(self._old.pop())


class ExitStack(AbstractContextManager):
    def __init__(self): self._cbs = []

    def pop_all(self):
        n = type(self)()
        n._cbs, self._cbs = self._cbs, []
        return n

    def push(self, exit):
        e = getattr(type(exit), '__exit__', None)
        self._cbs.append(MethodType(e, exit) if e is not None else exit)
        return exit

    def enter_context(self, cm):
        cls = type(cm)
        try:
            enter, exit = cls.__enter__, cls.__exit__
        except AttributeError:
            raise TypeError(f"'{cls.__module__}.{cls.__qualname__}' object does not support the context manager protocol") from None
        r = enter(cm)
        self._cbs.append(MethodType(exit, cm))
        return r

    def callback(self, callback, /, *args, **kwds):
        self._cbs.append(lambda t, v, tb: callback(*args, **kwds) and False)
        return callback

    def close(self): self.__exit__(None, None, None)

    def __exit__(self, *exc):
        received = exc[0] is not None
        pending, suppressed = False, False
        while self._cbs:
            cb = self._cbs.pop()
            try:
                if cb(*exc):
                    suppressed, pending = True, False
                    exc = (None, None, None)
            except BaseException as e:
                exc = (type(e), e, e.__traceback__)
                pending = True
        if pending:
            raise exc[1]
        return received and suppressed
