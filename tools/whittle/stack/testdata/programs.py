# What runs the random programs of TestRandomTorchPrograms: check(name, source, backend, dynamic, show) runs a program's f eagerly
# and compiled, in worlds of their own, and prints what differs. Under a real PyTorch only what eager computes is shown.
import collections, contextlib, dataclasses, functools, io, itertools, json, math, operator, sys, traceback, warnings
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint

warnings.simplefilter("ignore")
torch.set_num_threads(1)

WORLD = '''
Pair = collections.namedtuple('Pair', 'x n')
state, history, counter = {}, [], 0

class Box:
    def __init__(self, value):
        self.value = value
        self.log = []
    def scale(self, by):
        self.value = self.value * by
        self.log.append(by)
        return self

@dataclasses.dataclass
class Record:
    a: object
    tag: str = ''

holder = Box(None)

@contextlib.contextmanager
def scaled(n):
    state['depth'] = n
    try:
        yield n
    finally:
        state['depth'] = 0

def helper(p, n):
    if n > 2:
        return p * n
    return p + n

def decorated(fn):
    @functools.wraps(fn)
    def inner(*args):
        return fn(*args) + 1
    return inner

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p):
        ctx.save_for_backward(p)
        return p * 2 + 1
    @staticmethod
    def backward(ctx, g):
        p, = ctx.saved_tensors
        return g * 2 * (p > -10)

def fill(m):
    with torch.no_grad():
        for i, p in enumerate(m.parameters()):
            p.copy_(torch.cos(torch.arange(p.numel()) * 0.71 + i).reshape(p.shape) * 0.5)
'''

# What programs that change their surroundings are made of.
STATE = '''
import types, enum, datetime, fractions, re, random, os, copy, weakref
class Meta(type):
    depth = 1
class Base:
    level = 1
    def base(self, q): return q + self.level
class Box(Base):
    level = 2
    def __init__(self, value, **more):
        self.value = value
        self._hidden = len(more)
        self.__dict__.update(more)
    def scale(self, q): return q * self.value
    def shift(self, q): return q + self.value
    def __call__(self, q): return q - self.value
    def __add__(self, q): return q + self.value * 2
    def __neg__(self): return -self.value
    def __len__(self): return int(self.value)
    def __bool__(self): return self.value != 2
    def __eq__(self, o): return isinstance(o, Box) and self.value == o.value
    def __hash__(self): return 1
    def __getitem__(self, i): return self.value + i
    def __iter__(self): return iter([self.value, self.level])
    def __contains__(self, q): return self.value == q
    def __enter__(self): return self.value
    def __exit__(self, *a): return False
    @property
    def double(self): return self.value * 2
    @functools.cached_property
    def lazy(self): return self.value + 1
    @staticmethod
    def fixed(q): return q + 1
    @classmethod
    def of(cls, q): return q + cls.level
class Small(Box):
    level = 3
    def scale(self, q): return super().scale(q) + 1
    @staticmethod
    def fixed(q): return q + 2
class Other:
    def __init__(self, value): self.value = value
class Slotted:
    __slots__ = ('value', 'extra')
    def __init__(self, value): self.value = value
class Dynamic:
    def __init__(self, n): self._n = n
    def __getattr__(self, name):
        if name == 'missing': return self._n * 5
        raise AttributeError(name)
@dataclasses.dataclass
class Record:
    value: object
    tag: str = ''
@dataclasses.dataclass(frozen=True)
class Frozen:
    value: int
class Colour(enum.Enum):
    RED, GREEN, BLUE = 1, 2, 3
class Listed(list): pass
class Mapped(dict): pass
@functools.total_ordering
class Mixed:
    def __init__(self, value): self.value = value
    def __lt__(self, o): return self.value < o
    def __eq__(self, o): return self.value == o
class Net(nn.Module):
    kind = 'net'
    def __init__(self, gain, frozen=False):
        super().__init__()
        self.gain = gain
        self.weight = nn.Parameter(torch.ones(3) * gain, requires_grad=not frozen)
        self.register_buffer('shift', torch.ones(3))
    def forward(self, q): return q * self.weight + self.shift * (self.gain if self.training else 0)
    def other(self, q): return q - self.gain
a_box = Box(1.0)
def first(q): return q + 10
def second(q): return q - 10
def make(n): return lambda q: q * n
def nested(n):
    def outer(q):
        def inner(p): return p + n
        return inner(q) * n
    return outer
def defaulted(n):
    def inner(q, by=n, *, also=n): return q * by + also
    return inner
def wrapped(fn):
    @functools.wraps(fn)
    def inner(*a, **k): return fn(*a, **k) * 2
    return inner
def both(n, q): return q * n
def named(q, by=1): return q + by
def keyed(q, a=0, b=0, c=0, d=0): return q + total(a) + 2 * total(b) + 3 * total(c) + d
def spread(q, *rest): return q + total(rest)
def entered(q, box):
    with box as n: return q + n
def caught(q, kind):
    try: raise KeyError('k')
    except kind: return q + 1
    except Exception: return q + 2
def call(fn, q):
    r = fn(q)
    return r if isinstance(r, torch.Tensor) else q + total(r)
def applied(m, q):
    if isinstance(m, (nn.ModuleList, nn.ModuleDict, nn.ParameterList)):
        for p in (m.values() if isinstance(m, nn.ModuleDict) else m): q = q * p if isinstance(p, torch.Tensor) else p(q)
        return q
    return m(q)
def total(o):
    if o is None: return 0
    if isinstance(o, (int, float, torch.Tensor)): return o
    if isinstance(o, str): return len(o)
    if isinstance(o, dict): return total(list(o.values())) + len(o)
    if isinstance(o, (list, tuple, set, frozenset, range, bytes, bytearray, collections.deque)):
        n = 0
        for i, q in enumerate(o): n = n + total(q) * (i + 1)
        return n
    return 1
def fold(q, items):
    for p in items: q = q * 2 + total(p)
    return q
'''


