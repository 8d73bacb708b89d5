# Operators, one at a time: a line of standard input names a row, and is answered by a line with its times. A row is a record of a call, whose tensors
# are made larger, or one of the functions of ROWS (rows.py, put before this text).
import base64
import json
import math
import sys
import time

import torch

torch.set_num_threads(2)
LARGEST = 1 << 24  # elements that a result may have


def filled(shape, t, transposed):
    """A tensor of the shape and type, with the values of the record's tensor one after the other, again and again."""
    d = getattr(torch, t["t"])
    x = torch.frombuffer(bytearray(base64.b64decode(t["data"])), dtype=d)
    n = math.prod(shape)
    x = x.repeat(-(-n // x.numel()))[:n].reshape(shape)
    if transposed and len(shape) > 1:
        return x.transpose(-1, -2).contiguous().transpose(-1, -2)
    return x.contiguous()


def value(v, k, transposed):
    """An argument of a record; a size above 1 of a tensor becomes k times as large."""
    if isinstance(v, list):
        return [value(x, k, transposed) for x in v]
    if not isinstance(v, dict):
        return v
    if "t" in v:
        shape = [s * k if s > 1 else s for s in v["shape"]]
        if math.prod(shape) == 0:
            return torch.zeros(shape, dtype=getattr(torch, v["t"]))
        return filled(shape, v, transposed)
    (kind, x), = v.items()
    if kind == "float":
        return float(x)
    if kind == "tuple":
        return tuple(value(y, k, transposed) for y in x)
    if kind == "complex":
        return complex(float(x[0]), float(x[1]))
    if kind == "slice":
        return slice(*(value(y, k, transposed) for y in x))
    if kind == "ellipsis":
        return ...
    if kind == "device":
        return torch.device(x)
    return getattr(torch, x)  # a dtype, layout or memory format


def call(row):
    """What a row does, as a function without arguments."""
    if "args" not in row:
        return ROWS[row["row"]]()
    args = [value(v, row["k"], row["transposed"]) for v in row["args"]]
    kwargs = {name: value(v, row["k"], row["transposed"]) for name, v in row["kwargs"].items()}
    name = row["call"]
    if name.startswith("Tensor."):
        name = name[len("Tensor."):]
        if not callable(getattr(torch.Tensor, name, None)):
            return lambda: getattr(args[0], name)
        return lambda: getattr(args[0], name)(*args[1:], **kwargs)
    f = torch
    for part in name.split(".")[1:]:
        f = getattr(f, part)
    return lambda: f(*args, **kwargs)


def large(out):
    if isinstance(out, (list, tuple)):
        return any(large(x) for x in out)
    return isinstance(out, torch.Tensor) and out.numel() > LARGEST


def seconds(f, budget, least):
    """Times of calls, one after the other, for so long, and at least so many."""
    out, left = [], budget
    while len(out) < least or left > 0 and len(out) < 200:
        begin = time.perf_counter()
        f()
        t = time.perf_counter() - begin
        out.append(t)
        left -= t
    return out


def answer(row):
    if not row["row"]:
        return {"rows": list(ROWS)}
    with torch.set_grad_enabled("args" not in row):
        f = call(row)
        begin = time.perf_counter()
        out = f()
        first = time.perf_counter() - begin
        if large(out):
            return {"error": "the result is too large", "first": 1e9}
        del out
        if row["first"]:
            return {"first": first}
        return {"seconds": seconds(f, row["budget"], 3)}


for line in sys.stdin:
    row = json.loads(line)
    try:
        reply = answer(row)
    except Exception as e:
        text = str(e).strip().split("\n")
        reply = {"error": type(e).__name__ + ": " + text[0][:200]}
        if "memory" in reply["error"]:
            reply["first"] = 1e9
    print(json.dumps(reply), flush=True)
