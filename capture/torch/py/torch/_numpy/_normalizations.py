"""How functions take their arguments and give their results.

A function of the API is written on tensors. Each of its parameters that needs it is annotated with one of the converters below, which makes what
the function works with of what a program may pass. The parameters out and keepdims are seen to here, too.
"""

import functools
import inspect
import operator

import torch

from . import _dtypes, _dtypes_impl, _util


def _arrays():
    from . import _ndarray

    return _ndarray


def array(x, parameter=None):
    """Anything that an array can be made of."""
    return _arrays().asarray(x).tensor


def array_or_none(x, parameter=None):
    return None if x is None else array(x)


def operand(x, parameter=None):
    """An array, or a number, which stays weak."""
    return x if _dtypes_impl.is_scalar_or_symbolic(x) else array(x)


def operand_or_none(x, parameter=None):
    return None if x is None else operand(x)


def arrays(x, parameter=None):
    return tuple(array(y) for y in x)


def own(x, parameter):
    """An array that the function writes to."""
    if x is None:
        return None
    if not isinstance(x, _arrays().ndarray):
        raise TypeError(f"'{parameter.name}' must be an array")
    return x.tensor


def target(x, parameter):
    """The array that the result goes to, and that is the result."""
    if isinstance(x, torch.Tensor):
        x = _arrays().ndarray(x)
    if x is not None and not isinstance(x, _arrays().ndarray):
        raise TypeError(f"'{parameter.name}' must be an array")
    return x


def scalar_type(x, parameter=None):
    return None if x is None else _dtypes.dtype(x).torch_dtype


def axes(x, parameter=None):
    return operator.index(x) if isinstance(x, _arrays().ndarray) else x


def keep(x, parameter=None):
    """Whether reduced axes stay, one long."""
    return x


def rule(x, parameter=None):
    """A rule for casts."""
    if x not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{x}')")
    return x


def refused(x, parameter):
    """What tensors have no counterpart for: the default alone is taken."""
    if x != parameter.default:
        raise NotImplementedError(f"'{parameter.name}' parameter is not supported.")
    return x


def wrap_tensors(result):
    """The tensors of a result as arrays."""
    if isinstance(result, torch.Tensor):
        return _arrays().ndarray(result)
    if isinstance(result, (tuple, list)):
        items = [wrap_tensors(x) for x in result]
        return items if type(result) is list else tuple(items) if type(result) is tuple else type(result)(items)
    return result


def maybe_copy_to(out, result, promote_scalar_result=False):
    """The result in the array that was given for it."""
    if out is None:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(maybe_copy_to(o, r, promote_scalar_result) for o, r in zip(out, result))
    if not isinstance(result, torch.Tensor):
        raise AssertionError
    alike = tuple(result.shape) == out.shape
    if not alike and not (promote_scalar_result and result.numel() == 1 and out.ndim == 0):
        raise ValueError(f"Bad size of the out array: out.shape = {out.shape} while result.shape = {result.shape}.")
    out.tensor.copy_(result if alike else result.reshape(()))
    return out


def renamed(f, name):
    """f as a function of its own under another name."""

    @functools.wraps(f)
    def same(*args, **kwds):
        return f(*args, **kwds)

    same.__name__ = same.__qualname__ = name
    return same


def array_or_scalar(values, py_type=float, return_scalar=False):
    return py_type(values.item()) if return_scalar else _arrays().ndarray(values)


def normalizer(_func=None, *, promote_scalar_result=False):
    """Make a function on tensors one of the API, by the converters of its parameters."""
    if _func is None:
        return functools.partial(normalizer, promote_scalar_result=promote_scalar_result)
    parameters = inspect.signature(_func).parameters
    in_order = [p for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    places = {p.name: i for i, p in enumerate(in_order)}
    rest = in_order[0] if in_order and in_order[0].kind is inspect.Parameter.VAR_POSITIONAL else None
    keeps = "keepdims" in parameters and parameters["keepdims"].annotation is keep

    def converted(value, p):
        return value if p.annotation is p.empty else p.annotation(value, p)

    @functools.wraps(_func)
    def wrapped(*args, **kwds):
        if rest is not None:
            args = [converted(x, rest) for x in args]
        else:
            args = [converted(x, p) for x, p in zip(args, in_order)] + list(args[len(in_order):])
        kwds = {name: converted(x, parameters[name]) if name in parameters else x for name, x in kwds.items()}

        def given(name):
            i = places.get(name)
            if i is not None and i < len(args):
                return args[i]
            return kwds.get(name, parameters[name].default)

        result = _func(*args, **kwds)
        if keeps and given("keepdims"):
            result = _util.apply_keepdims(result, given("axis"), args[0].ndim)
        if "out" in parameters:
            out = given("out")
            result = maybe_copy_to(None if isinstance(out, tuple) and out == (None, None) else out, result, promote_scalar_result)
        return wrap_tensors(result)

    return wrapped
