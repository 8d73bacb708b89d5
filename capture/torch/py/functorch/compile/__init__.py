"""AOTAutograd for programs."""
from torch._absent import declare
from torch._functorch import config
from torch._functorch.aot_autograd import (aot_function, aot_module, aot_module_simplified, compiled_function, compiled_module, get_aot_compilation_context, get_graph_being_compiled,
                                           make_boxed_compiler, make_boxed_func)
from torch._functorch.partitioners import default_partition, draw_graph, min_cut_rematerialization_partition

default_decompositions = {}


def nop(f, _):
    """A compiler that gives its graph back."""
    return f


declare("debug_compile", "draw_graph_compile", "fx_minifier", "get_aot_graph_name", "memory_efficient_fusion", "minifier", "nnc_jit", "print_compile", "simple_ts_compile", "ts_compile")
