# The order of sets follows CPython's tables, hashes of strings its SipHash with a seed of 0.
a, b = [16, 98, -5, 3, 99], [0, 92, -2, 3]
A, B = set(a), set(b)
print(A | B, A & B, A - B, A ^ B, A.union(b), A.difference(b), A.symmetric_difference(b))
A -= B; print(A); A |= B; print(A); A ^= B; print(A); A &= set(a); print(A)
s = set(range(7)); s.discard(1); s.discard(2); s.add(65); s.add(1); print(s)
print({98, 2, 97, -42, 3, 1000, -5}, dict.fromkeys(b).keys() & set(a), dict.fromkeys(b).keys() - {3})
print(set("hello world"), {"a", "world"}, hash("ab"), hash(b"ab"), hash((1, "a")), hash(frozenset([1, 2])), hash("é"))
import enum
class F(enum.IntFlag):
    A = 1
    B = 2
    C = 4
print(repr(F.A | F.C), repr(F(6)), int(F.A | F.C), F.B in (F.A | F.B))
for f in (lambda: chr(2**40), lambda: (0.5).as_integer_ratio(), lambda: float("inf").as_integer_ratio(), lambda: {**[]}, lambda: format(1.5, "abc"), lambda: "x" % [1], lambda: 2**70 % 0):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
print("ß".upper())
