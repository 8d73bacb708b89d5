"""Operators as PyTorch writes them down in Python for reference: here the operators themselves, and tensors that are put together of others."""
import torch

__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil", "conj_physical", "cos", "cosh", "count_nonzero", "deg2rad", "digamma", "erf",
    "erfinv", "erfc", "exp", "expm1", "exp2", "fill", "floor", "frac", "index_add", "index_copy", "index_select", "index_fill", "isfinite", "isinf", "isposinf",
    "isneginf", "isnan", "isreal", "i0", "lerp", "lgamma", "log", "log1p", "log2", "log10", "log_softmax", "mvlgamma", "norm", "normal", "nan_to_num", "neg", "positive",
    "rad2deg", "reciprocal", "round", "sigmoid", "sgn", "sign", "signbit", "sin", "sinc", "sinh", "softmax", "sqrt", "square", "tan", "tanh", "trace", "trunc", "add",
    "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "clamp_min", "clamp_max", "copysign", "div", "eq", "float_power",
    "floor_divide", "fmax", "fmin", "fmod", "gcd", "ge", "gt", "heaviside", "hypot", "igamma", "igammac", "imag", "isclose", "lcm", "le", "logaddexp", "logaddexp2",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "lt", "maximum", "minimum", "mul", "ne", "nextafter", "pow", "real", "rpow", "remainder",
    "rsub", "rtruediv", "rfloordiv", "sub", "true_divide", "xlogy", "addcdiv", "addcmul", "clamp", "masked_fill", "masked_fill_", "where", "clone", "copy_to", "item", "to",
    "all", "amax", "amin", "any", "cumsum", "cumprod", "mean", "dot", "vdot", "std", "std_mean", "sum", "sum_to_size", "prod", "var", "var_mean", "addr", "alias",
    "alias_copy", "atleast_1d", "atleast_2d", "atleast_3d", "as_strided", "as_strided_copy", "as_strided_scatter", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "broadcast_to", "bucketize", "cat", "chunk", "column_stack", "conj", "constant_pad_nd", "contiguous", "diag_embed", "diag", "diagonal", "diagonal_copy",
    "diagonal_scatter", "dsplit", "dstack", "expand", "expand_as", "expand_copy", "flatten", "flip", "fliplr", "flipud", "hsplit", "hstack", "meshgrid", "movedim", "narrow",
    "narrow_copy", "native_group_norm", "native_layer_norm", "permute", "permute_copy", "ravel", "repeat", "reshape", "reshape_as", "roll", "rot90", "rsqrt",
    "split_with_sizes", "stack", "swap_axes", "squeeze", "squeeze_copy", "t", "t_copy", "T", "take_along_dim", "tensor_split", "transpose", "transpose_copy", "unbind_copy",
    "unfold", "unfold_copy", "unsqueeze", "unsqueeze_copy", "view", "view_as", "view_copy", "vsplit", "vstack", "view_as_complex", "unflatten", "unbind", "triu", "tril",
    "triu_indices", "tril_indices", "arange", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "full", "full_like", "geometric", "linspace",
    "log_normal", "logspace", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros", "ones", "ones_like", "randn", "scalar_tensor", "zero", "zeros",
    "zeros_like", "allclose", "equal", "stft", "istft", "renorm", "tensor",
]
_METHODS = {"T": lambda a: a.T, "view": lambda a, *shape: a.view(*shape), "swap_axes": lambda a, x, y: a.transpose(x, y), "copy_to": lambda a, b, **kw: a.copy_(b, **kw)}


def __getattr__(name):
    if name in ("nn", "linalg", "special", "fft"):
        import importlib

        return importlib.import_module("torch._refs." + name)
    if name in _METHODS:
        return _METHODS[name]
    if name in __all__ or name.endswith("_") and name[:-1] in __all__:
        f = getattr(torch, name, None) or getattr(torch.Tensor, name, None)
        if f is not None:
            return f
    raise AttributeError(f"module 'torch._refs' has no attribute '{name}'")


def _dtype(data):
    """The dtype that numbers and tensors in lists have together."""
    if isinstance(data, torch.Tensor):
        return data.dtype
    if isinstance(data, (list, tuple)):
        found = None
        for x in data:
            d = _dtype(x)
            found = d if found is None else torch.promote_types(found, d)
        return found or torch.get_default_dtype()
    if isinstance(data, (bool, torch.SymBool)):
        return torch.bool
    if isinstance(data, (int, torch.SymInt)):
        return torch.int64
    if isinstance(data, complex):
        return torch.complex128 if torch.get_default_dtype() == torch.float64 else torch.complex64
    return torch.get_default_dtype()


def _built(data, dtype, device):
    if isinstance(data, torch.Tensor):
        return data.detach().to(dtype=dtype, device=device, copy=True)
    if isinstance(data, (list, tuple)):
        return torch.stack([_built(x, dtype, device).view(()) if isinstance(x, torch.Tensor) else _built(x, dtype, device) for x in data])
    return torch.scalar_tensor(data, dtype=dtype, device=device)


def tensor(data, *, dtype=None, device=None, pin_memory=False, requires_grad=False):
    """torch.tensor of numbers and tensors with one element, which may lie in lists: by operators, which a graph can hold."""
    t = _built(data, dtype or _dtype(data), device)
    if requires_grad:
        t.requires_grad_(True)
    return t
