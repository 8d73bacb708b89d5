"""Prints cases for TestCompareAgreesWithPyTorch: values, options, and what torch._dynamo.utils.same says of them.

Run it with PyTorch 2.6:  python3 cases.py > same.json
Tensors are written as their bytes, zlib-compressed, in base64.
"""
import base64
import json
import random
import zlib

import torch
from torch._dynamo.utils import same

rng = random.Random(3)
gen = torch.Generator().manual_seed(3)
F32, F64, F16, BF16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
NAN, INF = float("nan"), float("inf")
cases = []


def enc(v):
    if isinstance(v, torch.Tensor):
        raw = bytes(v.detach().contiguous().reshape(-1).view(torch.uint8).tolist()) if v.numel() else b""
        return {"kind": "tensor", "dtype": str(v.dtype)[6:], "shape": list(v.shape),
                "data": base64.b64encode(zlib.compress(raw, 9)).decode()}
    if isinstance(v, bool):
        return {"kind": "bool", "bool": v}
    if isinstance(v, int):
        return {"kind": "int", "int": v}
    if isinstance(v, float):
        return {"kind": "float", "float": v.hex()}
    if isinstance(v, str):
        return {"kind": "str", "str": v}
    if v is None:
        return {"kind": "none"}
    if isinstance(v, (list, tuple)):
        return {"kind": "list", "items": [enc(x) for x in v]}
    if isinstance(v, dict):
        return {"kind": "dict", "keys": list(v), "items": [enc(x) for x in v.values()]}
    raise TypeError(type(v))


def case(name, ref, res, fp64=None, **o):
    said = []

    def log_error(msg, *args):
        said.append(msg % args)

    o.setdefault("tol", 1e-3)
    o.setdefault("equal_nan", True)
    larger = o.pop("larger", False)
    kw = dict(o, log_error=log_error, use_larger_multiplier_for_smaller_tensor=larger)
    try:
        want = "same" if same(ref, res, fp64, **kw) else "differs"
    except Exception as e:
        want, said = "error", [type(e).__name__]
    cases.append({
        "name": name, "want": want, "said": said[0] if said else "",
        "ref": enc(ref), "res": enc(res), "fp64": None if fp64 is None else enc(fp64),
        "tol": o["tol"], "equal_nan": o["equal_nan"], "exact_dtype": o.get("exact_dtype", True),
        "ignore_non_fp": o.get("ignore_non_fp", False), "cosine": o.get("cos_similarity", False), "larger": larger})


def t(xs, d=F32):
    return torch.tensor(xs, dtype=d)


# Around the tolerance, in the arithmetic of each dtype, with and without a reference.
for d in (F32, F64, F16, BF16):
    for k in (0, 0.5, 0.999, 1.001, 1.5, 2, 4, 10):
        for tol in (1e-3, 1e-2):
            ref = t([1.0, -2.0, 0.0, 100.0], d)
            res = (ref.double() * (1 + k * tol) + k * tol * torch.tensor([1.0, -1, 1, 1])).to(d)
            case(f"{d} off by {k} tolerances of {tol}", ref, res, tol=tol)
            if tol == 1e-3:
                case(f"{d} off by {k} tolerances, reference", ref, res, ref.double() + 1e-4, tol=tol)

# How far a result may be from the reference, by size, dtype and tolerance.
for d in (F32, F16, BF16):
    for n in (8, 10, 11, 500, 501, 999, 1000, 1024):
        for ratio in (2.5, 4.0):
            f = torch.full((n,), 1.0, dtype=F64)
            case(f"{d} {n} elements, {ratio} times eager's error", (f + 0.125).to(d), (f - 0.125 * ratio).to(d), f)
for tol in (1.9e-2, 2e-2, 4e-2):
    for larger in (False, True):
        for n, ratio in ((8, 4.0), (8, 11.0), (400, 4.0), (400, 6.0), (2000, 2.5), (2000, 3.5)):
            f = torch.full((n,), 1.0, dtype=F64)
            case(f"tolerance {tol}, larger {larger}, {n} elements, {ratio} times", (f + 0.25).float(), (f - 0.25 * ratio).float(), f, tol=tol, larger=larger)
for shape in ((2, 600, 1, 1), (2, 300, 2, 1), (1, 1, 2, 600), (1200, 1), (1, 1200, 1)):
    f = torch.zeros(shape, dtype=F64)
    case(f"shape {shape}", (f + 0.25).float(), (f - 0.625).float(), f)

