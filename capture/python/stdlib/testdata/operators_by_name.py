# The methods of operators, called by their names: what they take, what they leave to the other side, and what they raise.
import datetime
import warnings

warnings.simplefilter("ignore")
values = {n: n for n in "5 True 2.5 1j 'ab' b'ab' bytearray(b'ab') [1,2] (1,2) {1:2} {1,2} range(3) memoryview(b'ab') None {1:2}.keys() int|str".split()}
names = "add radd iadd sub rsub mul rmul imul truediv mod rmod divmod pow rpow lshift or ror and xor eq ne lt ge getitem contains".split()
for n in values:
    for name in names:
        method = "__" + name + "__"
        if not hasattr(eval(n), method):
            continue
        outcomes = {}
        for o in values:
            try:
                r = getattr(eval(n), method)(eval(o))
                r = "NotImplemented" if r is NotImplemented else type(r).__name__
            except KeyError:
                r = "KeyError"
            except Exception as e:
                r = type(e).__name__ + " " + str(e).replace(type(eval(o)).__name__, "T")
            outcomes.setdefault(r, []).append(o)
        print(n, method, *(f"; {r}: {' '.join(l)}" for r, l in outcomes.items()))
    for args in ((7, 2), (7, -1.5), ("a", 1), (None, None), (7, 0), (-1, 7)):
        for method in ("__pow__", "__rpow__", "__get__"):
            if hasattr(eval(n), method):
                try:
                    print(n, method, args, getattr(eval(n), method)(*args))
                except Exception as e:
                    print(n, method, args, type(e).__name__, e)


class Right:
    def __radd__(self, other): return "radd"
    def __rmul__(self, other): return "rmul"


class Two:
    def __index__(self): return 2


class L(list): pass
class S(str): pass
class B(bytes): pass


# An operator asks the other side where a call by name raises.
print([1] + Right(), L() + Right(), "a" + Right(), S("a") + Right(), (1,) * Right(), [1] * Right(), L() * Right(), b"" + Right(), bytearray() + Right())
print([1] * Two(), Two() * [1], "a" * Two(), L([1]) * Two(), Two() * L([1]), S("a") * Two())
print(B(b"a") == bytearray(b"a"), bytearray(b"a") == B(b"a"), B(b"a") == b"a", b"a" == bytearray(b"a"), b"a" < bytearray(b"b"), 2.5 == 2.5 + 0j, 2.5 != 1j)
print(None | int, int | None, None | list[int], list[int] | None)
d, dt = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2)
for source in ("None | None", "None | 'x'", "[1] + 3", "(1,) + [2]", "'a' + 1", "[1] * 1.5", "1.5 * [1]", "b'a' + 'b'", "bytearray(b'a') + 1", "d - dt", "dt - d", "d.__sub__(dt)", "d.__sub__(d)",
               "d == dt", "(lambda: 0).__get__(None)", "property().__get__(None)", "iter(int | str)"):
    try:
        print(source, eval(source))
    except TypeError as e:
        print(source, e)
for target, other in (([1], 1.5), (L([1]), 1.5), (L([1]), 2), ([1], Two())):
    try:
        target *= other
        print(target)
    except TypeError as e:
        print(e)
