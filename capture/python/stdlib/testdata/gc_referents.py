import gc
class C: pass
def f(): pass
l=[C()]; c=l[0]
print(len(gc.get_objects())>1000, sorted(type(x).__name__ for x in gc.get_referrers(c)), any(o is l for o in gc.get_objects()))
print([d.get("__name__") for d in gc.get_referrers(f) if isinstance(d,dict)])
class K:
    def m(self): pass
fs=[x for x in gc.get_referrers(K.m.__code__) if hasattr(x,'__code__')]
print([f.__qualname__ for f in fs])
ds=[d for d in gc.get_referrers(fs[0]) if isinstance(d,dict)]
print([c for d in ds for c in gc.get_referrers(d) if hasattr(c,'__bases__')])


# Tracebacks hold their frames.
def outer(x):
    y = x + 1
    def inner(z):
        w = z * 2
        raise ValueError(w)
    inner(y)


try:
    outer(3)
except ValueError as e:
    tb = e.__traceback__
    while tb:
        print(tb.tb_frame.f_code.co_name, {k: v for k, v in tb.tb_frame.f_locals.items() if isinstance(v, int) and k in "xyzw"}, tb.tb_lineno, tb.tb_frame.f_lineno, tb.tb_frame.f_back and tb.tb_frame.f_back.f_code.co_name)
        last, tb = tb, tb.tb_next
    last.tb_frame.clear()
    print(last.tb_frame.f_locals)
import atexit
print(atexit.register(print, "bye") is print, atexit._ncallbacks() > 0, gc.is_tracked(1), gc.is_tracked([]))
atexit.register(print, "never")
atexit.unregister(print)
seen = []
gc.callbacks.append(lambda phase, info: seen.append((phase, info["generation"])))
gc.collect(1)
gc.callbacks.clear()
print(seen)
