# Where objects with a __del__ hear of their end: what exceptions, expressions that fail, conditions, generators and temporaries held.
import weakref
class D:
    def __init__(s, n, bad=False):
        s.n = n
        if bad: raise ValueError(n)
    def __del__(s): print("del", s.n)
def f(n):
    x = D(n); raise KeyError(n)
try: f(1)
except KeyError as e: print("caught", e)
print("after 1")
try: D(2, True)
except ValueError as e: print("caught", e)
print("after 2")
try: f(3)
except KeyError: print("caught")
print("after 3")
def g():
    try: f(4)
    except KeyError as e: print("caught", e)
    print("in g")
g(); print("after 4")
w = weakref.WeakSet()
class O: pass
def h():
    o = O(); w.add(o); raise OSError
try: h()
except OSError as e: pass
print(len(w))
for k in (lambda: D(5).nope, lambda: list(D(6)), lambda: D(7) and list(D(8))):
    try: print(k())
    except BaseException as e: print(type(e).__name__)
print("after 5")
def gen():
    d = D(9)
    yield 1
def u():
    for x in gen():
        raise ValueError
try: u()
except ValueError as e: err = e
print("kept"); err = None; print("after 9")
try:
    try: f(10)
    except KeyError as e: raise TypeError from e
except TypeError as e: print("chained")
print("after 10")
import contextlib
class D:
    def __init__(s, n): s.n = n
    def __del__(s): print("del", s.n)
def gen(n):
    d = D(n)
    yield 1
    yield 2
for x in gen(1): break
print("broken")
def f():
    for x in gen(2): return x
    
f(); print("left")
g = gen(3); next(g); del g; print("deleted")
g = gen(4); next(g); g = 0; print("stored over")
def h():
    for x in gen(5):
        raise KeyError
try: h()
except KeyError: pass
print("raised")
for i in range(2):
    try:
        d = D(6); raise ValueError(d)
    except ValueError as e: del d
    print("round")
@contextlib.contextmanager
def cm():
    d = D(7)
    try: yield
    finally: print("finally")
with cm(): pass
print("with")
def rec(n):
    d = D(n)
    if n == 20: raise OSError
    rec(n + 1)
try: rec(18)
except OSError: pass
print("rec")
def eg():
    d = D(30); raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
try: eg()
except* ValueError: print("v")
except* TypeError: print("t")
print("groups")
class C:
    def __enter__(s): return s
    def __exit__(s, *a): return True
    def __del__(s): print("del C")
with C(): raise KeyError
print("swallowed")
class D:
    def __init__(s, n): s.n = n
    def __del__(s): print("del", s.n)
    def m(s): return 0
if D(40): print("in if")
D(41) and print("and"); print("or", D(42) and 1)
while D(43): print("loop"); break
not D(44); print("not")
D(46).m; print("bound")
x = {1: D(48)}; x.pop(1); print("popped")
class A: pass
a = A(); a.d = D(51); a.d = None; print("attr")
a.d = D(52); a = None; print("owner")
a = A(); a.d = D(53); del a; print("deleted owner")
D(55), 1; print("tuple")
async def co():
    d = D(60)
import asyncio
asyncio.run(co()); print("ran")