# NaN and infinity.
for en in (True, False):
    for name, a, b, f in (
        ("nan in both", [NAN, 1], [NAN, 1], None),
        ("nan in both, reference", [NAN, 1], [NAN, 1], [NAN, 1]),
        ("nan in both, finite reference", [NAN, 1], [NAN, 1], [2, 1]),
        ("nan in both, else far", [NAN, 1], [NAN, 5], [NAN, 1]),
        ("nan in eager", [NAN, 1], [2, 1], None),
        ("nan in eager, result right", [NAN, 1], [2, 1], [2.01, 1]),
        ("nan in eager, result wrong", [NAN, 1], [3, 1], [2.01, 1]),
        ("nan in eager, reference too", [NAN, 1], [2, 1], [NAN, 1]),
        ("nan in result", [2, 1], [NAN, 1], None),
        ("nan in result, reference", [2, 1], [NAN, 1], [2, 1]),
        ("nan in result and reference", [2, 1], [NAN, 1], [NAN, 1]),
        ("nan elsewhere", [NAN, 1], [1, NAN], [1, 1]),
        ("inf in both", [INF, 1], [INF, 1], None),
        ("inf of other sign", [INF, 1], [-INF, 1], None),
        ("inf of other sign, reference", [INF, 1], [-INF, 1], [INF, 1]),
        ("inf in eager", [INF, 1], [7, 1], None),
        ("inf in eager, reference finite", [INF, 1], [7, 1], [7, 1]),
        ("inf in result", [7, 1], [INF, 1], None),
        ("inf in result, reference", [7, 1], [INF, 1], [7, 1]),
        ("inf in all, else far", [INF, 1], [INF, 3], [INF, 1]),
        ("large", [3e38, 1], [-3e38, 1], None),
    ):
        case(f"{name}, equal_nan {en}", t(a), t(b), None if f is None else t(f, F64), equal_nan=en)
for d in (F16, BF16):
    case(f"{d} overflows in the difference", t([6e4, 1.0], d), t([-6e4, 1.0], d))
    case(f"{d} nan", t([NAN, 1.0], d), t([NAN, 1.0], d))
    case(f"{d} nan in eager, result right", t([NAN, 1.0], d), t([2.0, 1.0], d), t([2.05, 1.0], F64))

# What is not floating.
for d in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
    for ig in (False, True):
        case(f"{d} equal, ignore {ig}", t([0, 1, 1], d), t([0, 1, 1], d), ignore_non_fp=ig)
        case(f"{d} off by one, ignore {ig}", t([0, 1, 1], d), t([1, 1, 1], d), ignore_non_fp=ig)
        case(f"{d} off by minus one, ignore {ig}", t([1, 1, 1], d), t([0, 1, 1], d), ignore_non_fp=ig)
case("int64 large, within the tolerance", t([10**6], torch.int64), t([10**6 + 900], torch.int64))
case("int64 large, beyond it", t([10**6], torch.int64), t([10**6 + 1100], torch.int64))
case("int8 wraps", t([127], torch.int8), t([-127], torch.int8), tol=2e-2)
case("int8 wraps to 128", t([64], torch.int8), t([-64], torch.int8), tol=2e-2)
case("int64 with a float64 reference", t([5], torch.int64), t([6], torch.int64), t([6.0], F64))
case("int64 ignored, but with a float64 reference", t([5], torch.int64), t([9], torch.int64), t([5.0], F64), ignore_non_fp=True)
case("float ignored for lack of a float64 reference", t([5.0]), t([9.0]), t([5.0]), ignore_non_fp=True)
case("float without any reference while others are ignored", t([5.0]), t([9.0]), ignore_non_fp=True)
case("float with a reference while others are ignored", t([5.0]), t([9.0]), t([5.0], F64), ignore_non_fp=True)
for ex in (False, True):
    for a, b in ((F32, F64), (F64, F32), (F16, F32), (F32, BF16), (torch.int64, torch.int32), (torch.int64, F32), (F32, torch.int64)):
        case(f"{a} and {b}, exact {ex}", t([1, 300], a), t([1, 300], b), exact_dtype=ex)
        case(f"{a} and {b}, far, exact {ex}", t([1, 300], a), t([1, 333], b), exact_dtype=ex)
    case(f"rounds to the same, exact {ex}", t([1.0009]), t([1.0], BF16), exact_dtype=ex)

# Shapes.
case("empty", t([]), t([]))
case("empty, 0 by 3", torch.zeros(0, 3), torch.zeros(0, 3))
case("no dimensions", t(1.0), t(1.0))
case("no dimensions, far", t(1.0), t(1.1))
case("sizes", t([1.0, 2]), t([1.0, 2, 3]))
case("more dimensions", torch.ones(2, 3), torch.ones(6))
case("sizes that broadcast", torch.ones(3), torch.ones(1))
case("sizes that broadcast, float64", torch.ones(2, 1, dtype=F64), torch.ones(1, 2, dtype=F64))
case("strides do not matter", torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(3, 2).t().contiguous().t().reshape(3, 2).t() * 0 + torch.arange(6.0).reshape(2, 3))

