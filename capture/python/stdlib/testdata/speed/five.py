# Plain Python.
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


def run():
    for f in (loop, calls, attributes, dicts, strings): f()
