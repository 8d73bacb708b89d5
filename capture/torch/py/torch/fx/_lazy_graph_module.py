"""Graph modules are compiled when they are made: nothing is put off."""
import contextlib

from torch.fx.graph_module import GraphModule


class _LazyGraphModule(GraphModule):
    pass


@contextlib.contextmanager
def _use_lazy_graph_module(should_use):
    yield


@contextlib.contextmanager
def _force_skip_lazy_graph_module():
    yield


def _get_graph_module_cls():
    return GraphModule


def _make_graph_module(*args, graph_module_cls=None, **kwargs):
    return (graph_module_cls or GraphModule)(*args, **kwargs)
