"""Drawing graphs, which pydot would do."""
__all__ = ["FxGraphDrawer"]


class FxGraphDrawer:
    """Needs pydot, which is no package that this Python can have."""

    def __init__(self, graph_module, name, ignore_getattr=False, ignore_parameters_and_buffers=False, skip_node_names_in_args=True, parse_stack_trace=False, dot_graph_shape=None, normalize_args=False):
        raise RuntimeError("FXGraphDrawer requires the pydot package to be installed. Please install pydot through your favorite Python package manager.")
