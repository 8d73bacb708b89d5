# What the evaluator does at once, where it can, must come to the same where it cannot.
def show(f, *args):
    try:
        print(f.__name__, f(*args))
    except Exception as e:
        print(f.__name__, type(e).__name__, e, [t.tb_lineno - f.__code__.co_firstlineno for t in tracebacks(e)])


def tracebacks(e):
    t = e.__traceback__.tb_next
    while t:
        yield t
        t = t.tb_next


# Pairs without tuples.
def pairs(it):
    out = []
    for a, b in it:
        out.append((a, b))
    return out


def stops():
    yield 1
    raise ValueError("in the middle")


def growing(d):
    for k, v in d.items():
        d[k + 1] = v


class Own(enumerate):
    def __next__(self):
        return super().__next__()[::-1]


def strictly():
    z = zip([1, 2], [3])
    z.__setstate__(True)
    return pairs(z)


def mapped():
    def f(x):
        raise StopIteration(x)

    return pairs(zip([1, 2], map(f, [3])))


show(pairs, enumerate("abc"))
show(pairs, enumerate("ab", 1 << 70))
show(pairs, Own("ab"))
show(pairs, zip("ab", "xyz"))
show(pairs, zip("abc", "xy"))
show(pairs, zip("ab", "xyz", strict=True))
show(pairs, zip("ab", "cd", "ef"))
show(pairs, zip("ab"))
show(pairs, zip())
show(pairs, zip([1, 2], stops()))
show(pairs, zip(stops(), [1, 2]))
show(pairs, {1: 2, 3: 4}.items())
show(pairs, {(1, 2): 0}.keys())
show(pairs, {(1, 2): 0})
show(pairs, reversed({1: 2}.items()))
show(growing, {1: 2})
show(strictly)
show(mapped)
z = zip("abc", "de")
print(pairs(z), list(z))
z = zip(iter("abc"), iter([]))
print(pairs(z), pairs(z))


# Operators of a local name and a constant, of two names, and of what is no number.
def unset_right(a):
    if a > 5:
        b = 1
    return a + b


def unset_left(a):
    if a > 5:
        b = 1
    return b + a


def unset_const():
    if not unset_const:
        b = 1
    return b - 1


def power(a):
    return a ** -1


def divided(a, b):
    return (
        a
        // b
    )


class V:
    def __init__(self, v):
        self.v = v

    def __add__(self, o, scale=1):
        return ("add", self.v, getattr(o, "v", o), scale)

    def __radd__(*both):
        return ("radd", both[1])

    def __sub__(self):
        return "never"

    __mul__ = staticmethod(lambda o: ("mul", o))


def all_of(v):
    return v + 1, 1 + v, v + v, v * 3


def minus(v):
    return v - 1


show(unset_right, 1)
show(unset_left, 1)
show(unset_const)
show(power, 0)
show(power, 2)
show(divided, 1, 0)
show(divided, 7, -2)
show(divided, -(1 << 63), -1)
show(divided, (1 << 62), 2)
show(all_of, V(5))
show(minus, V(5))
print((1 << 62) + (1 << 62), sum([1 << 62] * 4), sum([1 << 62, 1.5, 2]), sum([True, 2]), sum([[1], [2]], []), sum([1, 2, V(3)]))


# Calls of what is not there, keywords that nobody takes.
def outer():
    def inner():
        return later(1)

    def use():
        return inner()

    def call():
        x = use()
        return x
    if not outer:
        later = None
    return call()


def extra(a, /, b=2, *, c=3, **rest):
    return a, b, c, rest


show(outer)
print(extra(1, d=4), extra(1, d=4, c=5, e=6), extra(1, f=1, g=2, h=3, i=4), extra(1), extra(1, **{"a": 5}))
show(lambda: extra(1, 2, b=3, z=1))
r = extra(1, d=4)[3]
r["e"], r["f"], r["g"] = 5, 6, 7
print(r)

# Texts.
for s in ["", " ", "a", " a ", "\t\x1ca b\x85", "\x85é\u2003", "1²", "٣", "abcé", "A b"]:
    print(ascii((s.strip(), s.lstrip(), s.rstrip(), s.strip("a "), s.lower(), s.upper(), s.title(), s.split(), s.split(None, 1))))
    print([getattr(s, m)() for m in ("isalpha", "isdigit", "isdecimal", "isnumeric", "isalnum", "isspace", "isprintable", "isascii")])
s = "abcabc"
print([f(*a) for f in (s.find, s.rfind, s.count) for a in [("b",), ("b", 2), ("b", -2), ("b", None, 1), ("b", 5, 2), ("", 6), ("", 7), ("c", True), ("c", -(1 << 70), 1 << 70)]])
print(s.startswith("", 6), s.startswith("", 7), s.endswith("c", -1), "é" "bé".find("é", 1), "éb".index("b", 0, None))


class S(str):
    pass


t = S("ab")
print(type(t.lower()), type(t.strip()), type(f"{t}"), type(f"{t!s}"), f"{3:04d}|{-3:04d}|{3:+}|{3:,}|{True}|{True:2}|{1 << 70:_}|{-(1 << 63)}|{3:c}", format(5, "d"))
print("".join(["a", S("b")]), "-".join(("a",)), "-".join(c for c in "xyz"))
print(range(True), range(3)[1], list(range(5, 0, -2)), range(1 << 70)[-1], float(1 << 53), float(True))
try:
    range(1, 2, 0)
except ValueError as e:
    print(e)


# Slots beside their instance.
def slots(n):
    class C:
        __slots__ = tuple("abcdefg"[:n])

    c = C()
    for k in C.__slots__:
        setattr(c, k, k)
    return [getattr(c, k) for k in C.__slots__], hasattr(c, "__dict__")


print([slots(n) for n in range(6)])


# A coroutine that has ended is not waited for; one that has not is.
async def co():
    return 1


class D:
    def __del__(self):
        print("gone")


def scope():
    c = co()
    c.close()
    d = D()
    d = None
    print("after")


scope()
