import ast
src = '''
import os as o, sys
from . import x
@dec(1)
async def f(a, /, b: int = 2, *args, c=3, **kw) -> str:
    """doc"""
    async with a as b, c: await d
    return [x for x in y if x async for z in w]
class A(B, metaclass=C):
    x: int = u'a'
    y, *z = 1, 2.5j
for i in range(3):
    i += 1; del i, j[0], k.l
else: pass
try: 1/0
except* ValueError as e: raise X from e
match p:
    case {"a": 1, **r}: pass
    case [1, *_] | A(b=2): ...
    case _ if x: pass
print(f"{a!r:>{w}} b", b'x', lambda *, q=1: (yield), a if b else c, not a, a < b is not c, {1: 2, **d}, {1}, x[1:2, ::3], (n := 4))
'''
t = ast.parse(src)
print(ast.dump(t, indent=1, include_attributes=True))
print(ast.unparse(t))
exec(compile(ast.parse('print([1+2, "a"*3, x := 5])'), 'f', 'exec'))
print(eval(compile(ast.Expression(ast.fix_missing_locations(ast.BinOp(ast.Constant(2), ast.Pow(), ast.Constant(10)))), 'f', 'eval')))
print(ast.literal_eval("[1, {'a': (2, -3.5)}, {1,2}, None, b'x']"))
