"""make_fx: a graph of aten operators, recorded while a function runs."""
import functools
import inspect

import torch
import torch.utils._pytree as pytree
from torch._absent import declare
from torch._C import _dynamo as _native


def _names(f, args):
    """The names that the arguments have in f, and their leaves in a graph: those of a function with positional arguments are its own."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        names = [f"arg{i}" for i in range(len(args))]
    else:
        names = code.co_varnames[inspect.ismethod(f) :]
    return [f"{name}_{i + 1}" for name, arg in zip(names, args) for i in range(len(pytree.tree_leaves(arg)))]


def make_fx(f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *, pre_dispatch=False, record_module_stack=False, _allow_fake_constant=False,
            _error_on_data_dependent_ops=True):
    """f as a function that gives, called with arguments, the graph of the aten operators that f runs for them. Arguments and results may be
    nested; the graph module takes and gives them as f does. The values of tensors are not known while f runs.
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode has to be real, fake or symbolic, not {tracing_mode}")

    @functools.wraps(f)
    def traced(*args):
        flat_args, in_spec = pytree.tree_flatten(args)
        nested = in_spec.num_children != in_spec.num_leaves
        out_spec = None

        def flat_fn(flat):
            nonlocal out_spec
            out = f(*pytree.tree_unflatten(flat, in_spec))
            leaves, spec = pytree.tree_flatten(out)
            if nested or not _plain(out):
                out_spec = spec
                return leaves
            return out

        gm = _native.make_fx(flat_fn, flat_args, _names(f, args), decomposition_table, tracing_mode == "symbolic")
        if out_spec is not None:
            flat_forward = gm.forward

            def forward(*args):
                return pytree.tree_unflatten(list(flat_forward(*pytree.tree_leaves(args))), out_spec)

            gm.forward = forward
        return gm

    return traced


def _plain(out):
    """Whether a graph can return this as it is: a tensor, a number, None, or a tuple of these."""
    return all(o is None or isinstance(o, (torch.Tensor, int, float, complex)) for o in (out if type(out) is tuple else (out,)))


def is_sym_node(node):
    assert hasattr(node, "meta"), "All nodes traced with proxy_tensor should have meta"
    return "val" in node.meta and isinstance(node.meta["val"], (torch.SymInt, torch.SymFloat, torch.SymBool))


def get_proxy_mode():
    return None


declare("ProxyTorchDispatchMode", "PythonKeyTracer", "disable_proxy_modes_tracing", "get_isolated_graphmodule", "maybe_handle_decomp", "wrapper_and_args_for_make_fx", "dispatch_trace",
        "get_proxy_slot", "set_proxy_slot", "track_tensor_tree", "thunkify")
