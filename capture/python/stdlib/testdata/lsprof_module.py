# What is counted, and to whose account; times are of a clock that each look moves.
import _lsprof, cProfile, io, pstats, sys

ticks = 0


def timer():
    global ticks
    ticks += 1
    return ticks


def rows(p):
    def name(code):
        return code if isinstance(code, str) else code.co_name
    for e in sorted(p.getstats(), key=lambda e: name(e.code)):
        print(name(e.code), e[1:5], sorted((name(c.code),) + c[1:] for c in e.calls or ()))


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def gen():
    yield len("ab")
    yield 2


class C:
    def __len__(self):
        return 3


def work():
    out = []
    out.append(fib(4))
    sorted(out, key=lambda x: -x)
    list(gen())
    len(C())
    str.upper("a")
    int("3")
    try:
        fib("a")
    except TypeError:
        pass
    try:
        int.from_bytes(1)
    except TypeError:
        pass
    return max(*[1, 2], **dict(key=int))


for kw in {}, dict(subcalls=False), dict(builtins=False):
    p = _lsprof.Profiler(timer, 0.5, **kw)
    p.enable(**kw)
    print(sys.getprofile() is p)
    work()
    p.disable()
    print(sys.getprofile(), kw)
    rows(p)
    p.clear()
    print(p.getstats())

p = cProfile.Profile(lambda: timer() / 4)
with p:
    work()
s = io.StringIO()
pstats.Stats(p, stream=s).strip_dirs().sort_stats("name", "line").print_stats().print_callers()
print(s.getvalue())
print(p.runcall(fib, 3), p.getstats()[0]._fields if hasattr(p.getstats()[0], "_fields") else type(p.getstats()[0]))
for args, kw in ((1, 2, 3, 4, 5), {}), ((), {"clock": 1}), ((None, "a"), {}):
    try:
        _lsprof.Profiler(*args, **kw)
    except Exception as e:
        print(type(e).__name__, e)
