"""Whether a result differs from eager by more than rounding explains.

A graph is run eagerly several times, each time with its floating-point work rounded otherwise: inputs and parameters are moved by up to
an ulp, so is what every operator gives that may be rounded otherwise, and what an operator adds up is disturbed as if it were added one by
one from either end. What IEEE arithmetic rounds in one way only stays: a sum of two is not free to lose more digits than it has to.
The largest deviation of these runs from the undisturbed one is the noise of each element. A result differs from eager where its distance
is more than FACTOR times the noise and ULPS ulps."""
import contextlib

RUNS, FACTOR, ULPS = 8, 16, 4

# What operators add up, by name: the argument that is disturbed, and along which of its dimensions. "dim": those that the argument of that
# name says; "shape": as many of the last as there are sizes in the next argument; None: all.
SUMS = {
    **dict.fromkeys(["sum", "mean", "nansum", "var", "std", "var_mean", "std_mean", "norm", "linalg_vector_norm", "logsumexp", "prod", "cumsum", "cumprod", "logcumsumexp", "softmax",
                     "log_softmax", "_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data"], (0, "dim")),
    **dict.fromkeys(["mm", "bmm", "mv", "dot", "vdot", "linear", "matmul"], (0, (-1,))),
    **dict.fromkeys(["addmm", "baddbmm", "addbmm", "addmv"], (1, (-1,))),
    **dict.fromkeys(["layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm"], (0, "shape")),
    **dict.fromkeys(["adaptive_avg_pool2d", "_adaptive_avg_pool2d"], (0, (-2, -1))),
    **dict.fromkeys(["conv1d", "conv2d", "conv3d", "convolution", "_convolution", "mkldnn_convolution"], (1, (1, 2, 3, 4))),
    **dict.fromkeys(["native_group_norm", "group_norm"], (0, (1, 2, 3, 4))),
    **dict.fromkeys(["native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_functional", "_batch_norm_with_update", "batch_norm", "cudnn_batch_norm"], (0, (0, 2, 3, 4))),
    **dict.fromkeys(["convolution_backward", "native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward", "batch_norm_backward", "mse_loss", "l1_loss",
                     "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "nll_loss_forward", "nll_loss2d_forward", "embedding_dense_backward", "trace", "_trilinear", "cdist", "_cdist_forward",
                     "_cdist_backward"], (0, None)),
    **dict.fromkeys(["index_put", "index_put_", "_unsafe_index_put"], (2, None)),
    **dict.fromkeys(["index_add", "index_add_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_", "index_reduce", "index_reduce_"], (3, None)),
}

# What has one result in every implementation, unless half precision is computed in float32: sums of two, choices and copies. Products are not
# among them, as a fused multiply-add does not round them.
EXACT = {"add", "sub", "rsub", "neg", "abs", "relu", "where", "cat", "stack", "clone", "copy", "maximum", "minimum", "amax", "amin", "max", "min", "clamp", "clamp_min", "clamp_max",
         "index", "index_select", "gather", "scatter", "slice_scatter", "select_scatter", "threshold", "threshold_backward", "ceil", "floor", "round", "trunc", "sign", "sort", "topk",
         "constant_pad_nd", "masked_fill", "repeat", "flip", "roll", "tril", "triu", "fill", "zero", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full",
         "embedding", "slice_backward", "select_backward", "max_pool2d_with_indices", "_to_copy", "hardtanh", "leaky_relu", "contiguous", "max_pool2d", "reshape", "_unsafe_view"}


def is_strict(job):
    """Whether a repro asks for a comparison with eager itself: it is strict, and PyTorch's settings want no float64 or leave no tolerance."""
    from torch._dynamo import config
    return job.get("accuracy") == "strict" and (not config.same_two_models_use_fp64 or config.repro_tolerance == 0)


def ulp(dtype):
    import torch
    return torch.finfo(dtype).eps


def fuzzy(v):
    import torch
    return isinstance(v, torch.Tensor) and (v.dtype.is_floating_point or v.dtype.is_complex) and v.layout == torch.strided and v.dtype.itemsize > 1


