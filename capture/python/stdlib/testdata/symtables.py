# Symbol tables, with what symtable.py makes of them.
import symtable, _symtable, json, inspect, textwrap

def show(t, depth=0):
    print('  ' * depth, t.name, t.type, t.lineno, t.nested, t.varnames, dict(sorted(t.symbols.items())))
    for c in t.children:
        show(c, depth + 1)

TEXTS = ['''
import sys, os.path as p
from a import b as c
x: int = 1
def f(a, /, b=x, *args, k: str = 2, **kw) -> int:
    global g, h
    g = a
    def inner():
        nonlocal b
        b = h + unknown
        return [i + b for i in args if (y := i)], {j for j in kw}, {k: v for k, v in kw}, (z async for z in a)
    return lambda q: q + k
class C(f):
    __private = x
    def m(self):
        return super().m() + self.__private + __class__
    def n(self): return C
    x = x
async def co():
    async with a as b: await c
    try: pass
    except E as e: del e
    for i in range(3): yield i
match x:
    case {'a': aa, **rest}: pass
    case [bb, *cc] | C(d=bb): pass
''', 'def f():\n  x = 1\n  class D:\n    x = 2\n    def g(self): return x\n    y = x\n  global zz\n  def h():\n    global x\n    def i(): return x\n', 'def f():\n    a = 1\n    class C:\n        nonlocal a\n        a = 2\n        def g(self): return a\n']
for s in TEXTS:
    show(_symtable.symtable(s, 'name', 'exec'))
show(_symtable.symtable('[x for x in y]', 'name', 'eval'))
show(_symtable.symtable(b'x = lambda: 1', 'name', 'single'))
for m in json, textwrap:
    show(_symtable.symtable(inspect.getsource(m), m.__name__, 'exec'))

def tell(t):
    print(t, t.get_type(), t.get_name(), t.get_lineno(), t.is_optimized(), t.is_nested(), t.has_children())
    if isinstance(t, symtable.Function):
        print(sorted(t.get_parameters()), sorted(t.get_locals()), sorted(t.get_globals()), sorted(t.get_frees()), sorted(t.get_nonlocals()))
    if isinstance(t, symtable.Class):
        print(t.get_methods())
    for s in sorted(t.get_symbols(), key=lambda s: s.get_name()):
        print(s, s.is_referenced(), s.is_parameter(), s.is_global(), s.is_nonlocal(), s.is_declared_global(), s.is_local(), s.is_annotated(), s.is_free(), s.is_imported(), s.is_assigned(), s.is_namespace())
    for c in t.get_children():
        tell(c)
tell(symtable.symtable(TEXTS[0], 'name', 'exec'))

t = _symtable.symtable('x', 'n', 'exec')
for f in (lambda: type(t)(), lambda: setattr(t, 'name', 1), lambda: _symtable.symtable('x', 'n', 'foo'), lambda: _symtable.symtable('x+', 'n', 'eval'), lambda: _symtable.symtable(1, 'n', 'exec'),
          lambda: _symtable.symtable('x', 'n'), lambda: _symtable.symtable('x', 'n\0', 'exec'), lambda: _symtable.symtable('def f(a, a): 0', 'n', 'exec'), lambda: _symtable.symtable('nonlocal x', 'n', 'exec')):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
