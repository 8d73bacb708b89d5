# Weak references die at gc.collect().
import weakref, gc
class A:
    def __init__(self, n): self.n = n
    def __repr__(self): return f'A{self.n}'
a = A(1)
r = weakref.ref(a)
print(r() is a, weakref.ref(a) is r, weakref.getweakrefcount(a), hash(r) == hash(a))
del a
gc.collect()
print(r(), r == r, hash(r) is not None)
b = A(2); b.self = b
log = []
r = weakref.ref(b, lambda x: log.append(x is r))
del b; gc.collect(); print(log, r())
d = weakref.WeakValueDictionary()
x, y = A(3), A(4)
d['x'], d['y'] = x, y
del x; gc.collect(); print(list(d.items()))
s = weakref.WeakSet([y, A(5)]); gc.collect(); print(len(s))
z = A(9); k = weakref.WeakKeyDictionary({z: 1}); del z; gc.collect(); print(len(k))
c = A(6); weakref.finalize(c, print, 'finalized'); p = weakref.proxy(c); print(p.n); del c; gc.collect()
try: p.n
except ReferenceError as e: print(e)
def f():
    z = A(7)
    return weakref.ref(z)
w = f(); gc.collect(); print(w())
m = weakref.WeakMethod(A(8).__repr__); gc.collect(); print(m())
