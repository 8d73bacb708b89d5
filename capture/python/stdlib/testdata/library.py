import sys, os, math, time, functools, itertools, collections, dataclasses, contextlib, copy, operator, types, abc
from dataclasses import dataclass, field
@dataclass(order=True)
class C:
    a: int
    b: list = field(default_factory=list)
print(C(1), C(1) == C(1), C(1) < C(2), dataclasses.asdict(C(3, [1])))
P = collections.namedtuple('P', 'x y')
print(P(1, 2), P(1, y=3)._replace(x=5), P(1,2) == (1,2))
print(collections.Counter('abracadabra').most_common(2), collections.deque([1,2,3], maxlen=2))
d = collections.defaultdict(list); d['a'].append(1); print(d)
print(collections.OrderedDict(a=1, b=2))
@functools.lru_cache(None)
def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
print(fib(50), fib.cache_info())
@contextlib.contextmanager
def cm():
    print('in')
    try: yield 5
    finally: print('out')
with cm() as x: print(x)
print(list(itertools.islice(itertools.count(), 3)), list(itertools.product('ab', repeat=2)), list(itertools.permutations([1,2,3], 2)))
print(copy.deepcopy({'a': [1, (2, [3])]}), math.sqrt(2), os.path.join('a', 'b'), operator.add(1, 2))
print(functools.partial(print, 1, sep='-'), functools.reduce(operator.mul, [1,2,3]))
class A(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
try: A()
except TypeError as e: print(e)
print(isinstance([], collections.abc.Sequence), isinstance({}, collections.abc.Mapping), isinstance(1, collections.abc.Hashable))
