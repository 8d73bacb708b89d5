from __future__ import annotations
a: int = 3
x += 1, 2
def f(a, /, b: int=1, *args: int, c, d=2, **kw) -> str:
    return a, *args
lambda *, a, b=1, **k: a
f(x for x in y if x if z for q in w)
with (a as b, c as d): pass
with a as b, c: pass
with (a): pass
try: pass
except (A, B) as e: pass
except C: pass
except: pass
else: pass
finally: pass
match x, y:
    case [1, *r] if q: pass
    case {'a': 1, **k}: pass
    case P(x=1) | None as z: pass
    case P(1, -2): pass
    case (1, 2) | "a" "b": pass
    case 1, 2: pass
a[1:2, ::3, ...]
not a and b or c < d <= e not in f is not g
import a.b as c, d
raise X from e
assert x, y
del a, b[1]
global q9, r9
for i, in z: pass
else: pass
@d(1)
class K(B, metaclass=M): 
    x: int
print(f"{a!r:>{w}}" 'x')
[*a, b] = c
x if y else z
(y := 3)
if a: b
elif c: d
else: e
{1: 2, **k, **{}}
{x: y for x in z}
(a for a in b)
()
(1,)
print
exec
match
(a) = 1
a.b: int
def g(*, a): pass
print >> x
for x in *a, b: pass
