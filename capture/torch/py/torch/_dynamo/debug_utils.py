"""What repro files call: writing and reading their inputs, running forward and maybe backward."""
import hashlib
import inspect
import os
import re
import types

import torch
from torch.nn.modules.module import Module


class InputReader:
    """Answers load_args(reader): makes storages, tensors and symbolic sizes."""

    def __init__(self, save_dir=None, *, pbar=None):
        self.save_dir = save_dir
        self.args = []

    def storage(self, storage_hash, nbytes, *, device=None, dtype_hint=None):
        dtype = torch.float32 if dtype_hint is None else dtype_hint
        n = nbytes // dtype.itemsize
        if storage_hash is not None and self.save_dir is not None:
            path = os.path.join(self.save_dir, "storages", storage_hash)
            if os.path.exists(path):
                return torch._C._dynamo.read_storage(path, dtype)
        from torch._dynamo.testing import rand_strided

        return rand_strided((n,), (1,), dtype, "cpu")

    def tensor(self, storage, shape, stride=None, *, storage_offset=None, dtype=None, requires_grad=None, is_leaf=None, **metadata):
        dtype = torch.float32 if dtype is None else dtype
        if stride is None:
            stride, step = [], 1
            for s in reversed(shape):
                stride.insert(0, step)
                step *= max(s, 1)
        if isinstance(storage, torch.UntypedStorage):
            storage = storage._bytes
        base = storage if storage.dtype == dtype else storage.view(dtype)
        t = torch.as_strided(base.detach(), tuple(shape), tuple(stride), storage_offset or 0)
        if requires_grad:
            t = t.detach().requires_grad_(True)
            if not is_leaf:
                # A result of an operator, over the same memory as all that is read of the storage.
                with torch.enable_grad():
                    made = t.clone()
                with torch.no_grad():
                    made.set_(t)
                t = made
        for k, v in metadata.items():
            setattr(t, k, v)
        self.args.append(t)
        return t

    def symint(self, val):
        self.args.append(val)
        return val

    def const(self, name):
        self.args.append(None)
        return None


class NopInputReader:
    """Counts what load_args asks for and makes none of it."""

    def __init__(self):
        self.total = 0

    def storage(self, storage_hash, nbytes, *, device=None, dtype_hint=None):
        self.total += 1

    def tensor(self, *args, **kwargs):
        pass

    def symint(self, *args, **kwargs):
        pass

    def const(self, *args, **kwargs):
        pass


class InputWriter:
    """Writes the body of load_args(reader), and the bytes of storages into save_dir by their hash."""

    def __init__(self, save_dir, *, stable_hash=False):
        self._lines = []
        self.save_dir, self.stable_hash = save_dir, stable_hash
        self.seen_storages = {}

    def lines(self):
        return ["def load_args(reader):", *(f"    {l}" for l in self._lines), "load_args._version = 0"]

    def storage(self, untyped_storage, *, device_hint=None, dtype_hint=None):
        key = untyped_storage.data_ptr(), untyped_storage.nbytes()
        if key in self.seen_storages:
            return self.seen_storages[key]
        name = f"buf{len(self.seen_storages)}"
        data = bytes(untyped_storage)
        digest = None
        if self.save_dir is not None:
            digest = hashlib.sha1(data).hexdigest()
            where = os.path.join(self.save_dir, "storages")
            os.makedirs(where, exist_ok=True)
            torch.save(untyped_storage, os.path.join(where, digest))
        hint = "" if dtype_hint is None or dtype_hint == torch.float32 else f", dtype_hint={dtype_hint!r}"
        self._lines.append(f"{name} = reader.storage({digest!r}, {untyped_storage.nbytes()!r}{hint})")
        self.seen_storages[key] = name
        return name

    def tensor(self, name, t):
        storage = self.storage(t.untyped_storage(), dtype_hint=t.dtype, device_hint=t.device)
        args = [storage, str(tuple(t.shape))]
        strides, step = [], 1
        for n in reversed(t.shape):
            strides.insert(0, step)
            step *= max(n, 1)
        if tuple(strides) != tuple(t.stride()):
            args.append(str(tuple(t.stride())))
        if t.dtype != torch.float32:
            args.append(f"dtype={t.dtype!r}")
        if t.storage_offset() != 0:
            args.append(f"storage_offset={t.storage_offset()!r}")
        if t.requires_grad:
            args.append("requires_grad=True")
        if t.is_leaf:
            args.append("is_leaf=True")
        self._lines.append(f"reader.tensor({', '.join(args)})  # {name}")

    def const(self, name):
        self._lines.append(f"reader.const({name!r})  # {name}, filtered out during compilation")

    def symint(self, name, val):
        self._lines.append(f"reader.symint({val!r})  # {name}")

    def unsupported(self, name, arg):
        self._lines.append(f"# {name} was unsupported type for dumping: {type(arg)}")


