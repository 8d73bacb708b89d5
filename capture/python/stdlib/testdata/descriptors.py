"""property, classmethod, staticmethod and bytearray as bases with an __init__ of their own; what a class statement checks."""
class P(property):
    def __init__(self, f, extra):
        super().__init__(f, doc="doc")
        self.extra = extra
class C:
    p = P(lambda self: 42, "x")
    @property
    def q(self):
        "the getter's"
        return 1
    @q.setter
    def q(self, v): pass
    r = property(None)
    s = property(lambda self: 1)
c = C()
print(c.p, C.p.extra, C.p.__doc__, C.q.__doc__, C.q.fset is not None)
for text in ("c.r", "c.s = 1", "del c.s", "c.r = 2", "del c.q", "property.__new__(property).__get__(c)"):
    try: exec(text)
    except AttributeError as e: print(e)
class CMeth(classmethod):
    def __init__(self, f, tag):
        super().__init__(f)
        self.tag = tag
class SMeth(staticmethod):
    def __init__(self, f, tag):
        super().__init__(f)
        self.tag = tag
class D:
    m = CMeth(lambda cls, x: (cls.__name__, x), "tag")
    n = SMeth(lambda x: x, "stag")
print(D.m(1), D().m(2), D.__dict__["m"].tag, D.n(3), D().n(4), D.__dict__["n"].tag)
for f in (lambda: classmethod(), lambda: staticmethod(1, 2), lambda: classmethod(f=1)):
    try: f()
    except TypeError as e: print(e)
class B(bytearray):
    def __init__(self, n):
        super().__init__(b"x" * n)
print(B(3), bytearray(b"ab"), bytearray("h", "ascii"), bytearray([1, 2]), bytearray())
class M1(type):
    def __new__(m, n, b, ns):
        ns.pop("__classcell__", None)
        return type.__new__(m, n, b, ns)
class M2(type):
    def __new__(m, n, b, ns):
        ns["__classcell__"] = 5
        return type.__new__(m, n, b, ns)
for M in (M1, M2):
    try:
        class X(metaclass=M):
            def f(self): return __class__
    except (RuntimeError, TypeError) as e: print(type(e).__name__, e)
print(tuple[*tuple[int, ...]], (*list[int],)[0].__unpacked__, list[int] == [*list[int]][0])
print((lambda: 0).__code__.replace(co_name="n", co_flags=67).co_name)
import sys
print([n for t in (int, str, list, dict, type, slice, complex) for n in ("__getattribute__", "__lt__", "__sizeof__", "__ge__") if n in t.__dict__])
print(int.__getattribute__(3, "real"), type.__getattribute__(int, "__name__"), [1].__reduce_ex__ is not None)
def f():
    x = 1
    1 / 0
try: f()
except ZeroDivisionError as e: tb = e.__traceback__.tb_next
print(tb.tb_frame.f_code.co_name); tb.tb_frame.clear(); print(tb.tb_frame.f_locals)
try: sys._getframe().clear()
except RuntimeError as e: print(e)
def g():
    try: yield 1
    finally: print("closed")
h = g(); next(h); h.gi_frame.clear(); print(list(h))
print(sorted({l for _, _, l in f.__code__.co_lines() if l})[1:] == [f.__code__.co_firstlineno + 1, f.__code__.co_firstlineno + 2])
