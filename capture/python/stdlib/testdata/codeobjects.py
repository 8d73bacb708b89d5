# Code objects: dis, replace, CodeType, marshal.
import dis, marshal, types, opcode, _opcode

def f(a, b=2, *c, d, **e):
    """doc"""
    x = [i for i in a if i]
    for y in x:
        if y > b and c or d:
            print(y, sep='')
        else:
            continue
    while a:
        a -= 1
    with a as q:
        pass
    try:
        x.m(1, k=2)
    except (E, F) as g:
        raise
    finally:
        del x
    return lambda: (a, b)

class C(object):
    x: int = 3
    def m(self):
        return super().m()

async def co(x):
    async with x as y:
        return await y

def gen():
    z = yield 1
    yield from z

def show(c):
    print(c.co_name, c.co_argcount, c.co_posonlyargcount, c.co_kwonlyargcount, c.co_nlocals, c.co_stacksize, c.co_flags, c.co_names, c.co_varnames,
          c.co_cellvars, c.co_freevars, c.co_firstlineno, c.co_qualname)
    print(c.co_code.hex(), c.co_linetable.hex(), c.co_exceptiontable.hex())
    print(list(c.co_lines()), list(c.co_positions())[:9])
    for i in dis.get_instructions(c):
        if not isinstance(i.argval, types.CodeType):
            print(i.offset, i.opname, i.arg, i.argrepr, i.starts_line, i.is_jump_target)
    for k in c.co_consts:
        if isinstance(k, types.CodeType):
            show(k)

for o in (gen, C.m):
    show(o.__code__)
print(f.__code__.co_consts[0], f.__code__.co_cellvars, f.__code__.co_varnames)

def one(x): return x + 1
c = one.__code__
d = c.replace(co_name='two', co_consts=(None, 41))
print(d == c, d.co_name, types.FunctionType(d, {})(1), hash(c) == hash(c.replace()), c == c.replace())
e = types.CodeType(1, 0, 0, 1, 2, 3, c.co_code, (None, 10), (), ('x',), 'file', 'name', 'qual', 7, c.co_linetable, c.co_exceptiontable, (), ())
print(eval(e, {}) if e.co_argcount == 0 else types.FunctionType(e, {})(5), e.co_qualname, list(e.co_lines()))
back = marshal.loads(marshal.dumps(f.__code__))
print(back == f.__code__, back.co_consts[0], types.FunctionType(marshal.loads(marshal.dumps(c)), {})(3))
for bad in (lambda: c.replace(co_code=b'x'), lambda: c.replace(co_nlocals=5), lambda: c.replace(co_argcount=-1), lambda: c.replace(zz=1),
            lambda: c.replace(co_varnames=()), lambda: c.replace(co_name=1)):
    try:
        bad()
    except Exception as err:
        print(type(err).__name__, str(err).split('/')[-1] if isinstance(err, SystemError) is False else '')
print([_opcode.stack_effect(opcode.opmap[n], a) for n, a in (('POP_TOP', None), ('BUILD_LIST', 3), ('CALL', 2), ('FOR_ITER', 1))])
