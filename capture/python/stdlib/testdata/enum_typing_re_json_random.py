import enum, typing, re, json, random
from typing import *
class Color(enum.Enum):
    RED = 1
    GREEN = enum.auto()
    ALIAS = 1
print(Color.RED, repr(Color.GREEN), Color(1), Color['GREEN'], list(Color), Color.ALIAS is Color.RED, Color.RED.name, Color.RED.value)
try: Color(7)
except ValueError as e: print(e)
class I(enum.IntEnum):
    A = 1; B = 2
print(I.A + 1, I.A, f'{I.B}', repr(I.A), I.A < I.B, isinstance(I.A, int))
class S(enum.Enum):
    X = 'x'; Y = 'y'
    def up(self): return self.value.upper()
print(S.X.up(), S('y'))
class F(enum.Flag):
    R = enum.auto(); W = enum.auto(); X = enum.auto()
print(F.R | F.W, repr(F.R | F.W), F.R in (F.R|F.W), ~F.R, bool(F.R & F.W))
class SS(str, enum.Enum):
    A = 'a'
print(SS.A == 'a', SS.A, SS.A.value, f'{SS.A}')
print(List[int], Dict[str, int], Optional[int], Union[int, str], Callable[[int], str], Tuple[int, ...], Any, list[int], int | None)
T = TypeVar('T')
class G(Generic[T]):
    def __init__(self, x: T): self.x = x
print(G[int](3).x, G[int], T, G.__parameters__)
class NT(NamedTuple):
    a: int
    b: str = 'x'
print(NT(1), NT(1, b='y').b)
class TD(TypedDict):
    a: int
print(TD(a=1))
print(re.findall(r'(\w)(\d)', 'a1 b2'), re.sub(r'(\w+) (\w+)', r'\2 \1', 'hello world'), re.match(r'(?P<x>\d+)', '123abc').groupdict(), re.split(r'[,;]\s*', 'a, b;c'))
print(re.search('b+', 'aabbb'), re.compile('a', re.I), re.fullmatch('a|ab', 'ab'), re.sub('x*', '-', 'abxd'))
print(json.dumps({'a': [1, 2.5, None, True], 'b': 'é"\n'}), json.loads('{"a": [1, 2.0, "\\u00e9"], "b": null}'), json.dumps([1, {'a': 2}], indent=2))
try: json.loads('{"a": }')
except json.JSONDecodeError as e: print(e)
random.seed(42)
print(random.random(), random.randint(1, 100), random.choice('abc'), random.sample(range(100), 5), random.gauss(0, 1), random.uniform(1, 2))
l = list(range(10)); random.shuffle(l); print(l)
random.seed('abc'); print(random.random(), random.getrandbits(70), random.choices([1,2,3], k=4), random.normalvariate(0, 1))
