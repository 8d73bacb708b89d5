# Generators, iterators and comprehensions.
def g():
    x = yield 1
    print('got', x)
    try: y = yield 2
    except ValueError as e: print('caught', e); y = 'exc'
    yield y
    return 'done'
it = g(); print(next(it), it.send('a'), it.throw(ValueError('v')))
try: next(it)
except StopIteration as e: print(e.value)
def sub():
    r = yield from g2(); print('sub got', r)
    yield from [10, 20]
    return 'end'
def g2():
    try: a = yield 'first'; print('a', a)
    finally: print('cleanup')
    return 42
def main():
    r = yield from sub(); print('main', r)
m = main(); print(next(m), m.send('hello'), next(m))
try: next(m)
except StopIteration as e: print('stop', e.value)
c = g2(); next(c); c.close(); print('closed')
def inf():
    n = 0
    while True: yield n; n += 1
import itertools
print(list(itertools.islice(inf(), 5)), list(itertools.takewhile(lambda x: x < 4, inf())))
print([(x, y) for x in range(3) for y in range(x) if x != y], {x: x * x for x in range(4)}, {c for c in 'hello' if c in 'l'}, sum(i for i in range(10)))
print([[j for j in range(i)] for i in range(3)], [y := 5, y ** 2], (lambda: [z for z in range(3)])())
class It:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
print(list(It()), [*It(), *'ab'], {**{'a': 1}, 'b': 2}, max(It()), tuple(It()), 2 in It())
a, *b, c = range(6); print(a, b, c)
(a, b), [c, *d] = (1, 2), 'xyz'; print(a, b, c, d)
for i, (x, y) in enumerate([(1, 2), (3, 4)], 1): print(i, x, y)
def gen_exc():
    yield 1
    raise RuntimeError('in gen')
try: list(gen_exc())
except RuntimeError as e: print(e)
def bad(): yield 1; raise StopIteration
try: list(bad())
except RuntimeError as e: print(e, type(e.__cause__))
gen = (x for x in 'abc'); print(next(gen), list(gen), next(gen, 'empty'))
def cnt(n):
    while n: 
        got = yield n
        if got: n = got
        n -= 1
q = cnt(3); print(next(q), q.send(10), next(q))
print(list(map(lambda a, b: a + b, [1, 2], [3, 4])), list(filter(None, [0, 1, '', 'a'])), list(zip('ab', range(3))), list(reversed([1, 2, 3])), sorted('bca', reverse=True), sorted([3, -1, 2], key=abs))
x = 10
print([x for x in range(3)], x)
fs = [lambda: i for i in range(3)]; print([f() for f in fs])
fs = [lambda i=i: i for i in range(3)]; print([f() for f in fs])
def deleg():
    try:
        yield from inner()
    except KeyError as e: print('outer caught', e); yield 'recovered'
def inner():
    yield 1
    raise KeyError('k')
print(list(deleg()))
def thrower():
    while True:
        try: yield 'y'
        except TypeError: print('type error inside')
t = thrower(); next(t); print(t.throw(TypeError))
def fin():
    try: yield 1
    finally: print('finalizing')
for v in fin(): print(v)
print(list(iter([1, 2, 3, 0, 4].__iter__().__next__, 0)))
def rec(n):
    if n: yield n; yield from rec(n - 1)
print(list(rec(4)))
print(any(x > 2 for x in range(5)), all([]), dict(zip('ab', [1, 2])), ''.join(c for c in 'abc'))
