"""types, abc, typing, string and datetime. Every part runs alone."""
PARTS = r'''
import types
print(types.SimpleNamespace(a=1, b="x"), types.SimpleNamespace(a=1) == types.SimpleNamespace(a=1), types.FunctionType, types.MappingProxyType({1: 2}), isinstance(len, types.BuiltinFunctionType), types.new_class("X", (), {}, lambda ns: ns.update(a=1)).a, types.GeneratorType, types.NoneType, types.MethodType(len, [1, 2])())
---
import abc
class A(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
    @property
    @abc.abstractmethod
    def p(self): ...
try: A()
except TypeError as e: print(e)
class B(A):
    def f(self): return 1
try: B()
except TypeError as e: print(e)
class C(B): p = 3
print(C().p, A.__abstractmethods__, isinstance(C(), A), abc.get_cache_token.__name__)
@A.register
class D: pass
print(isinstance(D(), A), issubclass(D, A))
class H(abc.ABC):
    @classmethod
    def __subclasshook__(cls, k): return hasattr(k, "zz") or NotImplemented
class Z: zz = 1
print(issubclass(Z, H), isinstance(3, H))
---
import typing as t
@t.runtime_checkable
class P(t.Protocol):
    def f(self) -> int: ...
    x: int
class I:
    x = 1
    def f(self): return 1
print(isinstance(I(), P), isinstance(3, P))
try: issubclass(I, P)
except TypeError as e: print(e)
class Q(t.Protocol):
    def f(self): ...
try: isinstance(I(), Q)
except TypeError as e: print(e)
try: Q()
except TypeError as e: print(e)
class N(t.NamedTuple):
    a: int
    b: str = "x"
    def m(self): return self.a
print(N(1), N(1).m(), N._fields, N._field_defaults, N.__annotations__, N(1)._replace(a=2), N._make([1, 2]), N(3)._asdict())
T = t.TypeVar("T"); K = t.TypeVar("K", bound=int)
class G(t.Generic[T]):
    def __init__(self, v: T): self.v = v
print(G[int], G[int](3).v, G[int].__origin__, G[int].__args__, G.__parameters__, T, K.__bound__, G[T], G.__orig_bases__)
class TD(t.TypedDict, total=False):
    a: int
    b: t.Required[str]
print(TD(a=1), TD.__required_keys__, TD.__optional_keys__, TD.__total__, TD.__annotations__)
print(t.Optional[int], t.Union[int, str, int], t.List[int], t.Dict[str, t.Any], t.Callable[[int], str], t.Callable[..., int], t.Tuple[int, ...], t.Tuple[()], t.Literal["a", 1], t.Annotated[int, "m"], t.ClassVar[int], t.Final, t.Type[int], t.Iterator[int], t.Sequence, t.Union[int, None], t.Any, t.NoReturn, t.Mapping[str, int])
def f(a: int, b: "str" = "x", *c: t.List[int]) -> t.Optional[int]: ...
print(t.get_type_hints(f), t.get_origin(t.List[int]), t.get_args(t.Dict[int, str]), t.get_args(t.Callable[[int], str]), t.get_origin(int), t.cast(int, "a"), t.NewType("U", int)(5), t.TYPE_CHECKING, t.get_origin(t.Union[int, str]), t.is_typeddict(TD))
@t.overload
def g(x: int): ...
@t.final
class F: pass
print(F.__final__, t.no_type_check(f) is f, t.Self, t.ParamSpec("PS"), t.Concatenate, t.assert_never.__name__, t.reveal_type(3))
for x in (t.Optional[t.List["N"]], int | None, list[int] | str, t.Union[int, t.List[str]], dict[str, list[int]], t.Generator[int, None, str], t.Awaitable[int], t.DefaultDict[str, int], t.ContextManager[int], t.Pattern[str], t.IO[str]): print(x, end=" ")
print(t.Union[int, str] == t.Union[str, int], hash(t.List[int]) == hash(t.List[int]), t.Optional[int] == int | None, int | None, isinstance(3, int | str))
for bad in (lambda: t.List[int, str], lambda: t.Optional[1, 2], lambda: t.Union[()], lambda: G[int, str], lambda: t.Literal, lambda: t.List[int](), lambda: isinstance([], t.List[int]), lambda: N(), lambda: t.Generic[int], lambda: t.TypeVar("X", int)):
    try: print(bad())
    except TypeError as e: print(e)
---
import string
T = string.Template("$a ${b} $$ $c")
print(T.safe_substitute(a=1, b=2), T.substitute({"a": 1}, b=2, c=3), T.template, T.get_identifiers(), T.is_valid())
for f in (lambda: T.substitute(a=1), lambda: string.Template("$").substitute(), lambda: string.Template("a\n $1").substitute()):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class M(string.Template): delimiter = "%"
print(M("%a $a").substitute(a=1), string.capwords("ab cd-e"), string.ascii_letters, string.punctuation, string.whitespace.__repr__(), string.hexdigits, string.printable[-6:].__repr__(), string.Formatter().format("{0} {a!r:>5}", 1, a="x"), list(string.Formatter().parse("a{b!r:c}d{{")))
class Fm(string.Formatter):
    def get_value(self, k, a, kw): return kw.get(k, "<%s>" % k)
print(Fm().format("{x} {y}", x=1))
---
import datetime as d
x = d.datetime(2024, 2, 29, 13, 5, 9, 123456); y = d.timedelta(days=1, hours=2, seconds=3.5)
print(x, repr(x), x + y, x - y, x - d.datetime(2024, 1, 1), y, repr(y), y * 2, y / 2, y // d.timedelta(hours=1), y % d.timedelta(hours=1), divmod(y, d.timedelta(hours=5)), y.total_seconds(), -y, abs(-y), x.isoformat(), x.isoformat(" ", "minutes"), x.date(), x.time(), x.weekday(), x.isoweekday(), x.isocalendar(), x.timetuple()[:6], x.strftime("%Y-%m-%d %H:%M:%S.%f %j %a %A %b %B %p %I %y %% %U %w"), x.replace(year=2023, day=1), x.toordinal(), x.ctime())
print(d.datetime.strptime("2024-03-01 10:20:30", "%Y-%m-%d %H:%M:%S"), d.datetime.strptime("Mar 5 24 1PM", "%b %d %y %I%p"), d.datetime.fromisoformat("2024-01-02T03:04:05.678"), d.date.fromisoformat("2024-01-02"), d.date(2024, 1, 31) + d.timedelta(30), d.date(2024, 3, 1) - d.date(2024, 2, 1), d.date.fromordinal(738000), d.time(1, 2, 3), repr(d.time(1, 2)), d.time.fromisoformat("04:05:06"), d.datetime.combine(d.date(2020, 1, 1), d.time(5)), d.date.max, d.datetime.min, d.timedelta.max, d.date(2024, 1, 1) < d.date(2024, 1, 2), d.datetime(2020, 1, 1) == d.datetime(2020, 1, 1), hash(d.date(2020, 1, 1)) == hash(d.date(2020, 1, 1)))
u = d.datetime(2024, 1, 1, tzinfo=d.timezone.utc); z = d.timezone(d.timedelta(hours=5, minutes=30), "IST")
print(u, repr(u), u.timestamp(), u.astimezone(z), z, repr(z), u.utcoffset(), z.utcoffset(None), u.tzname(), d.datetime.fromtimestamp(0, d.timezone.utc), d.datetime.utcfromtimestamp(1e9), u.isoformat(), d.UTC is d.timezone.utc, d.datetime.fromisoformat("2024-01-01T00:00:00+02:00"), u == d.datetime(2024, 1, 1, 5, 30, tzinfo=z))
for f in (lambda: d.date(2024, 2, 30), lambda: d.datetime(2024, 13, 1), lambda: d.datetime.strptime("x", "%Y"), lambda: d.datetime.strptime("2024x", "%Y"), lambda: u < d.datetime(2024, 1, 1), lambda: d.date.fromisoformat("x"), lambda: d.timedelta(days=10**10), lambda: d.date(1, 1, 1) - d.timedelta(1), lambda: d.time(25), lambda: d.datetime(2024, 1, 1) - u, lambda: d.datetime(2024)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print(f"{x:%d.%m.%Y}", format(x, ""), sorted([d.date(2024, 2, 1), d.date(2023, 1, 1)]), d.timedelta(seconds=-1), d.timedelta(microseconds=5), d.timedelta(weeks=1), str(d.timedelta(hours=25)), d.timedelta(1).days, bool(d.timedelta()), max(d.timedelta(1), d.timedelta(2)), sum([d.timedelta(1)] * 3, d.timedelta()))
import pickle, copy
print(pickle.loads(pickle.dumps(x)) == x, copy.deepcopy(y) == y, pickle.loads(pickle.dumps(u)))
'''

for i, part in enumerate(PARTS.strip("\n").split("\n---\n")):
    print("##", i)
    try:
        exec(compile(part, "<part %d>" % i, "exec"), {"__name__": "__main__"})
    except BaseException as e:
        print("!!", type(e).__name__, e)
