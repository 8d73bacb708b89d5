import functools
@functools.lru_cache(None)
def fib(n): return fib(n - 1) + fib(n - 2) if n > 1 else undefinedd
fib(3)
