# Iterators by their types, what they say of themselves, and what happens to them when what they walk changes.
import collections
import copy
import operator
import pickle
import re


def told(f, *args):
    try:
        return f(*args)
    except BaseException as e:
        return "%s: %s" % (type(e).__name__, e)


def od(n=3):
    return collections.OrderedDict((i, chr(97 + i)) for i in range(n))


MAKERS = {
    "odict": lambda: iter(od()), "odict keys": lambda: iter(od().keys()), "odict values": lambda: iter(od().values()), "odict items": lambda: iter(od().items()),
    "odict reversed": lambda: reversed(od()), "odict values reversed": lambda: reversed(od().values()), "odict items reversed": lambda: reversed(od().items()),
    "dict": lambda: iter({1: 2, 3: 4}), "dict values": lambda: iter({1: 2, 3: 4}.values()), "dict items": lambda: iter({1: 2, 3: 4}.items()),
    "dict reversed": lambda: reversed({1: 2, 3: 4}), "dict items reversed": lambda: reversed({1: 2, 3: 4}.items()), "dict values reversed": lambda: reversed({1: 2}.values()),
    "list": lambda: iter([1, 2]), "list reversed": lambda: reversed([1, 2]), "tuple": lambda: iter((1, 2)), "tuple reversed": lambda: reversed((1, 2)),
    "str": lambda: iter("ab"), "str wide": lambda: iter("\u3042b"), "bytes": lambda: iter(b"ab"), "bytearray": lambda: iter(bytearray(b"ab")),
    "range": lambda: iter(range(3)), "long range": lambda: iter(range(2 ** 70, 2 ** 70 + 2)), "long range reversed": lambda: reversed(range(2 ** 70, 2 ** 70 + 2)),
    "callable": lambda: iter(iter([1, 2, 0]).__next__, 0), "getitem": lambda: iter(Sequence()), "alias": lambda: iter(list[int]), "match": lambda: re.finditer("a", "aba"),
}


class Sequence:
    def __getitem__(self, i):
        if i > 1:
            raise IndexError
        return i


for name, make in MAKERS.items():
    it = make()
    print(name, type(it).__name__, type(it).__module__, iter(it) is it)
    print("  length", told(operator.length_hint, it, -1), hasattr(it, "__length_hint__"), hasattr(it, "__setstate__"))
    print("  first", str(next(it)).partition(" at 0x")[0])
    print("  copied", str(told(lambda: list(copy.copy(it)))).partition(" at 0x")[0])
    if name not in ("callable", "getitem", "match"):
        print("  reduced", str(told(it.__reduce__)).partition(" at 0x")[0])
        print("  pickled", told(lambda: list(pickle.loads(pickle.dumps(it)))))
    rest = list(it)
    print("  ended", len(rest), told(next, it), told(next, it), told(operator.length_hint, it, -1))
    if name not in ("callable", "getitem", "match"):
        print("  and reduced", told(it.__reduce__))
    print("  subclassed", told(type, "T", (type(it),), {}))


def changed(name, d, change, walk=iter):
    it = walk(d)
    next(it)
    change(d)
    print(name, told(next, it), "|", told(next, it), "|", told(lambda: len(list(it))))


def popped(d):
    d.pop(next(reversed(d)))


def added(d):
    d["new"] = 1


def exchanged(d):
    popped(d)
    added(d)


def moved(d):
    d.move_to_end(0)


for walk in (iter, reversed, lambda d: iter(d.values()), lambda d: iter(d.items())):
    for change in (popped, added, exchanged):
        changed("dict " + change.__name__, dict(od()), change, walk)
    for change in (popped, added, exchanged, moved, dict.clear):
        changed("odict " + change.__name__, od(), change, walk)
s = {1, 2, 3}
it = iter(s)
next(it)
s.add(4)
print("set", told(next, it), told(next, it))
l = [1, 2, 3]
it = iter(l)
list(it)
l.append(4)
print("list", told(next, it))
it = iter(l)
it.__setstate__(2)
print(next(it), it.__length_hint__())
d = od()
d.move_to_end(2)
d.move_to_end(0, last=False)
print(list(d), enumerate[int], told(lambda: type("E", (type({}.keys()),), {})))
d = {i: i for i in range(5)}
for i in list(d):
    if i % 2:
        del d[i]
print(list(d), list(reversed(d)), d.popitem())
a, b, c = 1, 2, 3
a, b = b, a
a, b, c = c, a, b
a, *b = b, c, a
print(a, b, c)


def generator():
    yield 1


g = generator()
print(g.gi_frame.f_back, next(g), g.gi_frame.f_back)
