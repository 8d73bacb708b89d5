"""Async functions, generators and comprehensions, driven by hand: what they yield, return and raise."""
import sys
class Aw:
    def __init__(self, v): self.v = v
    def __await__(self):
        r = yield self.v
        return (self.v, r)
async def f(x):
    try:
        a = await Aw(x)
        b = await Aw(a)
    finally:
        print("fin")
    return b
def run(c, *sends):
    out = []
    try:
        out.append(c.send(None))
        for s in sends:
            out.append(c.send(s))
        while True:
            out.append(c.send(None))
    except StopIteration as e:
        return out, e.value
    except BaseException as e:
        return out, repr(e)
print(run(f(1), "a", "b"))
async def agen(n):
    for i in range(n):
        try:
            got = yield i
            if got: print("got", got)
        except ValueError as e:
            print("caught", e)
            yield "after"
async def use():
    out = []
    async for x in agen(3):
        out.append(x)
    else:
        out.append("else")
    out += [x async for x in agen(4) if x % 2]
    out.append({x async for x in agen(2)})
    out.append({x: await Aw(x) async for x in agen(2)})
    out.append([await Aw(y) for y in "ab"])
    g = (y async for y in agen(2))
    out.append(await g.__anext__())
    out.append(await anext(g))
    out.append(await anext(g, "default"))
    try:
        await anext(g)
    except StopAsyncIteration as e:
        out.append(repr(e))
    a = agen(3)
    await a.asend(None)
    await a.asend("hello")
    out.append(await a.athrow(ValueError("v")))
    await a.aclose()
    try:
        await a.asend(1)
    except StopAsyncIteration: out.append("closed")
    return out
print(run(use()))
async def gather(): await Aw(1)
class CM:
    def __init__(self, sw): self.sw = sw
    async def __aenter__(self):
        await Aw("enter"); return self
    async def __aexit__(self, *a):
        await Aw("exit"); print(a[0], a[1]); return self.sw
async def w():
    async with CM(False) as a, CM(True) as b:
        print("in"); 1/0
    for i in range(2):
        async with CM(False):
            if i: return "ret"
            continue
print(run(w()))
c = f(1)
print(type(c), c.cr_code.co_name, c.cr_running, c.cr_frame is not None, c.cr_await, c.cr_origin, c.cr_suspended)
c.send(None); print(c.cr_await.__class__.__name__, c.cr_suspended)
try: c.throw(KeyError("k"))
except KeyError as e: print(repr(e))
fresh = gather()
for fn in (lambda: c.send(None), lambda: list(fresh), lambda: run(bad()), lambda: next(fresh)):
    try: print(fn())
    except Exception as e: print(type(e).__name__, e)
fresh.close()
async def bad(): await 3
async def bad2():
    async for x in [1]: pass
async def bad3():
    async with 3: pass
async def bad4():
    class A:
        def __aiter__(self): return 3
    async for x in A(): pass
async def bad5():
    class A:
        def __aiter__(self): return self
        def __anext__(self): return 3
    async for x in A(): pass
async def bad6(): raise StopIteration(3)
async def bad7():
    async def g():
        yield 1
        raise StopAsyncIteration
    return [x async for x in g()]
async def bad8():
    class C:
        def __aenter__(self): return 1
        async def __aexit__(self, *a): pass
    async with C(): pass
async def bad9():
    class C:
        async def __aenter__(self): return 1
        def __aexit__(self, *a): return 3
    async with C(): pass
async def bad10():
    class A:
        def __await__(self): return iter([])
        def __aenter__(self): pass
    return await A()
async def bad11():
    x = gather()
    x.send(None)
    await x
async def bad12():
    async def g():
        try: yield 1
        finally: yield 2
    a = g()
    await anext(a)
    await a.aclose()
for b in (bad, bad2, bad3, bad4, bad5, bad6, bad7, bad8, bad9, bad10, bad11, bad12):
    try: print(b.__name__, run(b()))
    except Exception as e: print(b.__name__, type(e).__name__, e)
print(sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth())
def first(g): print("first", g.__name__)
sys.set_asyncgen_hooks(firstiter=first)
async def h():
    return [x async for x in agen(1)]
print(run(h()))
sys.set_asyncgen_hooks(None, None)
for src in ("async def f():\n  def g(): await x", "await x", "async for x in y: pass", "def f():\n async with x: pass",
    "async def f():\n yield from x", "async def f():\n yield 1\n return 2", "def f(): [x async for x in y]", "lambda: await x", "class A: await x", "[x async for x in y]",
    "async def f(): return [[y async for y in x] for x in z]", "async def f(): return ([y async for y in x] for x in z)", "def f(): return ([y async for y in x] for x in z)", "def f(): return (y async for y in z)"):
    try: compile(src, "x", "exec"); print("ok", src)
    except SyntaxError as e: print(e.msg, e.lineno, e.offset, e.end_offset)
