# Deques, ordered and default dicts, partials, caches: what CPython has of collections and functools in C.
import copy, functools, pickle, weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple


def show(f, *a, **k):
    try:
        print(f(*a, **k))
    except Exception as e:
        print(type(e).__name__, e)


d = deque('abcde', 4)
d.appendleft(1)
d.rotate(-1)
print(d, list(reversed(d)), d.maxlen, d[1], d.index('c'), d.count('b'), 'c' in d, d + deque([9]), d * 2, d == deque(d), d < deque('z'), copy.copy(d), deque([1, [2]]) == copy.deepcopy(deque([1, [2]])))
d.extendleft('xy')
d.insert(0, 3) if len(d) < 4 else show(d.insert, 0, 3)
del d[0]
d[0] = 'Q'
d.reverse()
print(d, d.pop(), d.popleft(), d)
for f, a in ((d.remove, 7), (d.index, 7), (d.__getitem__, 9), (d.count, 'x'), (d.__add__, [1]), (deque, 1), (d.rotate, 'a')):
    show(f, a)
show(deque, (), -1)
show(deque().pop)
big = deque(range(1000))
big.rotate(333)
print(big[0], big[-1], len(big), sum(big))


class Stack(deque):
    def __init__(self, *a):
        super().__init__(*a)
        self.name = 's'


s = Stack([1, 2])
print(s, s.name, type(s.copy()), s.__reduce__()[:3], deque([s]))
l = deque()
l.append(l)
print(l)
try:
    for x in (m := deque([1, 2])):
        m.append(3)
except RuntimeError as e:
    print(e)

o = OrderedDict(a=1, b=2, c=3)
o.move_to_end('a')
print(o, o.popitem(last=False), list(reversed(o)), o.keys(), o.values(), o.items(), o == OrderedDict(a=1, c=3), o == dict(a=1, c=3), o | {'z': 1}, {'z': 1} | o, OrderedDict.fromkeys('ab', value=0))
o.move_to_end('a', last=False)
print(o, o.pop('q', default=5), o.setdefault('n', default=6), o.copy(), copy.deepcopy(o), OrderedDict())
show(o.move_to_end, 'zz')
show(OrderedDict().popitem)
show(OrderedDict, 1, 2)
q = OrderedDict.fromkeys(range(20000))
while len(q) > 1:
    q.popitem(last=False)
print(q)

n = defaultdict(list, {'k': [1]}, j=2)
n['x'].append(1)
print(n, n.default_factory, copy.copy(n), n | {'y': 0}, defaultdict(None, a=1), n.get('no'))
show(defaultdict().__getitem__, 5)
show(defaultdict, 1)
print(Counter('abracadabra').most_common(2), Counter(a=3) - Counter(a=1), ChainMap({'a': 1}, {'b': 2})['b'], UserDict(a=1))
P = namedtuple('P', 'x y', defaults=[5])
print(P(1), P(1)._replace(y=2), P._fields, P(1) == (1, 5), P.x.__doc__, pickle.loads(pickle.dumps({'a': [1, (2,)]})))
show(P)

p = functools.partial(int, base=2)
print(p('101'), p, p.func, p.args, p.keywords, functools.partial(p, '11')(), copy.copy(p))
show(functools.partial, 1)
show(functools.partial)


@functools.lru_cache(maxsize=2)
def sq(x, k=1):
    """squares"""
    return x * x * k


print([sq(i) for i in (1, 2, 1, 3, 2)], sq.cache_info(), sq.__name__, sq.__doc__, sq.cache_parameters(), sq.__wrapped__(5))
sq.cache_clear()
print(sq(2, k=3), sq.cache_info())
show(sq, [])
print(functools.reduce(lambda a, b: a * b, range(1, 6)), sorted('bca', key=functools.cmp_to_key(lambda a, b: (a < b) - (a > b))))
show(functools.reduce, max, [])


class C:
    @functools.cached_property
    def v(self):
        print('once')
        return 7

    @functools.singledispatchmethod
    def f(self, a): return 'any'

    @f.register
    def _(self, a: int): return 'int'

    @functools.lru_cache
    def g(self, a): return a


c = C()
print(c.v, c.v, c.f(1), c.f(''), c.g(3), weakref.ref(c)() is c, weakref.proxy(c).v)
show(weakref.ref, 1)
