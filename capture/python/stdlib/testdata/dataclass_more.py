# Dataclasses, functools and contextlib in more depth.
from dataclasses import *
from typing import ClassVar, Any, List, Optional
import functools, contextlib, operator, itertools, collections, copy
@dataclass
class A:
    x: int
    y: float = 2.0
    z: List[int] = field(default_factory=list, repr=False)
    k: ClassVar[int] = 5
    h: Any = field(default=None, compare=False)
    def __post_init__(self): self.s = self.x + self.y
a = A(1); print(a, a.s, a == A(1, h=3), A.k, [f.name for f in fields(a)], asdict(a), astuple(a), replace(a, x=9))
@dataclass(frozen=True, order=True)
class B: 
    p: int
    q: str = 'q'
b = B(1); print(b, hash(b) == hash(B(1)), b < B(2), sorted([B(3), B(1)]), {b: 1}[B(1)])
try: b.p = 2
except FrozenInstanceError as e: print(e)
@dataclass
class Child(A):
    w: str = 'w'
print(Child(1, w='c'), Child.__match_args__)
@dataclass(kw_only=True)
class K: a: int; b: int = 2
print(K(a=1))
try: K(1)
except TypeError as e: print(e)
@dataclass(slots=True)
class S: a: int = 1
print(S(), S.__slots__, hasattr(S(), '__dict__'))
@dataclass
class IV:
    a: int
    b: InitVar[int] = 3
    c: int = field(init=False)
    def __post_init__(self, b): self.c = self.a * b
print(IV(2), IV(2, 5))
try:
    @dataclass
    class Bad: x: list = []
except ValueError as e: print(e)
try:
    @dataclass
    class Bad2:
        x: int = 1
        y: int
except TypeError as e: print(e)
print(make_dataclass('M', ['a', ('b', int), ('c', int, 3)])(1, 2), is_dataclass(A), is_dataclass(a), copy.copy(a), copy.deepcopy(Child(1, z=[1])).z)
match a:
    case A(x, y): print('matched', x, y)
@functools.total_ordering
class T:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == o.v
    def __lt__(s, o): return s.v < o.v
print(T(1) <= T(1), T(2) > T(1), T(1) >= T(2))
@functools.singledispatch
def sd(x): return 'default'
@sd.register(int)
def _(x): return 'int'
@sd.register
def _(x: list): return 'list'
print(sd(1), sd([]), sd('s'), sd(True))
class CP:
    @functools.cached_property
    def v(self): print('computing'); return 42
c = CP(); print(c.v, c.v, c.__dict__)
@functools.wraps(sd)
def wrapped(): "w"
print(wrapped.__name__, wrapped.__wrapped__ is sd)
@functools.lru_cache(maxsize=2)
def cached(n): print('miss', n); return n
cached(1); cached(1); cached(2); cached(3); cached(1); print(cached.cache_info())
p = functools.partial(int, base=2); print(p('101'), p.func, p.keywords)
print(functools.reduce(lambda a, b: a + b, [[1], [2]], []), sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
with contextlib.ExitStack() as st:
    st.callback(print, 'cb'); st.enter_context(contextlib.nullcontext(5))
    @st.callback
    def _(): print('second')
with contextlib.suppress(KeyError): {}['x']
import io
with contextlib.redirect_stdout(io.StringIO()) as out: print('captured')
print(repr(out.getvalue()))
@contextlib.contextmanager
def tag(n):
    print('<', n)
    try: yield n
    except ValueError as e: print('handled', e)
    finally: print('>', n)
with tag('a') as t, tag('b'): raise ValueError('boom')
@tag('deco')
def decorated(): print('inside')
decorated()
print(operator.itemgetter(1, 0)('ab'), operator.attrgetter('x')(a), operator.methodcaller('upper')('x'), operator.mul(3, 4))
print(list(itertools.chain([1], 'a')), list(itertools.accumulate([1, 2, 3])), list(itertools.groupby('aabb', key=str.upper))[0][0], [(k, list(g)) for k, g in itertools.groupby([1, 1, 2])],
      list(itertools.zip_longest('ab', [1], fillvalue='-')), list(itertools.combinations('abc', 2)), list(itertools.starmap(pow, [(2, 3)])), list(itertools.compress('abc', [1, 0, 1])),
      list(itertools.dropwhile(lambda x: x < 2, [1, 2, 1])), list(itertools.filterfalse(None, [0, 1])), [list(t) for t in itertools.tee([1, 2])], list(itertools.pairwise('abc')), list(itertools.repeat(1, 2)), list(itertools.islice('abcdef', 1, 5, 2)), list(itertools.combinations_with_replacement('ab', 2)))
Point = collections.namedtuple('Point', ['x', 'y'], defaults=[0]); pt = Point(1); print(pt, pt._asdict(), pt._fields, Point._make([3, 4]), pt.x + pt[1], *pt)
cm = collections.ChainMap({'a': 1}, {'a': 2, 'b': 3}); print(cm['a'], cm['b'], sorted(cm))
od = collections.OrderedDict([('a', 1), ('b', 2)]); od.move_to_end('a'); print(od, od.popitem(last=False))
dq = collections.deque([1, 2, 3]); dq.rotate(1); dq.appendleft(0); print(dq, dq[1], dq.popleft(), len(dq), list(reversed(dq)))
ct = collections.Counter('aab'); ct.update('b'); print(ct, ct['z'], ct + ct, ct - collections.Counter('a'), sum(ct.values()))
