# Exceptions: texts, chains, tracebacks.
import traceback, sys
def show(f):
    try: f()
    except BaseException as e: print(type(e).__name__ + ':', e)
def f(a, b, *, c): pass
def g(a, b=1, /, d=2): pass
for t in ["f()", "f(1)", "f(1, 2)", "f(1, 2, 3, c=1)", "f(1, 2, c=1, z=3)", "g(a=1)", "g()", "g(1, 2, 3, 4)", "f(1, 2, a=3, c=1)", "len()", "len(1, 2)", "len(5)",
    "undefined_name", "[].foo", "[1][5]", "{}['k']", "{1: 2}[3]", "1/0", "1//0", "1%0", "1.0/0", "'a' + 1", "1 + 'a'", "[] + ()", "int('x')", "float('y')", "int([])", "'abc'[10]", "(1,)[3]",
    "None.x", "1 < 'a'", "[1] < [None]", "for_ = 3; for_.y", "a, b = 1, 2, 3", "a, b, c = 1, 2", "a, *b = []", "x = 5; x[0]", "x = 5; x[0] = 1", "del x.y", "'%d' % 'a'", "'%s %s' % (1,)", "'%s' % (1, 2)",
    "'{}'.format()", "'{a}'.format(b=1)", "[].pop()", "{}.popitem()", "set().pop()", "[1].remove(2)", "[1].index(2)", "'a'.index('b')", "next(iter([]))", "iter(5)", "for i in 5: pass", "max([])", "min()", "sum(['a'])",
    "chr(-1)", "ord('ab')", "range(1, 2, 0)", "hash([])", "{[]: 1}", "{{}}", "open('/no/such')", "import nosuch", "isinstance(1, 2)", "issubclass(1, int)", "super()", "raise 5", "raise ValueError from 3",
    "assert False", "assert 0, 'msg'", "exec('x = ')", "eval('1 +')", "f(**{1: 2})", "f(*5)", "f(**5)", "print(x=1)", "sorted([1, 'a'])", "object().x", "object.y", "type('A', (int, str), {})", "class A(1): pass",
    "(lambda: (yield))().send(1)", "int('0x', 16)", "'a' * 'b'", "[1] * 1.5", "~1.5", "-'a'", "+[]", "1 << -1", "10 ** 400 * 1.0", "int(float('nan'))", "int(float('inf'))", "bytes([300])", "b'a' + 'b'", "'a' in 5", "5 in 5", "'a'.join([1])", "__import__('x.y')",
    "with 5: pass", "round('a')", "abs('a')", "'x'.encode('nope')", "b'\\xff'.decode()", "'é'.encode('ascii')", "dict([1])", "dict([(1, 2, 3)])", "zip([1], 5)", "list(zip([1], [1, 2], strict=True))", "getattr(1, 2)", "setattr(1, 'x', 2)", "del undefined_thing",
    "slice(1)[0]", "reversed(5)", "divmod(1, 0)", "pow(2, -1, 4)", "complex('x')", "memoryview", "'abc'.split('')", "'a'.center(5, 'xx')", "int('5', 99)", "sum(5)", "any(5)", "[].sort(1)", "''.zfill('a')", "{}.update(5)", "{}.update([5])"]:
    show(lambda: exec(t))

def inner(): raise KeyError('missing')
def middle():
    try: inner()
    except KeyError as e: raise ValueError('bad value') from e
def outer():
    try: middle()
    except ValueError:
        {}['other']
try: outer()
except KeyError: traceback.print_exc(file=sys.stdout)
try:
    try: raise TypeError('a')
    finally: print('finally runs')
except TypeError as e:
    e.add_note('a note'); e.add_note('second')
    traceback.print_exc(file=sys.stdout)
class MyErr(Exception):
    def __init__(self, code): super().__init__(f'code {code}'); self.code = code
try: raise MyErr(7)
except MyErr as e: print(repr(e), e.code, e.args)
try: raise MyErr(8) from None
except MyErr as e: print(e.__cause__, e.__suppress_context__)
def order():
    try:
        print('body'); return 'ret'
    except ValueError: print('no')
    else: print('else')
    finally: print('fin')
print(order())
def override():
    try: raise ValueError
    finally: return 'swallowed'
print(override())
def loop():
    for i in range(5):
        try:
            if i == 1: continue
            if i == 3: break
            print('i', i)
        finally: print('f', i)
    else: print('never')
loop()
def nested():
    try:
        try: raise ValueError('inner')
        except TypeError: print('no')
    except ValueError as e:
        try: raise RuntimeError('second')
        except RuntimeError as r: print(r.__context__ is e, r)
        print(sys.exc_info()[1] is e)
nested()
print(sys.exc_info())
try:
    e = 1
    try: raise ValueError
    except ValueError as e: pass
    e
except NameError as x: print(x)
def recurse(n): return recurse(n + 1)
try: recurse(0)
except RecursionError as e: print(e)
try: exec("def f(:\n  pass")
except SyntaxError as e: print(e.lineno, e.msg, e.offset)
def carets(d):
    return d['a']['b'] + d['x'] * (1 /
        d['zero'])
try: carets({'a': {'b': 1}, 'x': 2, 'zero': 0})
except ZeroDivisionError: traceback.print_exc(file=sys.stdout)
try: carets({'a': 5})
except TypeError: traceback.print_exc(file=sys.stdout)
print([type(x).__name__ for x in (StopIteration(5), SystemExit(2))], StopIteration(5).value, SystemExit(2).code)
def unbound():
    print(v)
    v = 1
show(unbound)
def unbound2():
    def h(): return w
    h()
    w = 1
show(unbound2)
print(issubclass(FileNotFoundError, OSError), isinstance(ModuleNotFoundError(), ImportError))
raise MyErr(99)
