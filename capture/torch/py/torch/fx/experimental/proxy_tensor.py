"""make_fx: a graph of aten operators, recorded while a function runs."""
import torch
from torch._absent import declare
from torch._C import _dynamo as _native


def make_fx(f, decomposition_table=None, tracing_mode="real", **kwargs):
    def traced(*args):
        return _native.make_fx(f, args)

    return traced


def is_sym_node(node):
    assert hasattr(node, "meta"), "All nodes traced with proxy_tensor should have meta"
    return "val" in node.meta and isinstance(node.meta["val"], (torch.SymInt, torch.SymFloat, torch.SymBool))


def get_proxy_mode():
    return None


declare("ProxyTorchDispatchMode", "PythonKeyTracer", "disable_proxy_modes_tracing", "get_isolated_graphmodule", "maybe_handle_decomp", "wrapper_and_args_for_make_fx", "dispatch_trace",
        "get_proxy_slot", "set_proxy_slot", "track_tensor_tree", "thunkify")
