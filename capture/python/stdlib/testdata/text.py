# Numbers, strings, formatting.
print(f"{3.14159:.2f} {1e10:g} {42:05d} {255:#x} {255:b} {1234567:,} {1234567.891:,.2f} {0.5:%} {'s':>5}|{'s':<5}|{'s':^5}|{'x':*^7} {-5:+d} {5: d} {True} {None!r:>6} {1.0} {1e100} {10**20:_}")
print(f"{'a' 'b'!r} {[1, 2]} {{}} {3:{5}} {'%'} {1 if 0 else 2} {(lambda: 5)()} {'nested ' + f'{1+1}'}")
print("%5d|%-5d|%05d|%x|%o|%e|%g|%s|%r|%c|%%|%.3f|%+d|%10.4s|" % (42, 42, 42, 255, 8, 12345.678, 0.0001, 'str', 'r', 'c', 3.14159, 5, 'truncate'))
print("%(a)s %(b)d" % {'a': 1, 'b': 2}, '{0} {1} {0}'.format(1, 2), '{a.real} {b[0]} {c[k]}'.format(a=5, b=[1], c={'k': 'v'}), '{:>{w}}'.format('x', w=4), '{!r}'.format('q'))
for v in [0.1, 1/3, 1e16, 1e15, 123456789012345680.0, 1e-5, 0.0001, 1.5e300, float('inf'), float('nan'), -0.0, 2**53 + 0.0, 5e-324, 1e22, 1e23, 100.0, 0.1 + 0.2]: print(repr(v), str(v), f"{v:.3g}", f"{v:e}", end='; ')
print()
print(round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234.5678, -2), round(15, -1), round(25, -1), round(1.005, 2), round(0.5), round(1e300, 2))
print(7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, -7.5 % 2, divmod(-7, 2), 2 ** 100, 2 ** -1, (-2) ** 3, 10 ** 0, 1 << 70, (1 << 70) >> 68, -5 >> 1, ~5, 5 & 3, 5 | 3, 5 ^ 3)
print(2**64, -2**63, 9223372036854775807 + 1, 9223372036854775807 * 2, -9223372036854775808 - 1, 10**30 // 7, 10**30 % 7, -10**30 // 7, int('123456789012345678901234567890'), hash(2**61 - 1), hash(2**61), hash(-1), hash(1.5), hash(10**20))
print(int(3.9), int(-3.9), int('  42 '), int('ff', 16), int('0b101', 0), float('1e5'), float(' 2.5 '), bool(''), bool('0'), complex(1, 2) * 2, 3j ** 2, abs(3+4j))
print((255).bit_length(), (10).to_bytes(2, 'big'), int.from_bytes(b'\x01\x00', 'big'), (0.5).as_integer_ratio(), (3.0).is_integer(), float.hex(1.5), 1_000_000, 0xFF, 0o17, 0b11, 1e3)
s = 'Hello, World'
print(s.lower(), s.upper(), s.swapcase(), s.title(), s.capitalize(), s.replace('o', '0'), s.find('o'), s.rfind('o'), s.count('l'), s.index('W'), s.startswith('He'), s.endswith(('x', 'd')), s.split(', '), s.partition(', '), s.rpartition('o'))
print(s[0], s[-1], s[1:4], s[::-1], s[::2], s[-3:], s[10:2:-2], s * 2, 'x' in s, s.center(20, '*'), s.ljust(15) + '|', s.rjust(15), '42'.zfill(5), '-42'.zfill(5), ' a b '.strip(), 'xxaxx'.strip('x'), 'a,b,,c'.split(','), 'a  b c'.split(), 'a b c'.split(' ', 1), 'a b c'.rsplit(' ', 1))
print('abc'.isalpha(), '123'.isdigit(), 'a1'.isalnum(), ' '.isspace(), 'Abc'.istitle(), 'ABC'.isupper(), 'a_b'.isidentifier(), 'line1\nline2\r\nline3'.splitlines(), 'tab\tx'.expandtabs(4), 'aXbX'.removesuffix('X'), 'preX'.removeprefix('pre'), 'abc'.translate(str.maketrans('ab', 'xy')), 'ß'.casefold())
u = 'héllo wörld ☃ 😀'
print(u, len(u), u[1], u[-1], u[::-1], u.upper(), u.encode(), u.encode('utf-8').decode(), repr(u), ascii(u), u.find('w'), ord('☃'), chr(128512), u.center(20, 'é'))
print(repr('a\nb\t"q" \'s\' \\ \x00 \x7f \u00e9 \u200b'), 'it\'s', repr("it's"), repr('"'), r'raw\n', b'bytes\x00\xff', repr(b"a'b"), 'a' 'b' "c", """multi
line""", '\N{BULLET}', '\u00e9\x41\101')
print('a' < 'b', 'a' < 'B', 'abc' < 'abd', '' < 'a', [1, 2] < [1, 3], (1,) < (1, 2), 'z' > 'a', 1 < 2 < 3, 1 < 3 < 2, 1 == 1.0 == True, None is None)
print([1, 2, 3][::-1], [0] * 3, [[]] * 2, [1, 2] + [3], (1,) + (2,), (1, 2) * 2, [1, 2, 3, 4, 5][1:-1:2], list('abc'), tuple([1]), [1, [2, [3]]])
l = [3, 1, 2]; l.sort(); l.insert(0, 9); l.extend([7, 8]); l[1:3] = ['a', 'b', 'c']; del l[0]; l.reverse(); print(l, l.pop(), l.pop(0), l.count('a'), l.copy(), l.index('b'))
l = list(range(10)); l[::2] = [0] * 5; del l[1::3]; print(l); l *= 2; print(l[:4])
d = {'a': 1, 'b': 2}; d['c'] = 3; d.update(d=4); print(d, d.get('x'), d.get('x', 0), d.pop('a'), d.setdefault('e', 5), list(d), d.items(), d.keys(), d.values(), 'b' in d, len(d), d | {'z': 1}, dict(d, q=1), dict([(1, 2)]), {**d})
d.popitem(); print(d, list(reversed(d)), d == {'d': 4, 'c': 3, 'b': 2}, dict.fromkeys('ab', 0), sorted(d.items(), key=lambda kv: -kv[1]), d.keys() & {'b'}, d.items() >= {('b', 2)})
st = {3, 1, 2}; st.add(5); st.discard(9); print(st, st | {9}, st & {1, 2}, st - {1}, st ^ {1, 7}, st <= {1, 2, 3, 5, 6}, frozenset([1, 2]), set(), {1} == {1.0}, len(st), st.isdisjoint({8}), sorted(st, reverse=True), {10, 20, 30, 40, 50, 60, 70}, set(range(20)), {-1, -2, 5, 100})
print(range(5), list(range(5, 0, -2)), range(10)[2:5], len(range(0, 10, 3)), 3 in range(5), range(3) == range(0, 3), slice(1, 2), sum(range(101)), min(3, 1, 2), max('abc'), max([1, 5, 3], key=lambda x: -x), min([], default='d'))
print(print.__name__, len.__class__, type(print), (lambda: 0).__name__, str.upper, [].append.__name__, callable(print), callable(5), id(None) == id(None), type(None), NotImplemented, ..., __name__)
print(eval('1 + 2'), eval('x + 1', {'x': 5}), [1, 2, 3] == [1, 2, 3], isinstance(True, int), isinstance(1, (str, int)), bool([]), not None, 0 or 'a', 1 and 'b', None or [] or 'z')
ns = {}; exec('y = 5\ndef ff(): return y * 2', ns); print(ns['y'], ns['ff']())
print('end', 'sep', sep='-', end='!\n'); print(); print(1, 'a', None, True, 1.5, sep=', ')
print(*[1, 2], **{'sep': '|'}); print(hex(255), oct(8), bin(5), hex(-255), ascii('é'), chr(65), ord('A'), repr('x'), abs(-5), pow(2, 10), pow(3, 4, 5), bytes(3), bytes([1, 2]), bytearray(b'ab'), b'abc'[1], b'abc'[1:], b'a' + b'b', b'ab'.hex(), bytes.fromhex('6162'), list(b'ab'))
x: int = 5; y = z = [1]; y += [2]; print(x, z, __annotations__)
def f(a, b=2, *args, c, d=4, **kw): return a, b, args, c, d, kw
print(f(1, c=3), f(1, 2, 3, 4, c=5, e=6), f(*[1, 2], **{'c': 3}), f.__defaults__, f.__kwdefaults__, f.__code__.co_varnames, f.__code__.co_argcount)
def ann(a: int, b: 'str' = 'x') -> list: "doc"; return a
print(ann.__annotations__, ann.__doc__, ann.__name__, ann.__qualname__, ann.__module__)
def outer():
    n = 0
    def inc(): nonlocal n; n += 1; return n
    return inc, lambda: n
i, r = outer(); i(); i(); print(r(), i.__closure__[0].cell_contents, i.__code__.co_freevars)
match {'k': [1, 2, {'z': 3}]}:
    case {'k': [a, b, {'z': c}]} if c > 2: print('matched', a, b, c)
for v in [0, 'x', (1, 2), [1, 2, 3], {'a': 1, 'b': 2}, None, 3.5, True, b'x']:
    match v:
        case 0 | 1 if v is not True: print('zero or one')
        case True: print('true')
        case str(q): print('str', q)
        case (p, q): print('pair', p, q)
        case [p, *rest]: print('list', p, rest)
        case {'a': p, **rest}: print('map', p, rest)
        case None: print('none')
        case float(): print('float')
        case _: print('other', v)
class Pt:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
match Pt(1, 2):
    case Pt(0, _): print('no')
    case Pt(x=1, y=yy) as whole: print('pt', yy, whole.x)
while True:
    x += 1
    if x > 8: break
else: print('no')
for _ in []: pass
else: print('for else')
print(x if x > 3 else 0, [a for a in range(20) if a % 2 if a % 3], (n := 10) + n)
import sys; print(sys.version_info[:2], sys.version_info >= (3, 8), sys.maxsize)
global_var = 1
def setg(): global global_var; global_var = 2
setg(); print(global_var, sorted(k for k in globals() if k.startswith('global')))
del global_var
try: global_var
except NameError as e: print(e)
print(1 .__add__(2), (1).real, "a".__len__(), [].__class__, int.__name__, (5).__class__.__mro__)
