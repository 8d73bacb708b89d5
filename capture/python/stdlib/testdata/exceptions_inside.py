# The attributes of exceptions: what sets them, what may change, what a traceback makes of them.
import copy, pickle, sys


def shown(f):
    try:
        return f()
    except BaseException as e:
        return f"{type(e).__name__}: {e}"


for cls, args in (SyntaxError, ()), (SyntaxError, ("m",)), (SyntaxError, ("m", ("f/a.py", 1, 2, "t"))), (SyntaxError, ("m", ("f", 1, 2))), (SyntaxError, ("m", ("f", 1, 2, "t", 3))), (SyntaxError, ("m", 4)), (
    SyntaxError, ("m", (None, 4, 1, "t"))), (SyntaxError, ("m", ("x.py", "n", 1, "t"))), (OSError, (2, "no", "f")), (OSError, (2, "no", None)), (OSError, (2, "no", "f", None, "g")), (OSError, (1, 2, 3, 4, 5, 6)), (
    ImportError, ("m",)), (ImportError, ("m", 2)), (KeyError, ("k",)), (KeyError, ()), (SystemExit, (1, 2)), (StopIteration, (1, 2)), (UnicodeEncodeError, ("a", "b\xe9\u1234\U00012345", 1, 2, "r")), (
    UnicodeEncodeError, ("a", "b", 0, 1)), (UnicodeDecodeError, ("a", bytearray(b"xyz"), 1, 2, "r")), (UnicodeDecodeError, ("a", "x", 1, 2, "r")), (UnicodeTranslateError, ("abc", 0, 2, "r")), (UnicodeTranslateError, (1, 0, 2, "r")):
    e = shown(lambda: cls(*args))
    print(cls.__name__, args, e if isinstance(e, str) else (str(e), e.args, sorted((n, repr(getattr(e, n, "-"))) for n in dir(e) if n[0] != "_" and n not in ("args", "add_note", "with_traceback"))))
for cls, kw in (ImportError, {"name": "n", "path": "p"}), (ImportError, {"nope": 1}), (AttributeError, {"name": "n", "obj": 3}), (AttributeError, {"nope": 1}), (NameError, {"name": 3}), (ValueError, {"x": 1}), (OSError, {"x": 1}):
    e = shown(lambda: cls("m", **kw))
    print(cls.__name__, kw, e if isinstance(e, str) else {k: getattr(e, k) for k in kw})
    if not isinstance(e, str):
        print([(type(c).__name__, c.args, getattr(c, "name", 0)) for c in (copy.copy(e), copy.deepcopy(e), pickle.loads(pickle.dumps(e)))] if cls is ImportError else "")
for n, v in ("__cause__", 5), ("__context__", "x"), ("__traceback__", 1), ("args", 1), ("__suppress_context__", 3), ("__cause__", KeyError()), ("__notes__", 3):
    e = ValueError(1)
    print(n, shown(lambda: setattr(e, n, v)), shown(lambda: delattr(e, n)), shown(lambda: e.with_traceback(v)))
e = ValueError()
e.__notes__ = 5
print(shown(lambda: e.add_note("n")), shown(lambda: ValueError().add_note(3)))
u = UnicodeEncodeError("baz", "xxxxx", 1, 5, "foo")
for n, v in ("end", 2), ("end", 5), ("reason", 345), ("encoding", 4000), ("start", 1000):
    print(n, shown(lambda: setattr(u, n, v)), u)
print(shown(lambda: delattr(u, "start")), shown(lambda: setattr(u, "start", "x")), [str(c.__new__(c)) for c in (UnicodeEncodeError, UnicodeDecodeError, UnicodeTranslateError, SyntaxError, OSError)], ValueError.__new__(ValueError, 1, x=2).args)


class A:
    blech = None

    def __getattr__(self, name):
        raise AttributeError("mine")


try:
    A().bluch
except AttributeError as e:
    print(e.name, type(e.obj).__name__)


class Own(ImportError):
    def __init__(self, a, *, b):
        super().__init__(a)
        self.b = b


print(Own(1, b=2).args, Own(1, b=2).b, shown(lambda: Own(1, c=2)))
g = ExceptionGroup("g", [ValueError(1)])
print(shown(lambda: setattr(g, "message", 1)), ExceptionGroup[int], shown(lambda: sys.setrecursionlimit(1)).split(" at the")[0])
try:
    try:
        raise ValueError
    except (ValueError, 42):
        pass
except TypeError as e:
    print(e)
