import contextlib
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


class _Patch(contextlib.ContextDecorator):
    def __init__(self, target, name, new): self.target, self.name, self.new = target, name, new

    def __enter__(self):
        if isinstance(self.target, str):
            import importlib
            self.target = importlib.import_module(self.target)
        self.had = self.name in getattr(self.target, '__dict__', {})
        self.old = getattr(self.target, self.name)
        new = MagicMock() if self.new is DEFAULT else self.new
        setattr(self.target, self.name, new)
        return new

    def __exit__(self, *a): setattr(self.target, self.name, self.old) if self.had else delattr(self.target, self.name)
    start = __enter__
    def stop(self): self.__exit__()


class _patch:
    def __call__(self, target, new=DEFAULT, **kw):
        m, _, n = target.rpartition('.')
        return _Patch(m, n, new)

    def object(self, target, name, new=DEFAULT, **kw): return _Patch(target, name, new)

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
