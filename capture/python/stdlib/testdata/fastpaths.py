# What the evaluator does in one step, where it goes another way: no value, another class, a change in between; and sorting, spans, keywords.
import math
import traceback


class Thing:
    kind = "class"

    def __init__(self):
        self.x = 1

    def get(self):
        return self.x

    def put(self, v):
        self.x = v

    def name(self):
        return self.kind

    def call(self):
        return self.get()


class Slotted:
    __slots__ = ("x", "y")
    get = Thing.get
    put = Thing.put


class Computed(Thing):
    @property
    def x(self):
        return "computed"

    @x.setter
    def x(self, v):
        print("set", v)


class Caught(Thing):
    def __getattr__(self, name):
        return "caught " + name

    def __setattr__(self, name, v):
        object.__setattr__(self, name, v * 2)


def attempt(f, /, *args, **kw):
    try:
        print(f(*args, **kw))
    except Exception as e:
        print(type(e).__name__, e, [(t.lineno - f.__code__.co_firstlineno, t.line) for t in traceback.extract_tb(e.__traceback__)[1:] if t.name == f.__name__])


things = [Thing(), Slotted(), Computed(), Caught(), Thing()]
for o in things + things:
    attempt(type(o).put, o, 5)
    attempt(type(o).get, o)
del things[0].x
attempt(things[0].get)
things[0].put(7)
attempt(things[0].get)
del things[1].x
attempt(things[1].get)
t = Thing()
for _ in range(3):
    print(t.name(), t.call())
t.kind, t.get = "own", lambda: "own get"
print(t.name(), t.call())
del t.kind, t.get
Thing.kind = "changed"
Thing.get = lambda self: "changed get"
print(t.name(), t.call())


def unset_attr():
    if not things:
        v = 1
    return v.x


def unset_method():
    if not things:
        v = 1
    return v.method()


def unset_store():
    if not things:
        v = 1
    v.x = 2


def unset_return():
    if not things:
        v = 1
    return v


def unset_second():
    a = 1
    if not things:
        v = 1
    return a + v


def no_attr(v):
    for i in range(2):
        w = i
    return v.missing


def no_method(v):
    return v.missing(1)


def no_store(v):
    v.missing = 1


for f in (unset_attr, unset_method, unset_store, unset_return, unset_second):
    attempt(f)
for v in (1, None, "s", [], Slotted(), Thing):
    attempt(no_attr, v)
    attempt(no_method, v)
attempt(no_store, 1)
attempt(no_store, Slotted())


def outer():
    n, rest = 0, []

    def inner(k):
        nonlocal n
        n += k
        rest.append(n)
        return n

    for k in range(3):
        inner(k)
    return n, rest


print(outer())


# Sorting.
class Card:
    asked = 0

    def __init__(self, n, tag=0):
        self.n, self.tag = n, tag

    def __lt__(self, other):
        Card.asked += 1
        return self.n < other.n

    def __repr__(self):
        return f"{self.n}{self.tag or ''}"


print(sorted([3, 1, 2]), sorted([2.5, 1, True]), sorted("banana"), sorted([], key=1), sorted([1]))
print(sorted([2, 1.5, 10**30, -(10**30), False]))
for n in (2, 10, 63, 64, 65, 300):
    cards = [Card(i * 7919 % 31, i) for i in range(n)]
    once = sorted(cards)
    back = sorted(cards, reverse=True)
    print(n, once == sorted(cards, key=lambda c: c.n), [c.tag for c in once[:8]], [c.tag for c in back[:8]])
    Card.asked = 0
    sorted(once)
    print(Card.asked)
    Card.asked = 0
    sorted([Card(-i) for i in range(n)])
    print(Card.asked)
