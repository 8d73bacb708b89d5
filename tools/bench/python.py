# Plain Python: one function a row, and what it has to return.
import json
import time


def loop():
    s = 0
    for i in range(300000):
        s += i * 3 & 255
    return s


def calls():
    def f(a, b=1):
        return a + b

    s = 0
    for i in range(150000):
        s = f(s, i)
    return s


class P:
    def __init__(self):
        self.x = 0
        self.y = 1

    def step(self):
        self.x = self.x + self.y


def attributes():
    p = P()
    for i in range(150000):
        p.step()
    return p.x


def dicts():
    d = {}
    for i in range(150000):
        k = i % 1000
        d[k] = d.get(k, 0) + 1
    return sum(d.values())


def strings():
    out = []
    for i in range(60000):
        out.append(f"{i:04d}-{i * 2}")
    return len("".join(out))


class Account:
    def __init__(self, owner):
        self.owner = owner
        self.balance = 0
        self.log = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("nothing to deposit")
        self.balance += amount
        self.note("deposit", amount)

    def note(self, kind, amount):
        if amount % 10 == 0:
            self.log.append((kind, amount))


def methods():
    a = Account("a")
    for i in range(1, 50001):
        a.deposit(i)
    return a.balance + len(a.log)


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


def instances():
    p, d = Point(0, 0), Point(1, 2)
    for _ in range(40000):
        p = p + d
    return p.x + p.y


def comprehension():
    n = 0
    for _ in range(10):
        rows = [i * i for i in range(5000) if i % 3]
        pairs = {i: str(i) for i in range(1000)}
        n += len(rows) + len(pairs) + sum(x & 7 for x in rows)
    return n


def closures():
    def counter():
        n = 0

        def step(by):
            nonlocal n
            n += by
            return n

        return step

    step = counter()
    for i in range(100000):
        step(i)
    return step(0)


def generators():
    def walk(n):
        for i in range(n):
            yield i

    def odd(it):
        for x in it:
            if x % 2:
                yield x

    return sum(odd(walk(100000)))


def exceptions():
    def check(i):
        if i % 4 == 0:
            raise KeyError(i)
        return i

    n = 0
    for i in range(40000):
        try:
            n += check(i)
        except KeyError as e:
            n += e.args[0] & 1
        finally:
            n += 1
    return n


def words():
    text = "the quick brown fox jumps over the lazy dog and the cat " * 600
    count = {}
    for w in text.split():
        w = w.strip().lower()
        if w.startswith("t"):
            w = w.upper()
        count[w] = count.get(w, 0) + 1
    return sorted(count.items(), key=lambda kv: (-kv[1], kv[0]))[0]


def sorting():
    rows = [((i * 7919) % 10007, str(i)) for i in range(10000)]
    a = sorted(rows, key=lambda r: r[0])
    b = sorted(rows, key=lambda r: r[1], reverse=True)
    return a[0][0], b[0][1], max(rows)[0]


def parsing():
    def value(s, i):
        c = s[i]
        if c == "[":
            out = []
            i += 1
            while s[i] != "]":
                v, i = value(s, i)
                out.append(v)
                if s[i] == ",":
                    i += 1
            return out, i + 1
        if c == '"':
            j = s.index('"', i + 1)
            return s[i + 1 : j], j + 1
        j = i
        while s[j].isdigit():
            j += 1
        return int(s[i:j]), j

    text = "[" + ",".join('[%d,"name%d",[1,22,333]]' % (i, i) for i in range(1500)) + "]"
    v, end = value(text, 0)
    return len(v), end, v[7][1]


def recursion():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(20)


def matrix():
    n = 40
    a = [[float(i + j) for j in range(n)] for i in range(n)]
    b = [[float(i - j) for j in range(n)] for i in range(n)]
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += a[i][k] * b[k][j]
            c[i][j] = s
    return c[3][5]


def sieve():
    n = 100000
    flags = [True] * (n + 1)
    i = 2
    while i * i <= n:
        if flags[i]:
            for j in range(i * i, n + 1, i):
                flags[j] = False
        i += 1
    return sum(1 for i in range(2, n + 1) if flags[i])


def unpacking():
    a, b, n = 0, 1, 0
    for i, (x, y) in enumerate(zip(range(60000), range(60000, 0, -1))):
        a, b = b, (a + b) % 1000003
        if x < y:
            n += i
    return a, n


def keywords():
    def area(w, h=2, *, scale=1, **rest):
        return w * h * scale + len(rest)

    n = 0
    for i in range(30000):
        n += area(i, h=3, scale=2) + area(w=i, extra=1)
    return n


def sets():
    seen, out = set(), []
    for i in range(80000):
        k = (i * i) % 4099
        if k not in seen:
            seen.add(k)
            out.append((k, i))
    return len(seen), len({a for a, _ in out} & set(range(2000)))


ROWS = [
    (loop, 38247472),
    (calls, 11249925000),
    (attributes, 150000),
    (dicts, 150000),
    (strings, 654445),
    (methods, 1250030000),
    (instances, 120000),
    (comprehension, 93320),
    (closures, 4999950000),
    (generators, 2500000000),
    (exceptions, 600040000),
    (words, ("THE", 1800)),
    (sorting, (0, "9999", 10006)),
    (parsing, (1500, 41281, "name7")),
    (recursion, 6765),
    (matrix, 18380.0),
    (sieve, 9592),
    (unpacking, (911800, 449985000)),
    (keywords, 3599910000),
    (sets, (2050, 1019)),
]

for f, want in ROWS:
    best = 1e9
    for _ in range(5):
        begin = time.perf_counter()
        got = f()
        best = min(best, time.perf_counter() - begin)
    if got != want:
        raise SystemExit(f"{f.__name__} gives {got!r}, not {want!r}")
    print(json.dumps({"row": f.__name__, "seconds": best}))
