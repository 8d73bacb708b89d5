"""Exception groups, except* and memoryview. Every part runs alone."""
PARTS = r'''
try:
    raise ExceptionGroup("g", [ValueError(1), TypeError("t"), ExceptionGroup("h", [ValueError(2), KeyError("k")])])
except* ValueError as e:
    print(repr(e), e.exceptions)
except* TypeError as e:
    print(repr(e))
except* KeyError as e:
    print("k", repr(e))
---
def f():
    try:
        raise ExceptionGroup("g", [ValueError(1), OSError("o")])
    except* ValueError as e:
        print("v", e)
try: f()
except ExceptionGroup as e: print(repr(e), e.__context__, e.__cause__)
---
try:
    try: raise ValueError("plain")
    except* ValueError as e: print(type(e), e.exceptions, e.message)
    try: raise KeyError("plain")
    except* ValueError as e: print(type(e), e.exceptions)
except KeyError as e: print("out", repr(e))
---
g = ExceptionGroup("m", [ValueError(1), TypeError(2)])
print(g.split(ValueError), g.subgroup(lambda e: isinstance(e, TypeError)), g.derive([OSError()]), g.message, str(g), len(g.exceptions))
print(g.subgroup(KeyError), g.split((ValueError, TypeError)))
---
try: ExceptionGroup("x", [])
except ValueError as e: print(e)
try: ExceptionGroup("x", [1])
except ValueError as e: print(e)
try: ExceptionGroup("x", 1)
except TypeError as e: print(e)
try: ExceptionGroup("x", [KeyboardInterrupt()])
except TypeError as e: print(e)
print(repr(BaseExceptionGroup("x", [KeyboardInterrupt()])), type(BaseExceptionGroup("x", [ValueError()])))
---
try:
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except* ValueError as e:
        raise RuntimeError("new")
except BaseException as e:
    print(repr(e), repr(e.__context__), getattr(e, "exceptions", None))
---
try:
    try:
        raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
    except* ValueError as e:
        raise
    except* KeyError as e:
        print("K")
except BaseException as e:
    print(repr(e))
---
try:
    raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
except* ValueError: print("a")
except* KeyError: print("b")
else: print("no")
finally: print("fin")
try: pass
except* ValueError: print("a")
else: print("else")
---
class EG(ExceptionGroup):
    def derive(self, excs): return EG(self.message, excs)
try: raise EG("sub", [ValueError(1), TypeError(2)])
except* ValueError as e: print(type(e), e)
except* TypeError as e: print(type(e), e)
---
try:
    try: raise ValueError(1)
    except* 5: pass
except TypeError as e: print(e)
try:
    try: raise ValueError(1)
    except* ExceptionGroup: pass
except TypeError as e: print(e)
---
import traceback
try: raise ExceptionGroup("g", [ValueError(1), ExceptionGroup("n", [KeyError(2)])])
except ExceptionGroup as e: traceback.print_exception(e, file=__import__("sys").stdout)
---
compile("for i in x:\n  try: pass\n  except* V: break\n", "a", "exec")
---
compile("try: pass\nexcept* A: pass\nexcept B: pass\n", "a", "exec")
---
compile("try: pass\nexcept*: pass\n", "a", "exec")
---
m = memoryview(b"abcdef")
print(m[0], m[1:3].tobytes(), bytes(m[::2]), len(m), m.format, m.itemsize, m.nbytes, m.ndim, m.shape, m.strides, m.readonly, m.tolist(), m.contiguous)
print(m == b"abcdef", m[::-1].tobytes(), m.hex(), hash(m) == hash(b"abcdef"), 97 in m, list(m), m.obj)
---
b = bytearray(b"abcdef"); m = memoryview(b); m[0] = 65; m[1:3] = b"ZZ"; print(b)
try: m[1:3] = b"Z"
except ValueError as e: print(e)
m.release()
try: m[0]
except ValueError as e: print(e)
print(b)
---
m = memoryview(b"\0\1\2\3\4\5\6\7"); i = m.cast("I"); print(i.format, i.itemsize, len(i), i.tolist(), i[0], m.cast("H").shape, m.cast("B", (2,4)).tolist(), m.cast("d")[0])
---
try: memoryview(b"ab")[0] = 3
except TypeError as e: print(e)
try: memoryview("ab")
except TypeError as e: print(e)
try: memoryview(b"abc").cast("I")
except TypeError as e: print(e)
try: memoryview(b"ab")[5]
except IndexError as e: print(e)
with memoryview(b"abc") as m: print(m.toreadonly().readonly)
print(bytes(memoryview(b"xy")), bytearray(memoryview(b"xy")), b"".join([memoryview(b"a"), b"b"]), memoryview(b"a") == memoryview(b"a"))
---
b = bytearray(b"abc"); m = memoryview(b); c = bytearray(m); d = bytearray(b); m[0] = 90; print(b, c, d, bytes(m))
import struct
---
import struct
b = bytearray(8); struct.pack_into("<I", memoryview(b), 2, 7); print(b, struct.unpack_from("<I", memoryview(b)[2:], 0))
m = memoryview(b).cast("I"); m[0] = 2**32-1; print(b, m.tolist())
for v in (2**32, -1, 1.5, "a"):
    try: m[0] = v
    except Exception as e: print(type(e).__name__, e)
print(memoryview(b"abcd").cast("B", [2,2])[1,1], memoryview(b"ab") == memoryview(b"ac"), memoryview(b"ab") != b"ab", isinstance(m, memoryview), type(m))
import hashlib, base64, zlib
print(hashlib.sha256(memoryview(b"x")).hexdigest()[:8], base64.b64encode(memoryview(b"xyz")), zlib.crc32(memoryview(b"abc")))
print(int.from_bytes(memoryview(b"\1\2"), "big"), str(memoryview(b"hi"), "utf8"), bytes(b"x") + memoryview(b"y"), b"a" in memoryview(b"abc"))
'''

for i, part in enumerate(PARTS.strip("\n").split("\n---\n")):
    print("##", i)
    try:
        exec(compile(part, "<part %d>" % i, "exec"), {"__name__": "__main__"})
    except BaseException as e:
        print("!!", type(e).__name__, e)
