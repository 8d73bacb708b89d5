"""Backends for debugging: graphs as they are, graphs that fail on purpose, and one that keeps what explain() tells."""
import functools
import logging

import torch
from torch._dynamo.backends.registry import register_backend as _register_backend
from torch._dynamo.eval_frame import ExplainOutput

log = logging.getLogger(__name__)
register_backend = functools.partial(_register_backend, tags=("debug",))


@register_backend
def eager_noexcept(gm, fake_tensor_inputs, **kwargs):
    """eager, which must not raise: a graph that does is an error of its own."""
    if kwargs:
        log.warning("eager_noexcept backend ignoring extra kwargs %s", kwargs)

    def inner(*args):
        try:
            return gm(*args)
        except Exception as e:
            raise torch._dynamo.exc.TorchDynamoException("Unexpected exception when running generated GraphModule") from e

    return inner


@register_backend
def pre_dispatch_eager(gm, fake_tensor_inputs, **kwargs):
    """Runs, and prints, what make_fx traces of a graph before autograd and autocast have seen it."""
    from torch.fx.experimental.proxy_tensor import make_fx

    if kwargs:
        log.warning("pre_dispatch_eager backend ignoring extra kwargs %s", kwargs)

    def once(*args):
        return torch.fx.Interpreter(gm).run(*args)

    traced = make_fx(once, pre_dispatch=True)(*fake_tensor_inputs)
    traced.print_readable()
    return traced


@register_backend
def eager_debug(gm, fake_tensor_inputs, **kwargs):
    return gm.forward


def boxed_nop(fx_g, example_inputs):
    """Runs a graph that takes its arguments as one list, which it empties."""

    def run(args):
        return torch.fx.Interpreter(fx_g).boxed_run(args)

    run._boxed_call = True
    return run


@register_backend(name="ts")
def torchscript(gm, fake_tensor_inputs):
    """The graph as torch.jit.script has it."""
    return torch.jit.script(gm)


def aot_ts(gm, fake_tensor_inputs):
    """The same behind AOTAutograd."""
    from torch._dynamo.backends.common import aot_autograd

    return aot_autograd(fw_compiler=boxed_nop)(gm, fake_tensor_inputs)


register_backend(aot_ts)


class ReluCompileError(Exception):
    pass


class TestingOnlyCompileError(Exception):
    pass


@register_backend
def relu_compile_error_TESTING_ONLY(gm, example_inputs):
    """Fails to compile a graph with relu in it."""
    for node in gm.graph.nodes:
        if node.target == torch.relu:
            raise ReluCompileError
    return gm


@register_backend
def relu_runtime_error_TESTING_ONLY(gm, example_inputs):
    """Makes relu fail when it runs."""
    for node in gm.graph.nodes:
        if node.target == torch.relu:
            node.target = torch._assert
            node.args = (False, "ReluRuntimeError")
    gm.recompile()
    return gm


@register_backend
def relu_accuracy_error_TESTING_ONLY(gm, example_inputs):
    """Makes relu add one instead."""
    for node in gm.graph.nodes:
        if node.target == torch.relu:
            node.target = torch.add
            node.args = (node.args[0], 1)
    gm.recompile()
    return gm


@register_backend
def non_leaf_compile_error_TESTING_ONLY(gm, example_inputs):
    """Fails to compile a graph with an argument that another computation has made."""
    for t in example_inputs:
        if not t.is_leaf:
            raise TestingOnlyCompileError
    return gm


class ExplainWithBackend:
    def __init__(self, backend):
        from torch._dynamo.backends.registry import lookup_backend

        self.backend = lookup_backend(backend)
        self.graphs, self.op_count, self.break_reasons = [], 0, []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        self.op_count += sum(n.op == "call_function" for n in gm.graph.nodes)
        if gm.compile_subgraph_reason.graph_break:
            self.break_reasons.append(gm.compile_subgraph_reason)
        return self.backend(gm, example_inputs)

    def output(self):
        n = len(self.graphs)
        return ExplainOutput(self.graphs, n, n - 1, self.break_reasons, self.op_count)
