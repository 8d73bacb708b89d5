# What a class adds to its instances: __dict__, __weakref__, members.
import inspect, types, weakref


def shown(f):
    try:
        return f()
    except Exception as e:
        return f"{type(e).__name__}: {e}"


class C:
    def meth(self): pass


class S:
    __slots__ = ("b", "a")


class W(S):
    __slots__ = ("__weakref__",)


print(list(C.__dict__), list(S.__dict__), list(W.__dict__))
print(type(C.__dict__["__dict__"]), C.__dict__["__dict__"].__objclass__, type(S.a), C.__weakref__)
print([n for n in dir(C()) if n.startswith("__w") or n == "__dict__"])
for o in C(), S(), W(), 1, "s", [], {}, (), object(), None, {1}, frozenset(), print, shown, types, C, range(1), Exception(), type("I", (int,), {})(), type("L", (list,), {})():
    print(type(o).__name__, shown(lambda: weakref.ref(o)() is o))
for ns in {"__slots__": ["x y"]}, {"__slots__": 1}, {"__slots__": [1]}, {"__slots__": "x", "x": 1}, {"__slots__": ["__dict__", "__dict__"]}:
    print(ns, shown(lambda: list(vars(type("T", (), ns)))))
print(shown(lambda: type("T", (C,), {"__slots__": "__dict__"})), shown(lambda: type("T", (C,), {"__slots__": "__weakref__"})))
print(shown(lambda: type("T", (int,), {"__slots__": "a"})), shown(lambda: type("T", (type,), {"__slots__": "a"})), shown(lambda: type("T", (int,), {"__slots__": ()})(3)))


class G:
    __slots__ = ["a", "b"]


class H:
    __slots__ = ["b", "a"]


class J:
    __slots__ = ["c", "b"]


g = G()
g.a = 1
g.__class__ = H
print(g.a, shown(lambda: setattr(g, "__class__", J)), shown(lambda: setattr(C(), "__class__", G)), shown(lambda: setattr(C(), "__class__", 1)))


class Bag(dict):
    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.__dict__ = self


b = Bag(x=1)
b.y = 2
b["z"] = 3
print(b, b.x, b.z, shown(lambda: setattr(C(), "__dict__", 3)))
for d in list.append, int.__add__, [].append, (3).__add__, dict.__dict__["fromkeys"], complex.real, float.real, len, object.__init__, object().__str__:
    print(type(d).__name__, repr(d).split(" at ")[0], shown(lambda: d.__objclass__), inspect.isroutine(d), inspect.ismethoddescriptor(d))
print(types.WrapperDescriptorType, types.MethodWrapperType, types.MethodDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType)
print(shown(set.add), shown(lambda: set.add(0)), shown(lambda: set.add.__get__(0)), shown(lambda: int.__add__("a", 1)), shown(lambda: setattr(property(), "fget", 1)), shown(lambda: setattr((1j), "real", 2)))


class A:
    def meth(self, a): return f"A({a})"


class B(A):
    def meth(self, a): return f"B({a})" + self.up.meth(a)


B.up = super(B)
print(B().meth(3), shown(lambda: object.__setattr__(C, "x", 1)), shown(lambda: type.__setattr__(C, "x", 1)), C.x)


class M(types.ModuleType):
    __dict__ = property(lambda self: "none")


m = M("m")
print(m.__dict__, shown(lambda: dir(m)))


class Up:
    def __new__(cls, arg): return object.__new__(Down)


class Down(Up):
    def __init__(self, arg): self.foo = arg


print(Up(4).foo, classmethod(shown).__dict__.keys(), staticmethod(None).__dict__)


class Zero:
    def up(self): return super()


print(Zero.up(None), shown(lambda: Zero.up(None).x))
