# What sys.settrace and sys.setprofile report, and f_lineno that is set.
import sys
ev=[]
def t(f,e,a):
    ev.append((f.f_code.co_name,e,f.f_lineno-f.f_code.co_firstlineno, a if isinstance(a, (int, list)) else None)); return t
class C:
    def __enter__(self): return self
    def __exit__(self, *a): pass
def g():
    yield 1
    yield 2
def f(n):
    x = 0
    for i in range(n):
        x += i
        if x > 1: break
    try:
        1/0
    except ZeroDivisionError as e:
        x = 3
    while x:
        x -= 1
    for y in g(): pass
    z = [k for k in (1,2)]
    with C() as q:
        pass
    if x: return 1
    elif z:
        n = 0
    try: return x
    finally: n = 2
    return x
def one(): return 5
sys.settrace(t)
f(3); one()
sys.settrace(None)
for e in ev: print(e)
ev=[]
def p(f,e,a): ev.append((f.f_code.co_name,e,getattr(a,'__name__',type(a).__name__)))
sys.setprofile(p)
f(2); len([1])
sys.setprofile(None)
for e in ev: print(e)
def jump():
    out = []
    out.append(1)
    out.append(2)
    out.append(3)
    return out
def jt(f,e,a):
    if e=='line' and f.f_lineno==jump.__code__.co_firstlineno+2 : f.f_lineno+=2
    return jt
sys.settrace(jt); r=jump(); sys.settrace(None); print(r)
