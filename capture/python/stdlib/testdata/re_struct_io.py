"""Patterns and their errors, struct, files in memory, heapq, bisect, copy, operator. Every part runs alone."""
PARTS = r'''
import re
for p in ["(", "[", "*a", "a{2,1}", "(?P<n>a)(?P<n>b)", "(?P=x)", "\\", "a**", "(?<=a*)b", "[z-a]", "(?P<1>a)", "(?z)", ")", "\\8", "(?:", "x{1,2}{3}", "(?P<n", "(?#", "[a", "(?", "(?P", "(?Px", "\\x1", "\\N{x}", "\\u12", "(?<n>a)", "(?(1)a|b|c)", "(?(2)a)", "a++", "(?i", "(?-i)", "a\\", "[\\d-z]", "(?P<n>)(?P=n", "\\400", "(?L)a", "(?ia)", "a(?i)b"]:
    try: re.compile(p); print(p, "ok")
    except re.error as e: print(repr(p), e, "|", e.msg, e.pos, e.lineno, e.colno, repr(e.pattern))
    except Exception as e: print(repr(p), type(e).__name__, e)
---
import re
print(re.error.__name__, re.sub(r"(\w)(\d)?", r"<\1\g<2>>", "a1b"), re.split(r"(,)|;", "a,b;c"), re.findall(r"(a)(b)?", "abaa"))
print(re.fullmatch(r"(?P<x>\d+)-(?P<y>\w*)", "12-ab").groupdict(), re.match("a", "b"), re.compile("a|b", re.I|re.M), repr(re.compile("x")))
m = re.search(r"(?P<k>\w+)=(?P<v>\w+)", "  key=val ")
print(m, m.span("v"), m.start(), m.end(1), m.lastgroup, m.lastindex, m.expand(r"\g<v>:\1"), m["k"], m.regs, m.pos, m.endpos, m.string, m.re.groups, m.re.groupindex)
try: re.sub("(a)", r"\2", "a")
except re.error as e: print(e, e.pos)
try: re.sub("(a)", r"\g<x>", "a")
except (re.error, IndexError) as e: print(type(e).__name__, e)
try: m.group(5)
except IndexError as e: print(e)
print(re.subn("a", lambda m: m[0].upper(), "banana", count=2), re.escape("a.b*c d-é"), [x.group() for x in re.finditer(r"\b\w", "ab cd")], re.sub("", "-", "abc"), re.split("", "abc"), re.split(r"\s*", "a b"))
print(re.compile(r"(?x) a  b # c").pattern, re.findall(r"(?s).+", "a\nb"), re.findall("^a", "a\na", re.M), re.compile("a", re.X|re.S).flags, re.RegexFlag.I, re.I|re.M, re.findall(rb"\d", b"a1"))
print(re.sub(r"(?<=a)b(?!c)", "X", "abcab"), re.search(r"(a)|(b)", "b").groups("z"), re.purge())
print(re.fullmatch(r"(a+)+b", "aaab"), re.match(r"(?P<q>['\"]).*?(?P=q)", "'abc'd'").group(), re.sub(r"\s+", " ", "a  \t b"), re.findall(r"[^\W\d_]+", "ab1_c é"), re.match(r"\Aab\Z", "ab\n"))
---
import struct
print(struct.pack("<bBhHiIqQfd?c", -1, 2, -3, 4, -5, 6, -7, 8, 1.5, 2.5, True, b"x"), struct.calcsize("<bBhHiIqQfd?c"), struct.calcsize("bi"), struct.calcsize("@ibq"), struct.unpack(">3sxH", b"abc\0\1\2"))
print(struct.pack("10s", b"ab"), struct.pack("5p", b"abc"), struct.unpack("5p", b"\3abc\0"), struct.pack(">e", 1.5), struct.unpack("<e", b"\0<"), list(struct.iter_unpack("<H", b"\1\0\2\0")), struct.Struct("<2i").size, struct.Struct("<2i").format)
for a in [("b", 300), ("B", -1), ("i", "a"), ("i",), ("i", 1, 2), ("z", 1), ("H", 70000), ("q", 2**63), ("f", "x"), ("c", b"ab"), ("s", 1), ("i", 1.5), ("e", 70000.0), ("f", 1e40), ("?", [])]:
    try: print(struct.pack(*a))
    except Exception as e: print(a, type(e).__name__, e)
for a in [("i", b"abc"), ("<H", b"abc"), ("3", b"")]:
    try: print(struct.unpack(*a))
    except Exception as e: print(a, type(e).__name__, e)
try: struct.unpack_from("<I", b"abcd", 2)
except struct.error as e: print(e)
try: struct.pack_into("<I", bytearray(3), 0, 1)
except struct.error as e: print(e)
try: list(struct.iter_unpack("<H", b"abc"))
except struct.error as e: print(e)
print(struct.Struct("<hh").pack(1, 2), struct.Struct("<hh").unpack(b"\1\0\2\0"), struct.pack("<n", 1) if 0 else None, struct.pack("n", 5), struct.pack("P", 5))
---
import io
s = io.StringIO("a\nb\nc"); print(s.readline(), s.read(1), s.tell(), s.readlines(), s.read(), s.getvalue(), s.seek(0), s.truncate(2), s.getvalue(), s.closed, s.seekable(), s.readable(), s.writable(), s.isatty())
s = io.StringIO(); print(s.write("héllo"), s.writelines(["x", "y"]), s.tell(), s.getvalue()); s.seek(2); s.write("ZZ"); print(s.getvalue()); print("a", 1, file=s, end="!"); print(s.getvalue())
s.close()
try: s.read()
except ValueError as e: print(e)
try: io.StringIO(b"a")
except TypeError as e: print(e)
try: io.StringIO().write(b"a")
except TypeError as e: print(e)
with io.StringIO("x\ny\n") as f: print([l for l in f], f.read())
b = io.BytesIO(b"abc\ndef"); print(b.read(2), b.readline(), b.read(), b.seek(-2, 2), b.read(), b.getvalue(), b.tell(), b.seek(1), b.write(b"ZZ"), b.getvalue(), b.getbuffer().tobytes(), b.readinto(bytearray(2)), b.read1(1))
b = io.BytesIO(); b.seek(3); b.write(b"x"); print(b.getvalue(), b.truncate(2), b.getvalue(), len(b.getbuffer()))
x = bytearray(3); b = io.BytesIO(b"hello"); print(b.readinto(x), x, list(io.BytesIO(b"a\nb")), b.readlines(), b.readable())
try: io.BytesIO("a")
except TypeError as e: print(e)
try: io.BytesIO().write("a")
except TypeError as e: print(e)
try: io.StringIO("abc").seek(-1)
except ValueError as e: print(e)
try: io.StringIO("abc").seek(1, 1)
except OSError as e: print(type(e).__name__, e)
try: io.BytesIO(b"abc").seek(-1)
except ValueError as e: print(e)
print(io.StringIO("a\r\nb\rc", newline=None).read().__repr__(), io.StringIO("a\r\nb", newline="").readline().__repr__(), isinstance(s, io.TextIOBase), isinstance(b, io.IOBase), issubclass(io.BytesIO, io.BufferedIOBase), io.SEEK_END, io.DEFAULT_BUFFER_SIZE)
t = io.TextIOWrapper(io.BytesIO(b"x\ny\xc3\xa9\n"), encoding="utf-8"); print(t.read(), t.encoding, t.buffer.getvalue())
w = io.BytesIO(); t = io.TextIOWrapper(w, encoding="utf-8", newline="\n", write_through=True); t.write("é\n"); t.flush(); print(w.getvalue())
print(io.BufferedReader(io.BytesIO(b"abc")).read(2), io.StringIO("abc").read(None), io.StringIO("abc").readline(2), io.UnsupportedOperation.__mro__[1:3], io.open is open)
class M(io.StringIO):
    def write(self, s): return super().write(s.upper())
m = M(); print("abc", file=m); print(repr(m.getvalue()), m.getvalue().splitlines())
class R(io.RawIOBase):
    def readable(self): return True
    def readinto(self, b): b[:2] = b"hi"; return 0 if hasattr(self, "d") else setattr(self, "d", 1) or 2
print(R().read(5), io.BufferedReader(R()).read())
---
import heapq
h = [5, 3, 8, 1]; heapq.heapify(h); print(h, heapq.heappop(h), heapq.heappushpop(h, 0), heapq.heapreplace(h, 9), h, heapq.nlargest(2, [1, 5, 3]), heapq.nsmallest(2, ["bb", "a"], key=len), list(heapq.merge([1, 4], [2, 3], [0])), list(heapq.merge([4, 1], [3], reverse=True)), list(heapq.merge(["a", "ccc"], ["bb"], key=len)))
try: heapq.heappop([])
except IndexError as e: print(e)
try: heapq.heapify((1, 2))
except TypeError as e: print(e)
try: heapq.heappush(5, 1)
except TypeError as e: print(e)
---
import bisect
a = [1, 2, 2, 3]; print(bisect.bisect(a, 2), bisect.bisect_left(a, 2), bisect.bisect_right(a, 2, 0, 2), bisect.insort(a, 2), a, bisect.bisect_left([(1, "a"), (3, "b")], 2, key=lambda t: t[0]), bisect.insort_left(a, 0), a)
try: bisect.bisect([1], 1, -1)
except ValueError as e: print(e)
l = []; bisect.insort(l, (2, "x"), key=lambda t: t[0]); bisect.insort(l, (1, "y"), key=lambda t: t[0]); print(l)
---
import copy
class A:
    def __init__(s): s.x = [1]; s.me = s
a = A(); b = copy.deepcopy(a); c = copy.copy(a); print(b.me is b, b.x is a.x, c.x is a.x, c.me is a)
class B:
    __slots__ = ("p", "q")
    def __init__(s): s.p = {1: [2]}
d = copy.deepcopy(B()); print(d.p, hasattr(d, "q"))
class C:
    def __copy__(s): return "copied"
    def __deepcopy__(s, memo): return ("deep", type(memo).__name__)
print(copy.copy(C()), copy.deepcopy(C()), copy.deepcopy([C()]*2), copy.deepcopy((1, [2])), copy.copy({1}), copy.deepcopy(range(3)), copy.deepcopy(len), copy.deepcopy(A) is A, copy.error)
t = (1, 2); print(copy.deepcopy(t) is t, copy.copy(t) is t)
l = [1]; l.append(l); m = copy.deepcopy(l); print(m[1] is m)
class D(dict): pass
d = D(a=[1]); d.z = [2]; e = copy.deepcopy(d); print(type(e), e, e.z, e.z is d.z)
class E(Exception): pass
x = copy.copy(E(1, 2)); print(repr(x)); import collections; print(copy.deepcopy(collections.OrderedDict(a=1)), copy.copy(collections.defaultdict(list, a=[1])), copy.deepcopy(collections.deque([1, [2]], 3)), copy.deepcopy(collections.Counter("ab")))
---
import operator as o
print(o.itemgetter(1)([1, 2]), o.itemgetter(0, 2)("abc"), o.attrgetter("a.b"), o.methodcaller("upper")("a"), o.attrgetter("real", "imag")(3), repr(o.itemgetter(1, 2)), repr(o.methodcaller("f", 1, k=2)), o.concat([1], [2]), o.countOf([1, 1], 1), o.indexOf([1, 2], 2), o.length_hint([1]), o.index(True), o.truth([]), o.is_not(1, 2), o.contains([1], 1), o.iadd([1], [2]), o.matmul, o.inv(3), o.not_(1), o.pos(-1), o.getitem("ab", 1), o.setitem([1], 0, 2), o.delitem([1], 0), o.floordiv(7, 2), o.lshift(1, 3), o.xor(5, 1), o.abs(-1), o.__add__(1, 2), o.ipow(2, 3), o.call(len, [1]))
for f in [lambda: o.itemgetter(), lambda: o.attrgetter(1), lambda: o.methodcaller(), lambda: o.concat(1, 2), lambda: o.index(1.5), lambda: o.indexOf([1], 2), lambda: o.attrgetter("x.y")(1), lambda: o.length_hint(1, "a"), lambda: o.itemgetter(5)([1])]:
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
'''

for i, part in enumerate(PARTS.strip("\n").split("\n---\n")):
    print("##", i)
    try:
        exec(compile(part, "<part %d>" % i, "exec"), {"__name__": "__main__"})
    except BaseException as e:
        print("!!", type(e).__name__, e)
