"""Runs modules that are written for Triton, without Triton and without a GPU.

It knows the part of the language that the generator uses, and is strict about it. A block is a torch tensor; program instances run one after
another, the last one first, so that one which needs another's result is found. What Triton leaves undefined is made visible: elements that a mask
leaves out are poison, fresh memory is poison, an access outside of the memory is an error, and so are two elements of a block that are stored in
one place. Dtypes meet as in Triton, and not as in torch.
"""
import re
import sys
import types

import torch

XBLOCK = RBLOCK = 0  # the sizes of blocks, which a kernel leaves open


class Wrong(Exception):
    """The module does what Triton would refuse, or what has no defined result."""


# Dtypes. The order is the one in which they win over each other.
class DType:
    def __init__(self, name, torch_dtype, rank):
        self.name, self.torch, self.rank = name, torch_dtype, rank

    def __repr__(self):
        return "tl." + self.name


ORDER = ["int1", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
DTYPES = {n: DType(n, torch.bool if n == "int1" else getattr(torch, n), i) for i, n in enumerate(ORDER)}
OF_TORCH = {d.torch: d for d in DTYPES.values()}
POINTERS = {"*i1": "int1", "*i8": "int8", "*u8": "uint8", "*i16": "int16", "*i32": "int32", "*i64": "int64", "*fp16": "float16", "*bf16": "bfloat16", "*fp32": "float32", "*fp64": "float64"}


def is_float(t):
    return t.dtype.is_floating_point


def poison(t):
    if is_float(t):
        t.fill_(float("nan"))
    elif t.dtype == torch.bool:
        t.fill_(True)
    else:
        t.fill_(77)
    return t


class Block:
    """A value of the language. Its elements are those of a tensor."""

    def __init__(self, t):
        self.t = t

    @property
    def dtype(self):
        return OF_TORCH[self.t.dtype]

    @property
    def shape(self):
        return list(self.t.shape)

    def __getitem__(self, at):
        return Block(self.t[at])

    def to(self, dtype):
        if dtype.name == "int1":
            return Block(self.t != 0)
        return Block(self.t.to(dtype.torch))

    def __bool__(self):
        raise Wrong("a block is no condition")

    def __neg__(self):
        return Block(-self.t)

    def __invert__(self):
        if is_float(self.t):
            raise Wrong("~ of floats")
        return Block(~self.t)

    __hash__ = None


def lift(x, beside=None):
    """x as a block. A number takes the dtype of the block beside it where that can hold it."""
    if isinstance(x, Block):
        return x
    if isinstance(x, bool):
        dtype = torch.bool
    elif isinstance(x, int):
        dtype = torch.int32 if -(2**31) <= x < 2**31 else torch.int64
    elif isinstance(x, float):
        dtype = torch.float32
    else:
        raise Wrong("a %s in an expression" % type(x).__name__)
    if isinstance(beside, Block):
        other = beside.t.dtype
        if other.is_floating_point or dtype != torch.float32 and other != torch.bool:
            dtype = other
    return Block(torch.tensor(x, dtype=dtype))


def meet(a, b, divides=False):
    """a and b in the dtype that they are computed in together."""
    a, b = lift(a, b), lift(b, a)
    d = a.dtype if a.dtype.rank >= b.dtype.rank else b.dtype
    if {a.dtype.name, b.dtype.name} == {"float16", "bfloat16"} or divides and d.rank < DTYPES["float16"].rank:
        d = DTYPES["float32"]
    shape(a, b)
    return a.t.to(d.torch), b.t.to(d.torch)


def shape(*blocks):
    """The shape that blocks have together."""
    out = []
    rank = max(len(b.shape) for b in blocks)
    for i in range(rank):
        size = 1
        for b in blocks:
            at = i - rank + len(b.shape)
            n = b.shape[at] if at >= 0 else 1
            if n != 1 and size != 1 and n != size:
                raise Wrong("shapes %s do not meet" % [x.shape for x in blocks])
            size = max(size, n)
        out.append(size)
    return out


def binary(f, divides=False):
    def left(self, other):
        if isinstance(other, Pointer):
            return NotImplemented
        a, b = meet(self, other, divides)
        return Block(f(a, b))

    def right(self, other):
        a, b = meet(other, self, divides)
        return Block(f(a, b))

    return left, right


def bits(f):
    def checked(a, b):
        if is_float(a):
            raise Wrong("bits of floats")
        return f(a, b)

    return checked


def arithmetic(f):
    def checked(a, b):
        if a.dtype == torch.bool:
            raise Wrong("arithmetic of truth values")
        return f(a, b)

    return checked


def c_div(a, b):
    if is_float(a):
        raise Wrong("// of floats")
    return torch.div(a, b, rounding_mode="trunc")


def c_mod(a, b):
    if is_float(a):
        raise Wrong("% of floats")
    return torch.fmod(a, b)


for name, f, divides in [
    ("add", arithmetic(lambda a, b: a + b), False), ("sub", arithmetic(lambda a, b: a - b), False), ("mul", arithmetic(lambda a, b: a * b), False),
    ("truediv", lambda a, b: a / b, True), ("floordiv", c_div, False), ("mod", c_mod, False),
    ("and", bits(lambda a, b: a & b), False), ("or", bits(lambda a, b: a | b), False), ("xor", bits(lambda a, b: a ^ b), False),
]:
    left, right = binary(f, divides)
    setattr(Block, "__%s__" % name, left)
    setattr(Block, "__r%s__" % name, right)
for name, f in [("lt", lambda a, b: a < b), ("le", lambda a, b: a <= b), ("gt", lambda a, b: a > b), ("ge", lambda a, b: a >= b), ("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b)]:
    setattr(Block, "__%s__" % name, binary(f)[0])


class Pointer:
    """An argument of a kernel, or a block of places behind it."""

    def __init__(self, memory, at=None):
        self.memory, self.at = memory, at

    def __add__(self, at):
        if isinstance(at, int):
            at = Block(torch.tensor(at, dtype=torch.int32))
        if is_float(at.t) or at.t.dtype == torch.bool:
            raise Wrong("a place is a %s" % at.dtype)
        return Pointer(self.memory, at)


def extent(t):
    n = 1
    for size, stride in zip(t.shape, t.stride()):
        if size == 0:
            return 0
        n += (size - 1) * stride
    return n


def access(p, mask):
    """The places of a block, and which of them count, as one row."""
    at = p.at.t
    if mask is None:
        on = torch.ones(at.shape, dtype=torch.bool)
    else:
        if mask.t.dtype != torch.bool:
            raise Wrong("a mask is a %s" % mask.dtype)
        if shape(mask, p.at) != p.at.shape:
            raise Wrong("a mask of shape %s for places of shape %s" % (mask.shape, p.at.shape))
        on = mask.t.expand(at.shape)
    at, on = at.reshape(-1).long(), on.reshape(-1)
    inside = at[on]
    if inside.numel() > 0 and (int(inside.min()) < 0 or int(inside.max()) >= p.memory.numel()):
        raise Wrong("access to elements %d to %d of %d" % (int(inside.min()), int(inside.max()), p.memory.numel()))
    return at, on


def load(p, mask=None, other=None, eviction_policy=""):
    if eviction_policy not in ("", "evict_first", "evict_last"):
        raise Wrong("eviction policy %r" % eviction_policy)
    at, on = access(p, mask)
    out = poison(torch.empty(at.shape, dtype=p.memory.dtype))
    if other is not None:
        out.fill_(other)
    out[on] = p.memory[at[on]]
    out = out.reshape(p.at.t.shape)
    if out.dtype == torch.bool:
        out = out.to(torch.int8)  # memory has bytes
    return Block(out)


def store(p, value, mask=None):
    value = lift(value)
    if shape(value, p.at) != p.at.shape:
        raise Wrong("a value of shape %s at places of shape %s" % (value.shape, p.at.shape))
    at, on = access(p, mask)
    at = at[on]
    if torch.unique(at).numel() != at.numel():
        raise Wrong("two elements are stored in one place")
    p.memory[at] = value.t.expand(p.at.t.shape).reshape(-1)[on].to(p.memory.dtype)


# triton.language
tl = types.ModuleType("triton.language")
for d in DTYPES.values():
    setattr(tl, d.name, d)
tl.constexpr = object()
tl.load, tl.store = load, store
tl.debug_barrier = lambda: None
program = [0]
tl.program_id = lambda axis: Block(torch.tensor(program[axis], dtype=torch.int32))


def arange(a, b):
    if (b - a) & (b - a - 1):
        raise Wrong("a range of %d" % (b - a))
    return Block(torch.arange(a, b, dtype=torch.int32))


def full(size, value, dtype):
    for n in size:
        if n & (n - 1):
            raise Wrong("a block of shape %s" % size)
    return Block(torch.full(size, value, dtype=dtype.torch))


def where(c, a, b):
    if lift(c).t.dtype != torch.bool:
        raise Wrong("a condition is a %s" % lift(c).dtype)
    x, y = meet(a, b)
    return Block(torch.where(lift(c).t, x, y))


def broadcast_to(x, size):
    x = lift(x)
    if len(x.shape) > len(size):
        raise Wrong("a block of shape %s as %s" % (x.shape, size))
    return Block(x.t.expand(size))


tl.arange, tl.full, tl.where, tl.broadcast_to = arange, full, where, broadcast_to


def over(f):
    """A reduction of a block over an axis."""

    def reduce(x, axis):
        if not isinstance(x, Block) or len(x.shape) != 2:
            raise Wrong("a reduction of something else than a block of rows")
        return Block(f(x.t, axis))

    return reduce


def summed(t, axis):
    if not is_float(t) and t.dtype != torch.int64:
        t = t.to(torch.int32)
    return t.sum(axis, dtype=t.dtype)


tl.sum = over(summed)


def math(f):
    """A function of floats, of 32 or 64 bits."""

    def call(*args):
        beside = next((a for a in args if isinstance(a, Block)), None)
        if beside is None:
            raise Wrong("a function of numbers")
        args = [lift(a, beside) for a in args]
        for a in args:
            if a.t.dtype not in (torch.float32, torch.float64) or a.t.dtype != args[0].t.dtype:
                raise Wrong("a function of %s" % [a.dtype for a in args])
        shape(*args)
        return Block(f(*torch.broadcast_tensors(*[a.t for a in args])))

    return call


libdevice = types.ModuleType("libdevice")
for name in ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
             "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "ceil", "floor", "trunc", "pow", "fmod", "atan2", "copysign"]:
    setattr(libdevice, name, math(getattr(torch, name)))
libdevice.nearbyint = math(torch.round)
libdevice.fma = math(lambda a, b, c: (a.double() * b.double() + c.double()).to(a.dtype))
libdevice.isnan = math(lambda a: torch.isnan(a).to(torch.int32))
libdevice.isinf = math(lambda a: torch.isinf(a).to(torch.int32))
tl_math = types.ModuleType("math")
for name in ["exp", "log", "sin", "cos"]:
    setattr(tl_math, name, math(getattr(torch, name)))
tl_math.abs = lambda a: Block(a.t.abs())
tl.sigmoid = math(torch.sigmoid)

helpers = types.ModuleType("torch._inductor.runtime.triton_helpers")
helpers.libdevice, helpers.math = libdevice, tl_math
helpers.set_driver_to_gpu = lambda: None


def extreme(f):
    def of_two(a, b):
        a, b = meet(a, b)
        if a.dtype == torch.bool:
            raise Wrong("an extreme of truth values")
        return Block(f(a, b))

    return of_two


def wins(f):
    """A NaN is greater than all, and less than all."""

    def kept(t, axis):
        if t.dtype == torch.bool:
            raise Wrong("an extreme of truth values")
        return f(t, axis)

    return kept


helpers.maximum, helpers.minimum = extreme(torch.maximum), extreme(torch.minimum)
helpers.max2, helpers.min2 = over(wins(torch.amax)), over(wins(torch.amin))
helpers.prod = over(lambda t, axis: t.prod(axis, dtype=t.dtype))


def any_of(t, axis):
    if t.dtype == torch.bool:
        raise Wrong("any of truth values: of bytes")
    return (t != 0).any(axis).to(t.dtype)


helpers.any = over(any_of)


def assert_then(cond, msg, x):
    if not bool(lift(cond).t.all()):
        raise Wrong(msg)
    return x


helpers.device_assert_then = assert_then


# Kernels
class Kernel:
    """A function as its decorator leaves it: run launches it for all points of x."""

    def __init__(self, fn, kind, options):
        self.fn, self.kind, self.options = fn, kind, options

    def run(self, *args, grid, stream):
        names = list(self.options["triton_meta"]["signature"])
        kinds = list(self.options["triton_meta"]["signature"].values())
        aligned = self.options["triton_meta"]["configs"][0].properties["tt.divisibility"]
        if len(args) != len(names):
            raise Wrong("%d arguments for %s" % (len(args), names))
        hints = self.options["size_hints"]
        values, seen = [], {}
        for i, (name, kind, a) in enumerate(zip(names, kinds, args)):
            if kind in POINTERS:
                if not isinstance(a, torch.Tensor) or a.dtype != DTYPES[POINTERS[kind]].torch:
                    raise Wrong("%s is %s, and %s is given" % (name, kind, a.dtype))
                values.append(Pointer(torch.as_strided(a, (extent(a),), (1,))))
                continue
            if kind not in ("i32", "i64") or not isinstance(a, int):
                raise Wrong("%s is %s" % (name, kind))
            if i in aligned and a % 16:
                raise Wrong("%s is %d, no multiple of 16" % (name, a))
            if (a == 1) != (self.options["triton_meta"]["constants"].get(name) == 1):
                raise Wrong("%s is %d" % (name, a))
            if not a <= hints[name[0]] < 2 * a:
                raise Wrong("%s is %d, and its hint %s" % (name, a, hints))
            seen[name] = a
            values.append(a)
        if grid != seen["xnumel"]:
            raise Wrong("a grid of %s for %d" % (grid, seen["xnumel"]))
        blocks = {"XBLOCK": XBLOCK}
        if self.kind == "reduction":
            blocks["RBLOCK"] = RBLOCK
        for i in reversed(range((grid + XBLOCK - 1) // XBLOCK)):
            program[0] = i
            self.fn(*values, **blocks)


def heuristic(kind):
    def decorator(**options):
        want = {"size_hints", "filename", "triton_meta", "inductor_meta"} | ({"min_elem_per_thread"} if kind == "pointwise" else {"reduction_hint"})
        if set(options) != want:
            raise Wrong("the options of a kernel are %s" % sorted(options))
        return lambda fn: Kernel(fn, kind, options)

    return decorator


class AttrsDescriptor:
    def __init__(self, properties):
        self.properties = properties

    @classmethod
    def from_dict(cls, d):
        if d["cls"] != "AttrsDescriptor":
            raise Wrong("attributes %s" % d)
        return cls(d["arg_properties"])


class Named:
    """A place for names that the module asks for, and mostly does not use."""

    def __init__(self, **names):
        self.__dict__.update(names)

    def __getattr__(self, name):
        return None


def scoped(text):
    """What a loop computes ends with it: a variable of its body must not be used behind it."""
    for fn in text.split("@triton.jit")[1:]:
        before, inside, behind, state = set(), set(), [], 0
        for line in fn.split("\n"):
            if line.startswith("    for "):
                state = 1
            elif line.startswith("        ") and state == 1:
                m = re.match(r"\s+(\w+) = ", line)
                if m and m.group(1) not in before:
                    inside.add(m.group(1))
                continue
            else:
                state = 0
            used = set(re.findall(r"\w+", line.split(" = ", 1)[1] if re.match(r"\s+\w+ = ", line) else line))
            if used & inside and state == 0:
                raise Wrong("%s is used behind its loop: %s" % (sorted(used & inside), line.strip()))
            m = re.match(r"\s+(\w+) = ", line)
            if m:
                before.add(m.group(1))
                inside.discard(m.group(1))


class AsyncCompile:
    def triton(self, name, text, device_str):
        if device_str != "cuda":
            raise Wrong("a kernel for %s" % device_str)
        scoped(text)
        space = {"__name__": name, "__file__": name + ".py"}
        exec(compile(text, name, "exec"), space)
        kernel = space[name]
        if kernel.options["inductor_meta"]["kernel_name"] != name:
            raise Wrong("%s is called %s" % (name, kernel.options["inductor_meta"]["kernel_name"]))
        return kernel

    def wait(self, names):
        pass


def assert_size_stride(t, size, stride):
    if tuple(t.shape) != size:
        raise Wrong("a tensor of shape %s, not %s" % (tuple(t.shape), size))
    for n, a, b in zip(size, t.stride(), stride):
        if n > 1 and a != b:
            raise Wrong("a tensor with strides %s, not %s" % (t.stride(), stride))


def empty_strided_cuda(size, stride, dtype):
    return poison(torch.empty_strided(size, stride, dtype=dtype))


def reinterpret_tensor(t, size, stride, offset):
    return torch.as_strided(t, size, stride, t.storage_offset() + offset)


class Guard:
    def __init__(self, index):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


extern_kernels = Named(mm=torch.mm, bmm=torch.bmm, addmm=torch.addmm, baddbmm=torch.baddbmm)


class Ops:
    """torch.ops, with what Inductor adds to it."""

    inductor = Named()
    _quantized = Named()

    def __getattr__(self, name):
        return getattr(torch.ops, name)


class Torch:
    """torch, with a device that is not there."""

    cuda = Named(_DeviceGuard=Guard, set_device=lambda i: None)
    device = staticmethod(lambda type, index: torch.device("cpu"))
    _C = Named(_dynamo=Named(guards=Named(assert_size_stride=assert_size_stride, _empty_strided_cuda=empty_strided_cuda, _reinterpret_tensor=reinterpret_tensor)))
    ops = Ops()

    def __getattr__(self, name):
        return getattr(torch, name)


def module(name, **names):
    m = types.ModuleType(name)
    for k, v in names.items():
        setattr(m, k, v)
    return m


triton = module("triton", jit=lambda fn: fn, language=tl)
heuristics = module("torch._inductor.runtime.triton_heuristics", grid=lambda n: n, split_scan_grid=None, grid_combo_kernels=None, start_graph=None, end_graph=None, cooperative_reduction_grid=None,
                    pointwise=heuristic("pointwise"), reduction=heuristic("reduction"), persistent_reduction=heuristic("persistent_reduction"))
runtime = module("torch._inductor.runtime", triton_helpers=helpers, triton_heuristics=heuristics)
shown = {
    "torch": Torch(), "triton": triton, "triton.language": tl, "triton.compiler": module("triton.compiler"),
    "triton.compiler.compiler": module("triton.compiler.compiler", AttrsDescriptor=AttrsDescriptor),
    "torch._C": module("torch._C", _cuda_getCurrentRawStream=lambda i: i),
    "torch._inductor": module("torch._inductor"), "torch._inductor.codegen": module("torch._inductor.codegen"),
    "torch._inductor.hooks": module("torch._inductor.hooks", run_intermediate_hooks=None), "torch._inductor.utils": module("torch._inductor.utils", maybe_profile=None),
    "torch._inductor.codegen.memory_planning": module("memory_planning", _align=None), "torch._inductor.codegen.multi_kernel": module("multi_kernel", MultiKernelCall=None),
    "torch._inductor.async_compile": module("async_compile", AsyncCompile=AsyncCompile),
    "torch._inductor.select_algorithm": module("select_algorithm", extern_kernels=extern_kernels),
    "torch._inductor.runtime": runtime, "torch._inductor.runtime.triton_heuristics": heuristics, "torch._inductor.runtime.triton_helpers": helpers,
    "torch._inductor.runtime.hints": module("hints", AutotuneHint=None, TileHint=None, ReductionHint=Named(), DeviceProperties=lambda **properties: properties),
}


def run(text, args, xblock, rblock):
    """The results of the module's call, with blocks of the given sizes."""
    global XBLOCK, RBLOCK
    XBLOCK, RBLOCK = xblock, rblock
    hidden = {name: sys.modules.get(name) for name in shown}
    sys.modules.update(shown)
    try:
        space = {"__name__": "output_code"}
        exec(compile(text, "output_code.py", "exec"), space)
        args = list(args)
        out = space["call"](args)
        if args:
            raise Wrong("call keeps its arguments")
        if not isinstance(out, tuple):
            raise Wrong("call returns a %s" % type(out).__name__)
        return list(out)
    finally:
        for name, m in hidden.items():
            if m is None:
                del sys.modules[name]
            else:
                sys.modules[name] = m
