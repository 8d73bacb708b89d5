# What random programs found in the library.
import argparse, io, contextlib, fractions, re, enum, collections, copy, functools, operator, dataclasses, json, inspect, pathlib, traceback
def t(f):
    try: print(f())
    except BaseException as e: print(type(e).__name__, e)
p = argparse.ArgumentParser(prog='p')
p.add_argument('--n', type=int, required=True, metavar='N', help='count (default: %(default)s)', default=3)
p.add_argument('--mode', choices=['a', 'b'])
g = p.add_mutually_exclusive_group()
g.add_argument('--up', action='store_const', const=1)
g.add_argument('--down', dest='d', action='append')
print(p.format_usage(), end=''); print(p.format_help())
F = fractions.Fraction
t(lambda: (round(F(7, 2)), round(F(22,7), 2), F(7,2)//1, F(7,2) % 1, divmod(F(7,2), 2), F(3,7).limit_denominator(3), -F(1,2), abs(F(-1,2)), F(1,2) ** 2, F(1,2)**0.5, int(F(7,2)), F('1.25'), F(1.1), hash(F(1,2))==hash(0.5), F(2,4)==0.5, F(1,3)+0.5, 2-F(1,2), F(1,2).numerator))
class E(str, enum.Enum):
    A = 'a'; B = 'b'
print(E.__members__.keys(), E.__members__)
@dataclasses.dataclass
class D:
    a: int = dataclasses.field(default=1, metadata={'k': 1})
def prog():
    @dataclasses.dataclass(frozen=True)
    class X:
        x: int
        y: int = 2
    t(lambda: X(1,2,3)); t(lambda: X()); print(X(1))
prog()
c = collections.Counter('aab'); c.subtract('abb')
t(lambda: (-c, +c, c, c.total()))
class N:
    def __complex__(s): return 1j
    def __float__(s): return 2.5
t(lambda: complex(N()))
class S:
    def __init__(self, a): self.a = a
    def __getstate__(self): return {'a': self.a, 'tag': 1}
    def __setstate__(self, st): self.__dict__.update(st)
t(lambda: (vars(copy.copy(S(1))), copy.deepcopy(S([1])).a))
class H:
    def __length_hint__(self): return 4
    def __dir__(self): return ['b', 'a']
    def __reversed__(self): return iter([3, 2])
t(lambda: (dir(H()), list(reversed(H())), operator.length_hint(H())))
@functools.lru_cache
def f(*a, **k): return 1
f(1); f(1, z=1); f(1)
t(lambda: (f.cache_info(), f.cache_parameters())); t(lambda: f([])); t(lambda: f.cache_info())
t(lambda: f.__wrapped__(3))
t(lambda: format(True, 'i')); t(lambda: format(True, 'd')); t(lambda: format(True, '5'))
t(lambda: {[1]: next(iter([]))}); t(lambda: {[]: 1/0})
t(lambda: pathlib.PurePosixPath('/a').relative_to('/z'))
class Fl(enum.Flag):
    R = enum.auto(); W = enum.auto(); X = enum.auto(); RW = R | W
t(lambda: (Fl.RW, repr(Fl.R | Fl.X), Fl.RW & Fl.W, ~Fl.R, list(Fl), [m.name for m in Fl.RW], str(Fl.R|Fl.X)))
t(lambda: inspect.signature(lambda a, b: 0).bind(1))
t(lambda: json.loads('')); t(lambda: json.loads('{')); t(lambda: json.loads('[1,]')); t(lambda: json.loads('{"a" 1}')); t(lambda: json.loads('1 2')); t(lambda: json.loads('{"a":1,}')); t(lambda: json.loads('"a')); t(lambda: json.loads('[1'))
import statistics as st
for d in ([1,2,7],[1.5,2.5,9.25],[1,1],[3,5,6,6],[0.1]*3,[1e10,1e10+1], [2,4,4,4,5,5,7,9]):
    print(st.stdev(d), st.pstdev(d), st.variance(d), st.pvariance(d), st.mean(d))
try: st.stdev([1])
except st.StatisticsError as e: print(e)
import textwrap
print(textwrap.fill('a\tb\n' * 4, 12), textwrap.wrap('well-known -5-5-5-5-5-5 words', 9), textwrap.wrap('  lead and trail  ', 6), textwrap.wrap('abcdefghijklmnop', 5, break_long_words=False), textwrap.shorten('hello big world', 11))
print(b'%d-%s|%5.2s|%b' % (5, b'q', b'xyz', bytearray(b'w')), bytearray(b"it's"), '{0[-1]}'.format({'-1': 2}), list(map(lambda a: next(iter([])), [1, 2])))