words = "the Quick brown Fox jumps over The lazy dog".split()
print(sorted(words), sorted(words, key=str.lower), sorted(words, key=len, reverse=True))
print(sorted([(1, "b"), (1, "a"), (0, "z")]), sorted([3.5, -math.inf, math.inf, -0.0, 0.0]))
print(sorted(range(200), key=lambda i: (i * 37) % 10)[:25])
attempt(sorted, [1, "a"])
attempt(sorted, ["a", None, 1])
attempt(sorted, [1, 2], key=lambda v: 1 / 0)
attempt(sorted, [1, 2], key=3)
a = [3, "x", 1]
attempt(a.sort)
print(a)
def growing():
    l = [3, 1, 2]
    l.sort(key=lambda v: l.append(v) or v)


attempt(growing)

# Spans of strings.
for s in ("abcabcabc", "äbcäbcäbc", "x" * 50 + "yz", "é" * 50 + "yz", "😀a😀b" * 10):
    print([s.find(c, i, j) for c in s[-2:] for i in (0, 1, -3, 60) for j in (None, 4, -1, 100)])
    print([s.count(s[0], i) for i in (0, 3, -2, 99)], s.startswith(s[2], 2), s.endswith(s[1], 0, 2), s.rfind(s[0], 1))
    attempt(s.index, "q", 1)
    attempt(s.rindex, s[1], 0, 1)

# Keywords.


def takes(a, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, more


def exact(a, /, b, *, c=3):
    return a, b, c


attempt(takes, 1, c=3)
attempt(takes, 1, 2, 3, c=3, e=5, f=6)
attempt(takes, c=1, a=2)
attempt(lambda: takes(b=1, c=2))
attempt(lambda: takes(1, a=1, c=2))
attempt(lambda: takes(1))
attempt(lambda: exact(1, b=2, c=takes(4, c=exact(5, b=6))))
attempt(lambda: exact(a=1, b=2))
attempt(lambda: exact(1, 2, 3, c=1))
attempt(lambda: exact(1, b=2, z=3))

# Integers as text.
for n in (0, 7, -7, 255, -255, 2**63 - 1, -(2**63), 2**63, -(2**70)):
    print(*(format(n, s) for s in ("", "d", "+d", "08d", ",", "_", "b", "#b", "o", "#o", "x", "#X", "_x", "^12", "=+12", "n")))

# A loop ends with the StopIteration that what it walks lets through.


def stops(v):
    if v == 2:
        raise StopIteration
    return v


def walk(it):
    out = []
    for v in it:
        out.append(v)
    return out


def walk_pairs(it):
    out = []
    for a, b in it:
        out.append(a + b)
    return out


print(walk(map(stops, [1, 2, 3])), walk(filter(stops, [1, 2, 3])), walk_pairs(zip(map(stops, [1, 2]), [5, 6])), walk_pairs(enumerate(map(stops, [1, 1, 2]))))
print(walk_pairs([(1, 2), [3, 4], "ab"]), walk_pairs({"k1": 0, "k2": 1}), walk_pairs(((i, -i) for i in range(3))))
attempt(walk_pairs, [(1, 2, 3)])
attempt(walk_pairs, [1])
attempt(walk, 3)

# Slices.


class Sliced:
    def __getitem__(self, key):
        return key


class Index:
    def __index__(self):
        return 2


for s in ("abcdef", "äbcdéf", [1, 2, 3, 4, 5, 6], (1, 2, 3), b"abcdef", range(6), Sliced()):
    print([s[i:j] for i in (None, 0, 2, -2, 99, -99, True, Index(), 2**70) for j in (None, 0, 3, -1, 99, -99, -(2**70))][:: 1 if isinstance(s, (str, list)) else 9] if not isinstance(s, Sliced) else s[1:2])


def wrong(s, i):
    return s[i:]


attempt(wrong, "abc", "x")
attempt(wrong, [1], 1.5)
attempt(wrong, 3, 1)
attempt(wrong, {}, 1)
l = [1, 2, 3]
m = l[:]
m.append(4)
print(l, m, l[1:1], "abc"[5:], l[2:1])