class Rounding:
    """One way to round otherwise, drawn from a seed of its own: the program's random numbers stay what they are."""

    def __init__(self, seed):
        import torch
        self.draws = torch.Generator().manual_seed(seed)

    def signs(self, *shape):
        import torch
        return torch.rand(shape, generator=self.draws, dtype=torch.float64) * 2 - 1

    def moved(self, t, by):
        import torch
        wide = torch.complex128 if t.dtype.is_complex else torch.float64
        return (t.to(wide) * (1 + by)).to(t.dtype)

    def nudge(self, t):
        """Moves each element by up to an ulp."""
        t.copy_(self.moved(t, ulp(t.dtype) * self.signs(*t.shape)))

    def nudge_all(self, values):
        """Moves what lies in the memory of some tensors: those that share it still do."""
        import torch
        seen = set()
        with torch.no_grad():
            for t in values:
                if not fuzzy(t) or t.device.type != "cpu" or t.untyped_storage()._cdata in seen:
                    continue
                seen.add(t.untyped_storage()._cdata)
                with contextlib.suppress(RuntimeError):  # no memory: a ZeroTensor
                    self.nudge(torch.empty(0, dtype=t.dtype).set_(t.untyped_storage()))

    def walk(self, t, dims):
        """A copy with errors that add up along dims, as those of a sum of one element after the other do."""
        import torch
        if not t.numel() or not t.dim():
            return t
        dims = sorted({d % t.dim() for d in (range(t.dim()) if dims is None else dims) if -t.dim() <= d < t.dim()})
        order = [d for d in range(t.dim()) if d not in dims] + dims
        rows = t.permute(order)
        n = 1
        for d in dims:
            n *= t.shape[d]
        errors = (self.signs(t.numel() // n, n) * min(ulp(t.dtype), ulp(torch.float32))).cumsum(1)  # half precision is added up in float32
        if self.signs(1).item() < 0:
            errors = errors.flip(1)
        out = torch.empty_like(t)
        out.permute(order).copy_(self.moved(rows, errors.reshape(rows.shape)))
        return out

    def mode(self):
        """Everything that runs under it is rounded otherwise, backward as well."""
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode
        from torch.utils._pytree import tree_leaves
        rounding = self

        class Otherwise(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                kwargs = kwargs or {}
                given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
                out = func(*rounding.added(func, args, kwargs), **kwargs)
                exact = func._schema.name.partition("::")[2].removesuffix("_") in EXACT
                if any(fuzzy(t) for t in given):
                    held = () if func._schema.is_mutable else {t.untyped_storage()._cdata for t in given if t.layout == torch.strided}
                    for t in tree_leaves(out):
                        if fuzzy(t) and not (exact and t.dtype.itemsize >= 4) and t.untyped_storage()._cdata not in held:  # a view has been rounded
                            rounding.nudge(t)
                return out

        return Otherwise()

    def added(self, func, args, kwargs):
        name = func._schema.name.partition("::")[2]
        at, dims = SUMS.get(name, (None, None))
        if name.startswith("_scaled_dot_product"):
            at, dims = 2, (-2,)
        if at is None or at >= len(args) or not fuzzy(args[at]):
            return args
        if dims == "dim":
            names = [a.name for a in func._schema.arguments]
            i = names.index("dim") if "dim" in names else len(args)
            dims = kwargs.get("dim", args[i] if i < len(args) else None)
            dims = [dims] if isinstance(dims, int) else dims or None
        elif dims == "shape":
            dims = range(-len(args[at + 1]), 0)
        args = list(args)
        args[at] = self.walk(args[at], dims)
        return args


def runs_of(run):
    """The results of run(rounding) for RUNS roundings. It nudges its inputs and parameters itself."""
    out = []
    for seed in range(1, RUNS + 1):
        rounding = Rounding(seed)
        out.append(run(rounding))
    return out


def far(ref, got, runs, tol=0.0):
    """How got differs from ref by more than the noise of runs and a tolerance allow, in words; "" where it does not."""
    from torch.utils._pytree import tree_leaves
    a, b, c = tree_leaves(ref), tree_leaves(got), [tree_leaves(r) for r in runs]
    if len(a) != len(b):
        return "%d values and %d" % (len(a), len(b))
    for i, (x, y) in enumerate(zip(a, b)):
        said = _far(x, y, [r[i] for r in c if len(r) == len(a)], tol)
        if said:
            return "value %d: %s" % (i, said)
    return ""


def _far(x, y, runs, tol):
    import torch
    if isinstance(x, float):
        x, y = torch.tensor(x), torch.tensor(y) if isinstance(y, (int, float)) else y
        runs = [torch.tensor(r) for r in runs]
    if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
        same = isinstance(x, torch.Tensor) == isinstance(y, torch.Tensor) and (x is y or bool(x == y))
        return "" if same else "%r and %r" % (x, y)
    if x.dtype != y.dtype or x.shape != y.shape:
        return "%s%s and %s%s" % (x.dtype, list(x.shape), y.dtype, list(y.shape))
    x, y = x.detach(), y.detach()
    runs = [r.detach() for r in runs if isinstance(r, torch.Tensor) and r.shape == x.shape]
    equal = x == y
    if not fuzzy(x):
        for r in runs:
            equal = equal | (r != x)
        return "" if bool(equal.all()) else "an integer or boolean differs, and no other rounding changes it"
    wide = torch.complex128 if x.dtype.is_complex else torch.float64
    eps, x, y, runs = ulp(x.dtype), x.to(wide), y.to(wide), [r.to(wide) for r in runs]

    def apart(v):
        d = (v - x).abs()
        return torch.where(d.isnan(), float("inf"), d).masked_fill((v == x) | v.isnan() & x.isnan(), 0.0)

    noise = torch.zeros(x.shape, dtype=torch.float64)
    for r in runs:
        noise = torch.maximum(noise, apart(r))
    size = torch.where(x.isfinite(), x.abs(), 0.0)
    allowed = torch.maximum(FACTOR * noise + ULPS * eps * size, tol + tol * torch.where(y.isfinite(), y.abs(), 0.0))
    distance = apart(y)
    wrong = distance > allowed
    if not bool(wrong.any()):
        return ""
    i = torch.where(wrong, distance / allowed.clamp_min(1e-300), -1.0).argmax()
    return "%.3g away from eager, whose own noise is %.3g" % (distance.reshape(-1)[i].item(), noise.reshape(-1)[i].item())
