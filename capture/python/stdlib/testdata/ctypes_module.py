"""The module ctypes without foreign code: sizes, values, arrays, records, pointers and what keeps what alive."""
import ctypes
import pickle
from ctypes import *
from ctypes import wintypes


def attempt(what, f, *args):
    try:
        print(what, repr(f(*args)))
    except Exception as e:
        print(what, type(e).__name__, str(e).split(" at 0x")[0])


SIMPLE = [c_bool, c_char, c_wchar, c_byte, c_ubyte, c_short, c_ushort, c_int, c_uint, c_long, c_ulong, c_longlong, c_ulonglong, c_float, c_double,
          c_longdouble, c_size_t, c_ssize_t, c_int8, c_uint64, c_char_p, c_wchar_p, c_void_p, py_object]
for t in SIMPLE:
    print(t.__name__, t._type_, sizeof(t), alignment(t), [c.__name__ for c in t.__mro__])

VALUES = [0, 1, -1, 300, 2**31, 2**63, 2**64 + 5, 1.5, 10**400, True, None, "a", "ab", b"a", b"ab", bytearray(b"x"), [], (1,)]
for t in SIMPLE[:-2]:
    for v in VALUES:
        if t._type_ in "zZ" and isinstance(v, int):
            continue  # it would be followed
        attempt(f"{t.__name__}({str(v)[:20]!r})", lambda: t(v).value)
for t in (c_short, c_int, c_long, c_float, c_double):
    big = t.__ctype_be__
    print(big.__name__, bytes(big(1)), bytes(t.__ctype_le__(1)), big(2).value, big.__ctype_le__ is t)

# Arrays.
A = c_int * 4
a = A(1, 2, 3)
print(A.__name__, A._length_, A._type_, len(a), a[:], a[::-1], a[1:3], list(a), sizeof(a))
a[1] = 20
a[2:4] = 30, 40
print(list(a), bytes(a))
for index in (4, -5, "x", 1.0):
    attempt(f"a[{index!r}]", lambda: a[index])
attempt("a[0] = 'x'", lambda: a.__setitem__(0, "x"))
attempt("slice", lambda: a.__setitem__(slice(0, 2), [1]))
attempt("del", lambda: a.__delitem__(0))
attempt("too many", lambda: A(1, 2, 3, 4, 5))
attempt("negative", lambda: c_int * -1)
attempt("float", lambda: c_int * 1.5)
print((c_int * 4) is A, ((c_int * 2) * 3)._length_, sizeof(c_int * 2 * 3))
b = create_string_buffer(b"hello", 10)
print(b.value, b.raw, b[1], b[1:4], sizeof(b))
b.value = b"xy"
print(b.raw)
attempt("long", lambda: setattr(b, "value", b"x" * 11))
u = create_unicode_buffer("h\u00e9\U0001f600", 5)
print(u.value.encode("unicode-escape"), len(u), sizeof(u), u[:].encode("unicode-escape"))
print(memoryview(a).shape, memoryview(a).itemsize, memoryview(a).nbytes)
m = memoryview(bytearray(8))
shared = (c_uint8 * 4).from_buffer(m, 2)
shared[0] = 255
print(bytes(m), list((c_uint16 * 2).from_buffer_copy(b"\1\2\3\4")))
attempt("small", (c_int * 4).from_buffer, bytearray(3))
attempt("readonly", (c_int * 1).from_buffer, b"1234")


# Records.
class Point(Structure):
    _fields_ = [("x", c_int), ("y", c_int)]


class Mixed(Structure):
    _fields_ = [("a", c_char), ("b", c_double), ("c", c_short), ("p", Point), ("n", c_int * 3), ("s", c_char * 5)]


class Packed(Structure):
    _pack_ = 1
    _fields_ = [("a", c_char), ("b", c_double), ("c", c_short)]


class Bits(Structure):
    _fields_ = [("a", c_uint, 3), ("b", c_uint, 5), ("c", c_int, 4), ("d", c_uint, 30), ("e", c_ubyte, 2)]


class Big(BigEndianStructure):
    _fields_ = [("a", c_ushort), ("b", c_uint), ("c", c_ubyte * 2), ("d", c_ushort, 4)]


class Word(Union):
    _fields_ = [("n", c_uint), ("b", c_ubyte * 4), ("f", c_float)]


class Inner(Union):
    _fields_ = [("i", c_int), ("f", c_float)]


class Outer(Structure):
    _anonymous_ = ["u"]
    _fields_ = [("tag", c_int), ("u", Inner)]


