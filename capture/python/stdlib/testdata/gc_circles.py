# Objects with a __del__ that refer to themselves in a circle hear of their end at gc.collect().
import functools
import gc
import weakref

gc.disable()
gc.collect()


class D:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("    del", self.name)

    def method(self):
        return self


class Slots:
    __slots__ = ("name", "other", "__weakref__")

    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("    del", self.name)


class Items(list):
    def __del__(self):
        print("    del items", len(self))


class Table(dict):
    def __del__(self):
        print("    del table", sorted(map(str, self)))


kept = []


class Lazarus:
    def __del__(self):
        kept.append(self)
        print("    del, and stays")


cases = []


def case(f):
    cases.append(f)
    return f


@case
def itself():
    d = D("itself")
    d.me = d


@case
def two():
    a, b = D("a"), D("b")
    a.b, b.a = b, a


@case
def by_a_list():
    d = D("in a list")
    d.items = [1, [d], 2]


@case
def by_a_dict_and_a_tuple():
    d = D("in a dict")
    d.items = {"x": (0, d), d: "key"}


@case
def by_a_set():
    d = D("in a set")
    d.items = {d, 1}


@case
def by_a_method():
    d = D("method")
    d.m = d.method


@case
def by_a_closure():
    d = D("closure")
    d.f = lambda x=1: (d, x)


@case
def by_a_default():
    d = D("default")

    def f(x=d, *, y=d):
        return x, y

    d.f = f


@case
def by_a_partial_of_a_list():
    d = D("plain")
    d.items = [d]
    d.length = len(d.items)


@case
def slots():
    s = Slots("slots")
    s.other = [s]


@case
def subclass_of_list():
    x = Items()
    x.append(x)


@case
def subclass_of_dict():
    x = Table()
    x["x"] = x


@case
def plain_between():
    class P:
        pass

    d, p = D("behind a plain one"), P()
    d.p, p.d = p, d


@case
def behind_the_circle():
    a, b = D("circle"), D("held by it")
    a.me, a.b = a, b


@case
def circle_behind():
    a, b = D("holds it"), D("the circle")
    a.b, b.me = b, b


@case
def two_circles():
    a, b = D("first"), D("second")
    a.me, b.me, a.b = a, b, b


@case
def comes_back():
    x = Lazarus()
    x.me = x
    x.word = "here"


@case
def fails():
    class F:
        def __del__(self):
            print("    del fails", self.me is self, self.__dict__["me"] is self)

    f = F()
    f.me = f


@case
def weak():
    d = D("weak")
    d.me = d
    refs.append(weakref.ref(d, lambda r: print("    callback", r())))


refs = []


@case
def identity():
    d = D("same id")
    d.me = d
    d.number = id(d)
    d.items = {d: "found"}
    e = Seen()
    e.me, e.d, e.number = e, d, id(e)


class Seen:
    def __del__(self):
        print("    del", id(self) == self.number, self.d.items[self.d], id(self.d) == self.d.number)


for f in cases:
    print(f.__name__)
    f()
    print("  let go")
    gc.collect()

print([k.word for k in kept], kept[0].me is kept[0])
print([r() for r in refs])
kept[0].me = None
kept.clear()

print("held")
# Those are not garbage, whoever holds them.
d = D("global")
d.me = d
box = [D("in a box")]
box[0].box = box
it = iter([D("an iterator's")])
gen = (x for x in [D("a generator's")])


def cell():
    d = D("a function's")
    d.me = d
    return lambda: d


f = cell()
p = functools.partial(print, D("a partial's"))
p.args[0].p = p


class Plain:
    pass


held = D("by the iterator of a list")
held.me = held
names = iter([held, 1])
del held
both = D("half")
both.me, both.other = both, Plain()
half = both.other
half.both = both
del both
for i in range(3):
    print(gc.collect() >= 0, d.me is d, box[0].box is box, f().name, half.both.other is half)
print("dropped one by one")
del d
gc.collect()
box = None
gc.collect()
f = None
gc.collect()
half = None
gc.collect()
print(next(names).me.name)
gc.collect()
print(p.args[0].name)
print("end")
del it, gen
p.args[0].p = None