def generate_config_string(*, stable_output=False):
    """Statements that set what differs from the defaults."""
    import torch._functorch.config
    import torch._inductor.config

    lines = ["import torch._dynamo.config", "import torch._inductor.config", "import torch._functorch.config", "import torch.fx.experimental._config"]
    if stable_output:
        return "\n".join([*lines, "# config omitted due to stable_output=True"])
    for m in (torch._dynamo.config, torch._inductor.config, torch._functorch.config):
        lines.append(m.codegen_config())
    return "\n".join(l for l in lines if l) + "\n"


def aot_graph_input_parser(func, device="cuda", sym_shapes=None, default_sym_shape=None):
    """Arguments of a printed forward, made by the types of its parameters: f32[4, s0] is a tensor, Sym(s0) a size."""
    from torch.testing._internal.common_utils import dtype_abbrs

    dtypes = {v: k for k, v in dtype_abbrs.items()}
    sym_shapes = dict(sym_shapes or {})

    def symbol(name):
        size = sym_shapes.get(name, default_sym_shape)
        if size is None:
            raise RuntimeError(f"{name} not in symbolic_shapes and default sym shape not passed in")
        return size

    def dim(text):
        text = text.strip()
        return int(text) if text.lstrip("-").isdigit() else symbol(text)

    def value(text):
        text = text.strip("\"' ")
        if m := re.fullmatch(r"Sym\((.+)\)", text):
            return symbol(m[1])
        m = re.match(r"(\w+)\[(.*?)\]", text)
        if m is None or m[1] not in dtypes:
            raise NotImplementedError(f"an argument of type {text}")
        shape = tuple(dim(d) for d in m[2].split(",") if d.strip())
        dtype = dtypes[m[1]]
        if dtype.is_floating_point:
            return torch.randn(shape, dtype=dtype, device=device)
        return torch.ones(shape, dtype=dtype, device=device)

    # Further tensors that the graph reads as attributes are annotated where they are assigned.
    source = inspect.getsource(func)
    made = {n: value(a) for n, p in inspect.signature(func).parameters.items() if n != "self" for a in [p.annotation] if a is not inspect.Parameter.empty}
    holder = types.SimpleNamespace()
    for m in re.finditer(r"(\w+):\s*\"([^\"]+)\"\s*=\s*self\.(\w+)", source):
        setattr(holder, m[3], value(m[2]))
    if "self" in inspect.signature(func).parameters:
        made["self"] = holder
    return made


class AccuracyError(Exception):
    pass


def _leaves(x):
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, (list, tuple)):
        return [t for y in x for t in _leaves(y)]
    return []


def clone_inputs(args):
    out = []
    for a in args:
        if isinstance(a, torch.Tensor):
            out.append(a.detach().clone().requires_grad_(a.requires_grad))
        else:
            out.append(a)
    return out


def run_fwd_maybe_bwd(gm, args, only_fwd=False, disable_clone=False):
    """Runs gm, then backward where something asks for gradients; gives results and gradients."""
    if not disable_clone:
        args = clone_inputs(args)
    out = gm(*args)
    loss = [t for t in _leaves(out) if t.requires_grad]
    if only_fwd or not loss:
        return out
    total = loss[0].sum()
    for t in loss[1:]:
        total = total + t.sum()
    total.backward()
    grads = [a.grad for a in args if isinstance(a, torch.Tensor) and a.requires_grad and a.is_leaf]
    return list(_leaves(out)) + [g for g in grads if g is not None]


def same_two_models(gm, opt_gm, example_inputs, only_fwd=False, *, require_fp64=False, ignore_non_fp=False):
    from torch._dynamo.utils import same

    ref = run_fwd_maybe_bwd(gm, example_inputs, only_fwd)
    res = run_fwd_maybe_bwd(opt_gm, example_inputs, only_fwd)
    return same(list(_leaves(ref)), list(_leaves(res)), tol=torch._dynamo.config.repro_tolerance, equal_nan=True)
