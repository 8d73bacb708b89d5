class MyErr(Exception):
    def __str__(self): return "multi\nline"
def dec(fn):
    def wrap(*a, **k):
        return fn(*a, **k)
    return wrap
@dec
def f(a, b=2):
    lam = lambda z: z.missing_attribute.foo
    raise MyErr if a else lam(b)
try:
    f(0)
except AttributeError:
    f(1)
