"""Counting the floating point operations of a program, by its modules."""
import math
import warnings
from collections import defaultdict

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = torch.ops.aten
flop_registry = {}
suffixes = ["", "K", "M", "B", "T"]


def get_shape(i):
    return i.shape if isinstance(i, torch.Tensor) else i


def shape_wrapper(f):
    """A formula that takes shapes as one that takes tensors."""

    def of_tensors(*args, out_val=None, **kwargs):
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)

    of_tensors._formula = f
    return of_tensors


def register_flop_formula(targets, get_raw=False):
    """Has a formula count the operations of operators: from the shapes of arguments and out_shape, or with get_raw from the tensors and out_val."""

    def register(formula):
        wrapped = formula if get_raw else shape_wrapper(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if not isinstance(target, torch._ops.OpOverloadPacket):
                raise ValueError(f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), got {target} which is of type {type(target)}")
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = wrapped
        return formula

    return register


@register_flop_formula(aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    (m, k), (k2, n) = a_shape, b_shape
    if k != k2:
        raise AssertionError
    return m * n * 2 * k


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    (b, m, k), (b2, k2, n) = a_shape, b_shape
    if b != b2 or k != k2:
        raise AssertionError
    return b * m * n * 2 * k


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Each number of the result, or of the input where the convolution is transposed, is multiplied with the whole filter."""
    places = (x_shape if transposed else out_shape)[2:]
    return x_shape[0] * math.prod(places) * w_shape[0] * w_shape[1] * math.prod(w_shape[2:]) * 2


@register_flop_formula([aten.convolution, aten._convolution])
def conv_flop(x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, *args, out_shape=None, **kwargs):
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(grad_out_shape, x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, _output_padding, _groups, output_mask, out_shape):
    """The gradient of the input is a convolution the other way, and that of the filter one of the input with what arrives."""

    def turned(shape):
        return [shape[1], shape[0], *shape[2:]]

    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        x, g = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        count += conv_flop_count(turned(x), turned(g), turned(out_shape[1]), transposed=False)
    return count


def sdpa_flop_count(query_shape, key_shape, value_shape):
    """The products of queries with keys, and of the scores with values."""
    b, h, q, d = query_shape
    b2, h2, k, d2 = key_shape
    b3, h3, k2, dv = value_shape
    if not (b == b2 == b3 and h == h2 == h3 and d == d2 and k == k2):
        raise AssertionError
    return bmm_flop((b * h, q, d), (b * h, d, k)) + bmm_flop((b * h, q, k), (b * h, k, dv))


def sdpa_flop(query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape):
    """The scores once more, and the gradients of scores, values, queries and keys."""
    b, h, q, d = query_shape
    _, _, k, _ = key_shape
    _, _, _, dv = value_shape
    return bmm_flop((b * h, q, d), (b * h, d, k)) + bmm_flop((b * h, q, dv), (b * h, dv, k)) + bmm_flop((b * h, k, q), (b * h, q, dv)) + bmm_flop((b * h, q, k), (b * h, k, d)) + bmm_flop((b * h, d, q), (b * h, q, k))


def sdpa_backward_flop(grad_out_shape, query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)


for _names, _formula in [
    (("_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention", "_scaled_dot_product_cudnn_attention"), sdpa_flop),
    (("_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_flash_attention_backward", "_scaled_dot_product_cudnn_attention_backward"), sdpa_backward_flop),
]:
    for _name in _names:
        if hasattr(aten, _name):
            register_flop_formula(getattr(aten, _name))(_formula)


def normalize_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def get_suffix_str(number):
    """The unit in which a number has at most four digits before the point."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number, suffix):
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num, denom):
    return "0%" if denom == 0 else f"{num / denom:.2%}"


def _table(values, headers):
    """Rows under heads: the first column to the left, the others to the right."""
    widths = [max([len(h) + 2, *(len(r[i]) for r in values)]) for i, h in enumerate(headers)]

    def row(cells):
        return "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths)))

    return "\n".join([row(headers), "  ".join("-" * w for w in widths), *map(row, values)])


class FlopCounterMode:
    """Counts what the operators of its block do, for all modules that run, and prints a table of it at the end."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.depth, self.display = depth, display
        self.mode = None
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_registry = {**flop_registry, **{k: v if getattr(v, "_get_raw", False) else shape_wrapper(v) for k, v in (custom_mapping or {}).items()}}
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self):
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """From names of modules to the counts of operators."""
        return {str(k): dict(v) for k, v in self.flop_counts.items()}

    def get_table(self, depth=None):
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        unit = get_suffix_str(total)
        covered = False

        def rows(name, indent):
            nonlocal covered
            counts = self.flop_counts[name]
            own = sum(counts.values())
            covered = covered or own >= total
            out = [[" " * indent + name, convert_num_with_suffix(own, unit), convert_to_percent_str(own, total)]]
            for op, n in counts.items():
                out.append([" " * indent + f" - {op}", convert_num_with_suffix(n, unit), convert_to_percent_str(n, total)])
            return out

        values = []
        for name in sorted(self.flop_counts):
            if name != "Global" and name.count(".") < depth:
                values += rows(name, name.count("."))
        if "Global" in self.flop_counts and not covered:
            values = rows("Global", 0) + [[" " + r[0], *r[1:]] for r in values]
        return _table(values or [["Global", "0", "0%"]], ["Module", "FLOP", "% Total"])

    def __enter__(self):
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Counting(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *args):
        if self.mode is None:
            raise AssertionError("Internal error: FlopCounter.__exit__ called but mode is None")
        b = self.mode.__exit__(*args)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))
        return b

    def _count_flops(self, func_packet, out, args, kwargs):
        if func_packet in self.flop_registry:
            n = self.flop_registry[func_packet](*args, **kwargs, out_val=out)
            for par in set(self.mod_tracker.parents):
                self.flop_counts[par][func_packet] += n
        return out


class _Counting(TorchDispatchMode):
    supports_higher_order_operators = True

    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        return self.counter._count_flops(func._overloadpacket, out, args, kwargs)