# Directions.
for name, a, b in (
    ("equal", [1.0, 2], [1.0, 2]), ("zeros", [0.0, 0], [0.0, 0]), ("scaled", [1.0, 2], [10.0, 20]), ("opposite", [1.0, 2], [-1.0, -2]),
    ("near", [1.0, 2], [1.1, 2]), ("at the border", [1.0, 0], [1.0, 0.1425]), ("beyond it", [1.0, 0], [1.0, 0.1426]), ("nan", [NAN, 1], [NAN, 1]),
    ("nan in one", [NAN, 1], [1.0, 1]), ("zero and not", [0.0, 0], [1.0, 1]), ("inf", [INF, 1], [INF, 2]), ("tiny", [1e-8, 0], [0.0, 1e-2]),
):
    case(f"cosine {name}", t(a), t(b), cos_similarity=True)
case("cosine of half", t([1.0, 2], F16), t([10.0, 20], F16), cos_similarity=True)
case("cosine of ints", t([1, 2], torch.int64), t([10, 20], torch.int64), cos_similarity=True)
case("cosine of float64, equal in float32", t([1.0, 2], F64), t([1.0 + 1e-9, 2], F64), cos_similarity=True, tol=0.0)
case("cosine of bools", t([1, 0], torch.bool), t([0, 1], torch.bool), cos_similarity=True)

# Containers and other values.
x, y = t([1.0]), t([2.0])
case("lists", [x, y], [x, y])
case("lists differ", [x, y], [x, x])
case("lists of other length", [x, y], [x])
case("list and tensor", [x], x)
case("tensor and list", x, [x])
case("nested", [x, [y, None]], [x, [y, None]])
case("nested differ", [x, [y, None]], [x, [x, None]])
case("nested with references", [x, [y]], [x, [t([2.5])]], [x.double(), [t([2.25], F64)]])
case("none", None, None)
case("none and tensor", None, x)
case("tensor and none", x, None)
case("tensor and none, ignored", x, None, ignore_non_fp=True)
case("none and tensor, ignored", None, x, ignore_non_fp=True)
case("dicts", {"a": x, "b": y}, {"b": y, "a": x})
case("dicts differ", {"a": x, "b": y}, {"b": x, "a": x})
case("dicts with other keys", {"a": x}, {"b": x})
case("dict and list", {"a": x}, [x])
case("dicts with references", {"a": x, "b": y}, {"b": t([2.5]), "a": x}, {"b": t([2.25], F64), "a": x.double()})
for ig in (False, True):
    case(f"ints, ignore {ig}", 3, 4, ignore_non_fp=ig)
    case(f"strings, ignore {ig}", "a", "b", ignore_non_fp=ig)
    case(f"bools, ignore {ig}", True, False, ignore_non_fp=ig)
case("equal ints", 3, 3)
case("equal strings", "a", "a")
case("int and float of equal value", 3, 3.0)
case("bool and int of equal value", True, 1)
case("int and string", 3, "3")
case("floats", 1.0, 1.0005)
case("floats far", 1.0, 1.1)
case("floats, nan", NAN, NAN)
case("floats beyond the tolerance with a reference", 1.0, 1.1, 1.1)
case("float and int", 1.0, 1)
case("float and tensor", 1.0, t(1.0))
case("tensor and float", t(1.0), 1.0)
case("float and string", 1.0, "1.0")
case("float and none", 1.0, None)

# At random, near where the verdict turns.
for i in range(80):
    d = rng.choice((F32, F32, F16, BF16, F64))
    n = rng.choice((1, 3, 17, 40, 64))
    tol = rng.choice((1e-4, 1e-3, 1e-2, 2e-2))
    f = torch.randn(n, dtype=F64, generator=gen) * 10 ** rng.uniform(-3, 3)
    noise = lambda k: torch.randn(n, dtype=F64, generator=gen) * k
    s = 10 ** rng.uniform(-6, 0)
    ref, res = (f + noise(s)).to(d), (f + noise(s * rng.uniform(0.5, 4))).to(d)
    if rng.random() < 0.1:
        res[rng.randrange(n)] = rng.choice((NAN, INF))
    known = rng.random() < 0.8
    case(f"random {i}", ref, res, f if known else None, tol=tol, equal_nan=rng.random() < 0.5,
         ignore_non_fp=known and rng.random() < 0.2, larger=rng.random() < 0.2)

print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
