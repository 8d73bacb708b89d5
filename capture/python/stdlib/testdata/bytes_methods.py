"""Methods of bytes and bytearray. Every part runs alone."""
PARTS = r'''
b = b"Hello World\xe9"; a = bytearray(b)
for f in "lower upper title capitalize swapcase isalpha isalnum isdigit islower isupper istitle isspace isascii strip split rsplit splitlines copy reverse".split():
    for x in (b, bytearray(b), b"", b"12", b"  a\x1cb\x0bc ", b"A\r\nb\x0cc\n"):
        if hasattr(x, f): print(f, repr(getattr(x, f)()), end=" ")
    print()
---
b = b"a,b,,c"
print(b.find(b"b"), b.find(b"b", 3), b.find(44), b.rfind(44), b.index(b"c", 1, 6), b.count(b","), b.count(44, 2), b.split(b","), b.split(b",", 1), b.rsplit(b",", 1), b.split(sep=b",", maxsplit=2), b.partition(b","), b.rpartition(b"x"), b.replace(b",", b";", 2), b.startswith((b"x", b"a")), b.endswith(b"c", 2), b.ljust(8, b"."), b.rjust(8), b.center(9, b"*"), b"-5".zfill(5), b"a\tb".expandtabs(4), b.removeprefix(b"a,"), b.removesuffix(b"c"), b.strip(b"ac"), b.translate(bytes.maketrans(b"abc", b"xyz")), b.translate(None, b","), b.hex("-"), b.hex(":", 2), b.hex(":", -4), bytes.fromhex("61 62\n63"), b"%d-%s" % (3, b"x"))
for f in [lambda: b.find("a"), lambda: b.index(b"z"), lambda: b.split(b""), lambda: b.split(","), lambda: b.startswith("a"), lambda: b.replace("a", "b"), lambda: bytes.fromhex("6"), lambda: bytes.fromhex("zz"), lambda: bytes.fromhex("6x"), lambda: b.find(300), lambda: b.join(["a"]), lambda: b + "a", lambda: b.ljust(3, "x"), lambda: b.decode("ascii2"), lambda: bytes([300]), lambda: bytes("a"), lambda: bytes(-1), lambda: b["a"], lambda: b"\xff".decode(), lambda: bytes.fromhex(5), lambda: b.partition(b""), lambda: "a" in b, ]:
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
---
a = bytearray(b"abc"); c = a; a += b"d"; print(c is a, c); a *= 2; print(c, c is a); del a[0]; del a[1:3]; print(a); print(a.pop(), a.pop(0), a); a.insert(1, 65); a.extend(b"zz"); a.extend([1, 2]); a.remove(65); a.reverse(); print(a, a.copy() is a, a.isalpha()); a[1:2] = b"QQ"; print(a); a.clear(); print(a, not a)
for f in [lambda: a.pop(), lambda: a.remove(1), lambda: a.append(300), lambda: a.append("a"), lambda: a.insert(0, "a"), lambda: a.__iadd__("x"), lambda: hash(a), lambda: a[5], lambda: a.__setitem__(0, 1)]:
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
'''

for i, part in enumerate(PARTS.strip("\n").split("\n---\n")):
    print("##", i)
    try:
        exec(compile(part, "<part %d>" % i, "exec"), {"__name__": "__main__"})
    except BaseException as e:
        print("!!", type(e).__name__, e)
