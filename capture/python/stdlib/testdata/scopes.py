# Scopes, control flow, and what compiles oddly.
x = 'global'
class C:
    x = 'class'
    y = [x for _ in range(1)]
    z = [x for x in [1, 2]]
    def f(self): return x
    g = lambda self: x
    w = x
print(C.y, C.z, C().f(), C().g(), C.w)
def f():
    x = 'local'
    class D:
        y = x
        def m(self): return x
    return D.y, D().m()
print(f())
def outer():
    def a(): return b()
    def b(): return 'late'
    return a
print(outer()())
def star(): return 1, *[2, 3], *(4,)
print(star(), *star(), [*star(), 5], {*star()}, (*star(),))
def deco(n):
    def d(fn):
        def w(*a, **k): return f"{n}({fn(*a, **k)})"
        return w
    return d
@deco('A')
@deco('B')
def h(q): return q
print(h('z'))
def many(a, b=[], *args, k1, k2='d', **kw):
    b.append(a); return b, args, k1, k2, sorted(kw)
print(many(1, k1=0), many(2, k1=1), many(3, [9], 10, 11, k1=2, k2=3, zz=4))
def fin(n):
    for i in range(n):
        try:
            if i == 1: continue
            try:
                if i == 3: return 'ret' + str(i)
            finally: print('inner', i)
        finally: print('outer', i)
    return 'end'
print(fin(2), fin(9))
def w():
    with open('/dev/null') as a, open('/dev/null') as b:
        for i in range(3):
            with open('/dev/null') as c:
                if i == 1: return i, a.closed, c.closed
print(w())
def gen():
    try:
        with CM('g') as v: yield v
    finally: print('gen fin')
class CM:
    def __init__(s, n, sup=False): s.n, s.sup = n, sup
    def __enter__(s): print('enter', s.n); return s.n
    def __exit__(s, t, v, tb): print('exit', s.n, t and t.__name__); return s.sup
for v in gen(): print(v); 
with CM(1), CM(2, True) as q: raise KeyError('k')
print('after', q)
try:
    with CM(3): raise ValueError('v')
except ValueError as e: print('propagated', e)
def nest():
    r = []
    for i in range(3):
        for j in range(3):
            if j == 2: break
            if i == 1: continue
            r.append((i, j))
        else: r.append('no')
    else: r.append('done')
    return r
print(nest())
i = 0
while i < 5:
    i += 1
    if i == 2: continue
    if i == 4: break
else: print('never')
print(i)
a = b = c = 0; a, b = b + 1, a + 2; print(a, b, c)
l = [1, 2, 3]; l[0], l[1] = l[1], l[0]; i, l[i - 3] = 0, 'q'; print(l, i)
d = {}; d['a'], d['b'] = 1, 2; d['a'] += 5; d.setdefault('l', []).append(1); print(d)
class O: pass
o = O(); o.a = o.b = 1; o.a += 2; o.l = [1]; o.l += [2]; del o.b; print(vars(o))
print((lambda *a, k=1, **kw: (a, k, kw))(1, 2, k=3, z=4), (lambda: (yield))().__class__.__name__)
print([i if i % 2 else -i for i in range(4)], [(i, j) for i in range(2) for j in range(2) if i != j], {i: {j for j in range(i)} for i in range(3)})
print(1 if [] else 2 if 0 else 3, not 1 == 2, -2 ** 2, 2 ** -1, 2 ** 3 ** 2, 5 - 3 - 1, 7 // 2 * 2, 1 + 2 * 3 % 4, ~1 & 3 | 8 ^ 2, 1 < 2 == True, 'a' in 'abc' in ['abc'])
def ann(x: 'int', y: print = 1, *a: 1 + 1, k: str = 'v', **kw: None) -> [1]: pass
print(ann.__annotations__)
class An:
    a: int = 1
    b: 'str'
    c = 3
    def __init__(self): self.q: float = 1.0
print(An.__annotations__, An.a, hasattr(An, 'b'), An().q)
def walrus(): 
    if (n := len('abc')) > 2: print(n)
    return [y := 1, y ** 2], [last := i for i in range(3)], last
print(walrus())
print([k for k in range(3) if (m := k) > 0], m)
assert True, 'no'
try: assert (1, 2) == (1, 3), ('tuple', 'msg')
except AssertionError as e: print(e.args)
def kwonly(*, a, b=2): return a, b
print(kwonly(a=1), kwonly(**{'a': 3, 'b': 4}))
def pos(a, b, /, c, *, d): return a, b, c, d
print(pos(1, 2, 3, d=4), pos(1, 2, c=3, d=4))
def cell(n):
    def inc(): nonlocal n; n += 1; return n
    def get(): return n
    return inc, get
i1, g1 = cell(5); i1(); i1(); print(g1())
def rec(n): return 1 if n < 2 else n * rec(n - 1)
print(rec(30))
exec('exec_var = 7'); print(exec_var, eval('[exec_var for _ in range(2)]'))
def loc(): a = 1; b = 2; return sorted(locals().items())
print(loc(), __name__)
def dele():
    a = 1; del a
    try: a
    except UnboundLocalError as e: return str(e)
print(dele())
print(f"{x!r:^12}|{1 + 1:>{2 + 2}}|{'%s' % x}|{d['a']}|{(lambda q: q * 2)(3)}|{x:{'>'}{10}}|{1:=+5}|{x=}|{x = !s}")
print("a" "b" f"{1}" 'c' r'\n' f'{"nested"}')
print(b'a' b'\x00b', '\x41\u0042\103', 'tab\tnew\\n', '''tri
ple''', "line\
cont")
if 1: print('one line'); print('two')
for q in 1, 2: print(q, end=' ')
else: print()
try: pass
except: print('x')
else: print('else')
finally: print('finally')
x = [1, 2, 3, 4]; x[1:3] = []; x[len(x):] = [9]; print(x, x[-1:], x[::-2]); del x[:1]; print(x)
print(*map(str, range(3)), sep=',', end='\n'); print({**{'a': 1}, **{'b': 2}, 'c': 3}, [*range(2), *'ab'], dict(a=1, **{'b': 2}))
print(type(lambda: 0), (lambda: 0)() , [lambda: i for i in range(2)][0]())
class Meta(type):
    def __getattr__(cls, n): return 'meta ' + n
class WithMeta(metaclass=Meta): pass
print(WithMeta.anything)
print(__debug__, ..., None, NotImplemented, True + True)
class Prop:
    def _get(self): return 'got'
    p = property(_get, doc='d')
print(Prop().p, Prop.p.__doc__)
try: Prop().p = 1
except AttributeError as e: print(e)
def unpack_errors():
    for src in ("a, b = [1]", "a, b = 'abc'", "[a, *b] = ()", "(a, (b, c)) = 1, 2"):
        try: exec(src)
        except Exception as e: print(type(e).__name__, e)
unpack_errors()
