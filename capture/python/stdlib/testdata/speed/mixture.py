from collections import namedtuple
class V:
    __slots__ = ("a", "b")
    def __init__(self, a, b=2, *, c=3):
        self.a = a
        self.b = b + c
    @property
    def s(self):
        return self.a + self.b
    @staticmethod
    def f(x): return x + 1
    @classmethod
    def g(cls, x): return cls(x, c=x)
    def __add__(self, o): return V(self.a + o.a, self.b)
    def __eq__(self, o): return self.a == o.a
    def __lt__(self, o): return self.a < o.a
class W(V):
    def __init__(self, a):
        super().__init__(a, 1, c=4)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def gen(n):
    for i in range(n):
        yield i
def clos():
    n = 0
    def inc(k):
        nonlocal n
        n += k
        return n
    return inc
P = namedtuple("P", "x y")
def run():
    t = fib(18)
    x = V(0)
    for i in range(4000):
        x = x + V(1)
        t += x.s + V.f(i) + V.g(i).b + W(i).b
        p = P(i, 2)
        t += p.x + p.y
        try:
            if i % 3 == 0:
                raise ValueError(i)
        except ValueError as e:
            t += e.args[0]
    for k in gen(10000):
        t += k
    c = clos()
    for k in range(10000):
        c(k)
    l = sorted((V((k * 7919) % 1000) for k in range(1000)))
    t += l[0].a + sum(v.a for v in l)
    m = {str(k): [k, k * 2] for k in range(3000)}
    for k, (a, b) in m.items():
        t += a + b
    w = " ".join(m).split()
    t += len([q for q in w if q.startswith("1") and "5" in q])
    a, b = 0, 1
    for _ in range(10000):
        a, b = b, (a + b) % 1000007
    mat = [[i * j % 7 for j in range(40)] for i in range(40)]
    r = [[sum(mat[i][k] * mat[k][j] for k in range(40)) for j in range(40)] for i in range(40)]
    return t, a, sum(map(sum, r))
