import warnings, logging, traceback, io, string, textwrap, inspect, sys
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(funcName)s:%(lineno)d:%(message)s", stream=sys.stdout)
log = logging.getLogger("a.b")
def f(): log.info("hello %s", 1); log.debug("no"); log.warning("w")
f()
try:
    1/0
except ZeroDivisionError:
    log.exception("bad")
    print(traceback.format_exc())
    traceback.print_exc(file=sys.stdout)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    warnings.warn("x"); warnings.warn("y", DeprecationWarning)
print([str(x.message) for x in w], w[1].category.__name__)
s = io.StringIO(); print("a", 1, file=s); s.write("z"); print(repr(s.getvalue()), s.tell())
s.seek(0); print(list(s))
b = io.BytesIO(b'abc'); print(b.read(2), b.read())
print(string.Template("$a ${b} $$").substitute(a=1, b=2), textwrap.dedent("  a\n   b\n"), textwrap.fill("aaa bbb ccc ddd", 8))
def g(a, /, b: int, *c, d=1, **e) -> str:
    """doc"""
    return a
print(inspect.signature(g), inspect.getsource(g), list(inspect.signature(g).parameters), inspect.getdoc(g))
print(inspect.signature(g).bind(1, 2, 3, d=4, z=5).arguments)
class K:
    def m(self, x=3): pass
print(inspect.signature(K().m), inspect.isfunction(g), inspect.ismethod(K().m), inspect.getsource(K))
print(inspect.currentframe().f_lineno, inspect.stack()[0].function)
