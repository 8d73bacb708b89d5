import time
default_timer = time.perf_counter


class Timer:
    def __init__(self, stmt='pass', setup='pass', timer=default_timer, globals=None):
        self.stmt, self.setup, self.timer, self.g = stmt, setup, timer, globals

    def timeit(self, number=1000000):
        g = self.g if self.g is not None else {}
        f = self.stmt if callable(self.stmt) else None
        (self.setup() if callable(self.setup) else exec(self.setup, g))
        c = None if f else compile(self.stmt, '<timeit-src>', 'exec')
        t = self.timer()
        for _ in range(number):
            f() if f else exec(c, g)
        return self.timer() - t

    def repeat(self, repeat=5, number=1000000): return [self.timeit(number) for _ in range(repeat)]

    def autorange(self, callback=None):
        n = 1
        while True:
            t = self.timeit(n)
            if t >= 0.2:
                return n, t
            n *= 10


def timeit(stmt='pass', setup='pass', timer=default_timer, number=1000000, globals=None): return Timer(stmt, setup, timer, globals).timeit(number)
def repeat(stmt='pass', setup='pass', timer=default_timer, repeat=5, number=1000000, globals=None): return Timer(stmt, setup, timer, globals).repeat(repeat, number)