class Point3(Point):
    _fields_ = [("z", c_int)]


for t in (Point, Mixed, Packed, Bits, Big, Word, Outer, Point3):
    print(t.__name__, sizeof(t), alignment(t), [(n[0], getattr(t, n[0]).offset, getattr(t, n[0]).size) for n in t._fields_])
    print(*(repr(getattr(t, n[0])) for n in t._fields_), sep="\n  ")
p = Point(1, y=2)
print(p.x, p.y, bytes(p), Point3(1, 2, 3).z)
x = Mixed(b"c", 2.5, 7, (3, 4), (1, 2), b"text")
print(x.a, x.b, x.c, x.p.x, x.p.y, list(x.n), x.s)
x.p = Point(8, 9)
x.p.y = 10
print(x.p.x, x.p.y)
w = Word(f=1.0)
print(hex(w.n), list(w.b))
o = Outer(1)
o.f = 2.0
print(o.i, o.u.f)
bits = Bits(9, 31, -3, 2**31, 7)
print(bits.a, bits.b, bits.c, bits.d, bits.e, bytes(bits))
big = Big(1, 2, (3, 4), 5)
print(bytes(big), big.a, big.b, big.d)
attempt("positional", Point, 1, 2, 3)
attempt("twice", lambda: Point(1, x=2))
attempt("unknown", lambda: vars(Point(q=1)))
attempt("type", Point, "x")
attempt("final", lambda: setattr(Point, "_fields_", []))
attempt("delete", lambda: delattr(p, "x"))
attempt("bad bits", lambda: type("B", (Structure,), {"_fields_": [("a", c_int, 40)]}))
attempt("bad bits", lambda: type("B", (Structure,), {"_fields_": [("a", c_float, 4)]}))
attempt("bad field", lambda: type("B", (Structure,), {"_fields_": [("a", int)]}))
attempt("abstract", Structure)
copied = pickle.loads(pickle.dumps(x))
print(copied.p.y, copied.s, type(copied).__name__)


class Later(Structure):
    pass


Later._fields_ = [("next", POINTER(Later)), ("v", c_int)]
chain = Later(pointer(Later(None, 5)), 6)
print(chain.next.contents.v, bool(chain.next.contents.next), chain.next[0].v)

# Pointers.
i = c_int(42)
q = pointer(i)
q.contents.value += 1
print(i, q[0], POINTER(c_int).__name__, POINTER(c_int) is POINTER(c_int), type(q)._type_)
q[0] = 5
print(i.value, bool(q), bool(POINTER(c_int)()))
attempt("NULL", lambda: POINTER(c_int)().contents)
attempt("NULL", lambda: POINTER(c_int)()[0])
attempt("type", lambda: POINTER(c_int)(c_long(1)).contents)
attempt("int", POINTER(c_int), 1)
r = cast(a, POINTER(c_int))
print(r[:4], r[3], r[3:0:-1])
attempt("no end", lambda: r[1:])
print(cast(create_string_buffer(b"zz"), c_char_p).value, cast(r, c_void_p).value == addressof(a))
print(c_int.from_address(addressof(a) + 4), string_at(b, 2), string_at(b"hello"), wstring_at("wide"))
memmove(b, b"abc", 3)
memset(addressof(b) + 3, ord("!"), 2)
print(b.raw)
print(byref(i, 0).__class__.__name__, c_void_p(None), py_object([1]).value)
attempt("object", lambda: py_object().value)
attempt("from_param", c_int.from_param, "x")

# What keeps what alive.
print(c_int(1)._objects, c_char_p(b"a")._objects, x._objects, (c_char_p * 2)(b"a", b"b")._objects)
s = (POINTER(c_int) * 2)(pointer(c_int(7)), None)
print(s[0].contents.value, sorted(s._objects))
resize(a, 32)
print(sizeof(a), list(a))
attempt("resize", resize, a, 4)

# Functions of Python's.
Compare = CFUNCTYPE(c_int, c_int, POINTER(c_int))
f = Compare(lambda n, at: n + at[0])
print(f(3, byref(c_int(4))), f(c_int(5), pointer(c_int(6))), Compare.__name__)
attempt("few", f, 1)
attempt("type", f, "x", None)


class Typed(c_int):
    pass


print(Typed(3).value, isinstance((Typed * 2)(1, 2)[0], Typed), hasattr(Typed, "from_buffer"))
print(wintypes.VARIANT_BOOL(True), bytes(wintypes.VARIANT_BOOL(5)), sizeof(wintypes.DWORD), wintypes.POINT(1, 2).y)