def world(name, source):
    ns = dict(globals(), __name__='program')
    exec(compile(WORLD, 'world', 'exec'), ns)
    exec(compile(source, name, 'exec'), ns)
    return ns


def leaves(o):
    if isinstance(o, torch.Tensor):
        yield o
    elif isinstance(o, dict):
        for x in o.values():
            yield from leaves(x)
    elif isinstance(o, (list, tuple)):
        for x in o:
            yield from leaves(x)


def kept(t):
    return None if t is None else t.detach().clone()


def content(o):
    """What can be told of an argument in another world: tensors and values as they are, objects by the names of their classes."""
    if isinstance(o, torch.Tensor):
        return kept(o)
    if type(o) in (list, tuple):
        return type(o)(content(x) for x in o)
    if type(o) is dict:
        return {k if type(k) in (int, str) else type(k).__name__: content(x) for k, x in o.items()}
    return o if o is None or type(o) in (bool, int, float, str) else type(o).__name__


def ordinary():
    """Sets the modes that a program may change as they are at the start."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_autocast_enabled('cpu', False)
    torch.set_autocast_dtype('cpu', torch.bfloat16)
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision('highest')
    torch.set_num_threads(1)


def outcome(name, source, calls, wrap):
    """All that the calls of a program show: results, arguments afterwards, gradients, output, and what it left in its world."""
    ordinary()
    ns = world(name, source)
    f = wrap(ns['f'])
    nets = [ns[n] for n in sorted(ns) if isinstance(ns[n], nn.Module)]
    every = []
    for v in calls:
        seen = []
        every.append(seen)
        out, stdout = io.StringIO(), sys.stdout
        sys.stdout = out
        try:
            args = ns['inputs'](v)
            r = f(*args)
            shown = [(t.requires_grad, tuple(t.shape)) for t in leaves(r)]
            loss = [(t.double() * (1 + i)).sum() for i, t in enumerate(leaves(r)) if t.requires_grad and t.is_floating_point()]
            if loss:
                sum(loss).backward()
        except Exception as e:
            sys.stdout = stdout
            seen.append(('raised', type(e).__name__, str(e)))
            continue
        finally:
            sys.stdout = stdout
        seen.append(('result', r))
        seen.append(('requires grad and shapes', shown))
        seen.append(('printed', out.getvalue()))
        seen.append(('arguments', [content(a) for a in args]))
        seen.append(('gradients', [kept(a.grad) for a in args if isinstance(a, torch.Tensor)]))
        seen.append(('parameter gradients', [kept(p.grad) for n in nets for p in n.parameters()]))
        seen.append(('modules', [(kept(b)) for n in nets for b in n.buffers()] + [getattr(n, 'count', None) for n in nets]))
        seen.append(('world', dict(ns['state']), list(ns['history']), ns['counter'], ns['holder'].value, list(ns['holder'].log)))
    return every


def differs(a, b, where):
    """The first difference of two outcomes, in words; None if there is none."""
    if a is None and isinstance(b, torch.Tensor) and 'gradients' in where and not torch.nan_to_num(b).any():
        return None  # of a result that nobody used, compiled code makes zeros
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        if type(a) is not type(b):
            return f'{where}: {type(a).__name__} and {type(b).__name__}'
        if a.dtype != b.dtype or a.shape != b.shape:
            return f'{where}: {a.dtype} {tuple(a.shape)} and {b.dtype} {tuple(b.shape)}'
        a, b = a.detach(), b.detach()
        if not a.is_floating_point():
            return None if torch.equal(a, b) else f'{where}: {a.tolist()} and {b.tolist()}'
        atol, rtol = {torch.float64: (1e-7, 1e-6)}.get(a.dtype, (3e-4, 1e-3))
        big = a.double().abs()
        big = big[big.isfinite()]
        scale = max(1.0, big.max().item() if big.numel() else 1.0)
        if torch.allclose(a.double(), b.double(), rtol=rtol, atol=atol * scale, equal_nan=True):
            return None
        return f'{where}: {a.tolist()} and {b.tolist()}'
    if isinstance(a, float) and isinstance(b, float):
        if math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-4) or a != a and b != b:
            return None
        return f'{where}: {a} and {b}'
    if type(a) is not type(b):
        return f'{where}: {type(a).__name__} {a} and {type(b).__name__} {b}'
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return f'{where}: {len(a)} and {len(b)} items, {str(a)[-200:]} and {str(b)[-200:]}'
        if a and [x for x in (a[0], b[0]) if isinstance(x, str) and x == 'raised'] and a[0] != b[0]:
            return f'{where}: {str(a)[:300]} and {str(b)[:300]}'
        if len(a) == 3 and isinstance(a[0], str) and a[0] == 'raised':
            return None if a[:2] == b[:2] else f'{where}: {a} and {b}'
        for i, (x, y) in enumerate(zip(a, b)):
            d = differs(x, y, f'{where}.{x[0] if isinstance(x, tuple) and x and isinstance(x[0], str) else i}')
            if d:
                return d
        return None
    if isinstance(a, dict):
        if list(a) != list(b):
            return f'{where}: keys {list(a)} and {list(b)}'
        for k in a:
            d = differs(a[k], b[k], f'{where}[{k!r}]')
            if d:
                return d
        return None
    return None if a == b else f'{where}: {a!r} and {b!r}'


def plain(o):
    """An outcome as JSON can hold it."""
    if isinstance(o, torch.Tensor):
        return [str(o.dtype), list(o.shape), o.requires_grad, plain(o.detach().reshape(-1).tolist())]
    if isinstance(o, float):
        return o if math.isfinite(o) else str(o)
    if isinstance(o, (list, tuple)):
        if len(o) == 3 and o[0] == 'raised':
            return list(o[:2])
        return [plain(x) for x in o]
    if isinstance(o, dict):
        return {str(k): plain(v) for k, v in o.items()}
    return o if o is None or isinstance(o, (int, str)) else repr(o)


def check(name, source, backend, dynamic, show=False):
    print('#', name, backend, dynamic)
    try:
        compare(name, source, backend, dynamic, show)
    except Exception:
        print('fails', traceback.format_exc())


def compare(name, source, backend, dynamic, show):
    calls = [0, 1, 0, 2]
    want = outcome(name, source, calls, lambda f: f)
    if show:
        print('=', json.dumps(plain(want)))
        return
    raised = [w for call in want for w in call if w[0] == 'raised']
    print('raises', raised[0][1:]) if raised else print('runs')
    torch._dynamo.reset()
    d = differs(want, outcome(name, source, calls, lambda f: torch.compile(f, backend=backend, dynamic=dynamic)), 'eager and compiled')
    print('differs', d) if d else print('equal')
