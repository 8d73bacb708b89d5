"""Plain objects to bytes and back. The stream is our own, not CPython's: a description as text."""
import sys
import io
import copyreg
import types

HIGHEST_PROTOCOL, DEFAULT_PROTOCOL = 5, 4


class PickleError(Exception): pass
class PicklingError(PickleError): pass
class UnpicklingError(PickleError): pass


class Pickler:
    def __init__(self, file, protocol=None, **kw):
        self._file = file
        self.dispatch_table = None

    def persistent_id(self, obj): return None
    def reducer_override(self, obj): return NotImplemented

    def dump(self, obj):
        self._memo, self._keep = {}, []
        self._file.write(b'whittle-pickle\n' + repr(self._enc(obj)).encode())

    def _global(self, o):
        name = getattr(o, '__qualname__', None) or o.__name__
        mod = getattr(o, '__module__', None) or 'builtins'
        m = sys.modules.get(mod)
        x = m
        try:
            for p in name.split('.'):
                x = getattr(x, p)
        except AttributeError:
            x = None
        if x is not o:
            if '<locals>' in name:
                raise AttributeError("Can't pickle local object %r" % name)
            raise PicklingError("Can't pickle %r: attribute lookup %s on %s failed" % (o, name, mod))
        return ('g', mod, name)

    def _enc(self, o):
        pid = self.persistent_id(o)
        if pid is not None:
            return ('P', self._enc(pid))
        t = type(o)
        if o is None or t in (bool, int, str, bytes):
            return ('c', o)
        if t is float:
            return ('f', o.hex() if o == o and o not in (float('inf'), float('-inf')) else str(o))
        if o is Ellipsis or o is NotImplemented:
            return ('g', 'builtins', 'Ellipsis' if o is Ellipsis else 'NotImplemented')
        k = id(o)
        if k in self._memo:
            return ('m', self._memo[k])
        n = len(self._memo)
        if t is not tuple:
            self._memo[k] = n
            self._keep.append(o)
        if t is tuple:
            items = [self._enc(x) for x in o]
            if k in self._memo:
                return ('m', self._memo[k])
            n = self._memo[k] = len(self._memo)
            self._keep.append(o)
            return ('t', n, items)
        if t is list:
            return ('l', n, [self._enc(x) for x in o])
        if t is dict:
            return ('d', n, [(self._enc(a), self._enc(b)) for a, b in o.items()])
        if t in (set, frozenset):
            return ('s' if t is set else 'z', n, [self._enc(x) for x in o])
        if t is bytearray:
            return ('b', n, bytes(o))
        if t is slice or t is range:
            return ('r', n, self._enc(t), self._enc((o.start, o.stop, o.step)), None, None, None)
        if isinstance(o, (type, types.FunctionType, types.BuiltinFunctionType)):
            return ('G', n) + self._global(o)[1:]
        if isinstance(o, types.MethodType):
            return ('r', n, self._enc(getattr), self._enc((o.__self__, o.__func__.__name__)), None, None, None)
        if isinstance(o, types.ModuleType):
            raise TypeError("cannot pickle 'module' object")
        rv = self.reducer_override(o)
        if rv is NotImplemented:
            f = (self.dispatch_table or {}).get(t) or copyreg.dispatch_table.get(t)
            if f is not None:
                rv = f(o)
            elif isinstance(o, types.GeneratorType):
                raise TypeError("cannot pickle 'generator' object")
            else:
                rv = o.__reduce_ex__(4)
        if isinstance(rv, str):
            m = getattr(o, '__module__', None) or '__main__'
            return ('G', n, m, rv)
        rv = tuple(rv) + (None,) * (5 - len(rv))
        return ('r', n, self._enc(rv[0]), self._enc(tuple(rv[1])), None if rv[2] is None else self._enc(rv[2]),
                None if rv[3] is None else [self._enc(x) for x in rv[3]], None if rv[4] is None else [(self._enc(a), self._enc(b)) for a, b in rv[4]])


class Unpickler:
    def __init__(self, file, **kw): self._file = file
    def persistent_load(self, pid): raise UnpicklingError("unsupported persistent id encountered")

    def find_class(self, module, name):
        __import__(module)
        x = sys.modules[module]
        for p in name.split('.'):
            x = getattr(x, p)
        return x

    def load(self):
        data = self._file.read()
        if not data:
            raise EOFError("Ran out of input")
        head = b'whittle-pickle\n'
        if not data.startswith(head):
            raise UnpicklingError("not a pickle of this interpreter")
        self._memo = {}
        return self._dec(eval(data[len(head):].decode(), {'__builtins__': {}}))

    def _dec(self, e):
        k = e[0]
        if k == 'c':
            return e[1]
        if k == 'f':
            return float.fromhex(e[1]) if 'x' in e[1] else float(e[1])
        if k == 'm':
            return self._memo[e[1]]
        if k == 'P':
            return self.persistent_load(self._dec(e[1]))
        if k == 'g':
            return self.find_class(e[1], e[2])
        n = e[1]
        m = self._memo
        if k == 'G':
            m[n] = self.find_class(e[2], e[3])
        elif k == 't':
            m[n] = tuple([self._dec(x) for x in e[2]])
        elif k == 'l':
            m[n] = l = []
            for x in e[2]:
                l.append(self._dec(x))
        elif k == 'd':
            m[n] = d = {}
            for a, b in e[2]:
                d[self._dec(a)] = self._dec(b)
        elif k == 's':
            m[n] = s = set()
            for x in e[2]:
                s.add(self._dec(x))
        elif k == 'z':
            m[n] = frozenset([self._dec(x) for x in e[2]])
        elif k == 'b':
            m[n] = bytearray(e[2])
        else:
            f, a = self._dec(e[2]), self._dec(e[3])
            o = m[n] = f(*a)
            if e[4] is not None:
                st = self._dec(e[4])
                if hasattr(o, '__setstate__'):
                    o.__setstate__(st)
                else:
                    slots = None
                    if isinstance(st, tuple) and len(st) == 2:
                        st, slots = st
                    if st:
                        o.__dict__.update(st)
                    for x, v in (slots or {}).items():
                        setattr(o, x, v)
            for x in e[5] or ():
                o.append(self._dec(x))
            for a, b in e[6] or ():
                o[self._dec(a)] = self._dec(b)
        return m[n]


def dumps(obj, protocol=None, **kw):
    f = io.BytesIO()
    Pickler(f, protocol).dump(obj)
    return f.getvalue()


def dump(obj, file, protocol=None, **kw): Pickler(file, protocol).dump(obj)
def loads(data, **kw): return Unpickler(io.BytesIO(data)).load()
def load(file, **kw): return Unpickler(file).load()


_Pickler, _Unpickler = Pickler, Unpickler
