import contextlib
import functools
ANY = type('_ANY', (), {'__eq__': lambda s, o: True, '__repr__': lambda s: '<ANY>'})()
DEFAULT = object()


class Mock:
    def __init__(self, spec=None, side_effect=None, return_value=DEFAULT, name=None, **kw):
        self.__dict__.update(side_effect=side_effect, _rv=return_value, call_args=None, call_args_list=[], call_count=0, called=False, _kids={})
        for k, v in kw.items():
            setattr(self, k, v)

    def __getattr__(self, n):
        if n.startswith('__'):
            raise AttributeError(n)
        return self._kids.setdefault(n, type(self)())

    @property
    def return_value(self):
        if self._rv is DEFAULT:
            self.__dict__['_rv'] = type(self)()
        return self._rv

    @return_value.setter
    def return_value(self, v): self.__dict__['_rv'] = v

    def __call__(self, *a, **k):
        self.called = True
        self.call_count += 1
        self.call_args = (a, k)
        self.call_args_list.append((a, k))
        se = self.side_effect
        if se is not None:
            if isinstance(se, BaseException) or isinstance(se, type) and issubclass(se, BaseException):
                raise se
            if callable(se):
                return se(*a, **k)
            self.__dict__['side_effect'] = it = iter(se)
            return next(it)
        return self.return_value

    def assert_called(self): assert self.called
    def assert_called_once(self): assert self.call_count == 1
    def assert_not_called(self): assert not self.called
    def assert_called_with(self, *a, **k): assert self.call_args == (a, k), f'expected {(a, k)}, got {self.call_args}'

    def assert_called_once_with(self, *a, **k):
        self.assert_called_once()
        self.assert_called_with(*a, **k)


class MagicMock(Mock):
    def __enter__(self): return self.return_value
    def __exit__(self, *a): return False
    def __len__(self): return 0
    def __iter__(self): return iter(())


class NonCallableMock(Mock):
    __call__ = None


class _Patch:
    def __init__(self, target, name, new, new_callable=None, create=False, spec=None, autospec=None, **kw):
        if new is not DEFAULT and (new_callable is not None or kw):
            raise TypeError("Cannot use 'new' and 'new_callable' together" if new_callable is not None else f"Can't provide explicit {', '.join(map(repr, kw))} with 'new'")
        self.target, self.name, self.new, self.make, self.create, self.kw = target, name, new, new_callable or MagicMock, create, kw

    def __call__(self, func):
        if isinstance(func, type):
            for n in list(func.__dict__):
                if n.startswith('test') and callable(func.__dict__[n]):
                    setattr(func, n, self.copy()(func.__dict__[n]))
            return func

        @functools.wraps(func)
        def patched(*args, **kwargs):
            with self.copy() as made:
                return func(*args, *([made] if self.new is DEFAULT else []), **kwargs)
        return patched

    def copy(self):
        return _Patch(self.target, self.name, self.new, **({} if self.new is not DEFAULT else {'new_callable': self.make}), create=self.create, **self.kw)

    def __enter__(self):
        if isinstance(self.target, str):
            import importlib
            self.target = importlib.import_module(self.target)
        self.had = self.name in getattr(self.target, '__dict__', {})
        self.old = getattr(self.target, self.name, DEFAULT) if self.create else getattr(self.target, self.name)
        new = self.make(**self.kw) if self.new is DEFAULT else self.new
        setattr(self.target, self.name, new)
        return new

    def __exit__(self, *a):
        setattr(self.target, self.name, self.old) if self.had else delattr(self.target, self.name)

    def start(self):
        made = self.__enter__()
        _started.append(self)
        return made

    def stop(self):
        if self in _started:
            _started.remove(self)
        self.__exit__()


_started = []


class _patch:
    def __call__(self, target, new=DEFAULT, **kw):
        m, _, n = target.rpartition('.')
        return _Patch(m, n, new, **kw)

    def object(self, target, name, new=DEFAULT, **kw): return _Patch(target, name, new, **kw)

    @contextlib.contextmanager
    def multiple(self, target, **kw):
        with contextlib.ExitStack() as s:
            yield {n: made for n, new in kw.items() for made in [s.enter_context(_Patch(target, n, new))] if new is DEFAULT}

    def stopall(self):
        while _started:
            _started[-1].stop()

    @contextlib.contextmanager
    def dict(self, d, values=(), clear=False, **kw):
        old = dict(d)
        if clear:
            d.clear()
        d.update(values, **kw)
        try:
            yield d
        finally:
            d.clear()
            d.update(old)


patch = _patch()
