"""What repro files call: reading their inputs, running forward and maybe backward."""
import os

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
    grads = [a.grad for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    return list(_leaves(out)) + [g for g in grads if g is not None]


def same_two_models(gm, opt_gm, example_inputs, only_fwd=False, *, require_fp64=False, ignore_non_fp=False):
    from torch._dynamo.utils import same

    ref = run_fwd_maybe_bwd(gm, example_inputs, only_fwd)
    res = run_fwd_maybe_bwd(opt_gm, example_inputs, only_fwd)
    return same(list(_leaves(ref)), list(_leaves(res)), tol=torch._dynamo.config.repro_tolerance, equal_nan=True)
