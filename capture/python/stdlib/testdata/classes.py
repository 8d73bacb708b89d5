# Classes: attributes, descriptors, metaclasses, special methods.
class D:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, obj, owner=None):
        if obj is None: return self
        return obj.__dict__.get(self.name, 'unset')
    def __set__(self, obj, v): obj.__dict__[self.name] = v * 2
    def __delete__(self, obj): del obj.__dict__[self.name]

class A:
    d = D()
    count = 0
    def __init__(self, x=1): self.x = x; type(self).count += 1
    @property
    def p(self): "doc of p"; return self.x + 1
    @p.setter
    def p(self, v): self.x = v
    @classmethod
    def make(cls, *a): return cls(*a)
    @staticmethod
    def st(a, b=2): return a + b
    def __repr__(self): return f"A({self.x})"
    def __eq__(self, o): return isinstance(o, A) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __lt__(self, o): return self.x < o.x
    def __add__(self, o): return A(self.x + (o.x if isinstance(o, A) else o))
    __radd__ = __add__
    def __iadd__(self, o): self.x += o; return self
    def __getitem__(self, k): return (self.x, k)
    def __setitem__(self, k, v): print('set', k, v)
    def __delitem__(self, k): print('del', k)
    def __contains__(self, k): return k == self.x
    def __len__(self): return self.x
    def __bool__(self): return self.x > 0
    def __call__(self, *a, **k): return a, k
    def __getattr__(self, n):
        if n.startswith('dyn'): return n.upper()
        raise AttributeError(n)
    def __iter__(self): return iter(range(self.x))
    def __neg__(self): return A(-self.x)
    def __index__(self): return self.x
    def __format__(self, spec): return f"<{spec}:{self.x}>"
    def __enter__(self): return self
    def __exit__(self, *a): print('exit', a[0].__name__ if a[0] else None); return True

a = A(3)
print(a, a.p, A.make(4), A.st(1), a.d, A.count, A.p.__doc__)
a.d = 5; print(a.d, a.__dict__); del a.d; print(a.d)
a.p = 10; print(a.x, a[1:2], a['k'], a[1, 2], 10 in a, len(a), bool(A(0)), a(1, b=2), a.dynamic)
a[3] = 4; del a[5]
a += 1; print(a, a + 1, 1 + a, -a, f"{a:>5}", sorted([A(3), A(1)]), list(A(3)), [10, 20, 30, 40][A(2)])
try: a.nothing
except AttributeError as e: print('AttributeError', e)
with A(7) as z: raise ValueError('x')
print(A(1) == A(1), A(1) != A(2), {A(1): 'v'}[A(1)], len({A(1), A(1), A(2)}))

class B(A):
    def __init__(self, x, y): super().__init__(x); self.y = y
    def __repr__(self): return 'B' + super().__repr__()
    @property
    def p(self): return super().p * 100
print(B(1, 2), B(1, 2).p, isinstance(B(1, 2), A), issubclass(B, A), B.__mro__, B.__bases__)

class Meta(type):
    def __new__(m, name, bases, ns, **kw):
        c = super().__new__(m, name, bases, ns)
        c.kw = kw
        return c
    def __init__(cls, name, bases, ns, **kw): super().__init__(name, bases, ns)
    def __call__(cls, *a): print('calling', cls.__name__); return super().__call__(*a)
    @classmethod
    def __prepare__(m, name, bases, **kw): return {'prepared': True}
    def __iter__(cls): return iter('meta')
    def __len__(cls): return 42
    @property
    def mp(cls): return 'mp of ' + cls.__name__
class M(metaclass=Meta, flag=1): pass
print(M.kw, M.prepared, list(M), len(M), M.mp, type(M()), type(M))

class Base:
    subs = []
    def __init_subclass__(cls, tag=None, **kw): super().__init_subclass__(**kw); cls.subs.append((cls.__name__, tag))
    def __class_getitem__(cls, k): return f"{cls.__name__}[{k}]"
class S1(Base, tag='one'): pass
class S2(S1): pass
print(Base.subs, S2[int])

class Slots:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1
s = Slots(); print(s.a)
try: s.c = 1
except AttributeError as e: print(e)
try: s.b
except AttributeError as e: print(e)
class Sub(Slots): pass
t = Sub(); t.c = 3; t.b = 4; print(t.__dict__, t.b)

class X:
    def who(self): return 'X'
class Y(X):
    def who(self): return 'Y' + super().who()
class Z(X):
    def who(self): return 'Z' + super().who()
class W(Y, Z):
    def who(self): return 'W' + super().who()
print(W().who(), [c.__name__ for c in W.__mro__])
try:
    class Bad(X, Y): pass
except TypeError as e: print(e)

class L(list):
    def first(self): return self[0]
    def append(self, v): super().append(v * 2)
l = L([1, 2]); l.append(3); print(l, l.first(), len(l), isinstance(l, list), l == [1, 2, 6], l + [1], type(l + [1]))
class DD(dict):
    def __missing__(self, k): return k * 2
d = DD(a=1); print(d['a'], d['zz'], d, 'q' in d, d.get('q'))
class I(int):
    def __add__(self, o): return I(int(self) + o + 100)
print(I(5) + 1, I(5) * 2, I(3), type(I(3) + 1), hash(I(3)) == hash(3), I(7) == 7)
class St(str):
    def shout(self): return self.upper() + '!'
print(St('hi').shout(), St('a') + 'b', len(St('abc')), {St('k'): 1}['k'], '-'.join([St('x'), 'y']))
class T(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
print(T(1, 2), T(1, 2)[0], T(1) == (1,))
class Private:
    def __init__(self): self.__x = 1
    def get(self): return self.__x
print(Private().get(), Private().__dict__, hasattr(Private(), '__x'))
class Outer:
    class Inner:
        def f(self): return __class__.__qualname__
    y = [i for i in range(3)]
print(Outer.Inner().f(), Outer.Inner.__qualname__, Outer.y)
print(type('Dyn', (X,), {'z': 1, 'f': lambda self: self.z})().f(), type(3).__name__, type(type))
class G:
    def __getattribute__(self, n):
        if n == 'magic': return 'm'
        return object.__getattribute__(self, n)
    def __setattr__(self, n, v): object.__setattr__(self, n, v + 1)
    def __delattr__(self, n): print('deleting', n); object.__delattr__(self, n)
g = G(); g.v = 1; print(g.v, g.magic); del g.v
print(getattr(g, 'nope', 'default'), hasattr(g, 'v'), vars(g))
print([n for n in dir(A(1)) if not n.startswith('__')])
def deco(c): c.tag = 'decorated'; return c
@deco
class Dec: "a doc"
print(Dec.tag, Dec.__doc__, Dec.__module__, Dec.__name__)
class Cmp:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return NotImplemented
print(Cmp(1) == Cmp(1), Cmp(1) != 3)
try: Cmp(1) < Cmp(2)
except TypeError as e: print(e)
try: hash(Cmp(1))
except TypeError as e: print(e)
class R:
    def __rsub__(s, o): return ('rsub', o)
    def __matmul__(s, o): return 'mm'
    def __pow__(s, o, m=None): return ('pow', o, m)
    def __divmod__(s, o): return 'dm'
    def __abs__(s): return 'abs'
    def __round__(s, n=None): return ('round', n)
    def __reversed__(s): return iter([3, 2, 1])
print(5 - R(), R() @ 1, R() ** 2, pow(R(), 2, 3), divmod(R(), 1), abs(R()), round(R(), 1), list(reversed(R())))
