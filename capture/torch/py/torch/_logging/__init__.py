"""Switching the compiler's logs."""
import os

from torch._C import _dynamo as _native

# Names of log groups, which take a level, and of artifacts, which are on or off.
_logs = [
    "all", "aot", "autograd", "c10d", "cache", "ddp", "distributed", "dtensor", "dynamic", "dynamo", "export", "fake_tensor", "fsdp", "inductor", "onnx", "pp", "torch",
]
_artifacts = [
    "aot_graphs", "aot_graphs_effects", "aot_joint_graph", "benchmarking", "bytecode", "compiled_autograd", "compiled_autograd_verbose", "cudagraph_static_inputs", "cudagraphs",
    "custom_format_test_artifact", "ddp_graphs", "fusion", "graph", "graph_breaks", "graph_code", "graph_region_expansion", "graph_sizes", "guards", "kernel_code", "loop_ordering",
    "not_implemented", "onnx_diagnostics", "output_code", "overlap", "perf_hints", "post_grad_graphs", "recompiles", "recompiles_verbose", "schedule", "sym_node", "trace_bytecode",
    "trace_call", "trace_shape_events", "trace_source", "verbose_guards",
]
_levels = [50, 40, 30, 20, 10, 0]


def set_logs(*, all=None, modules=None, **kwargs):
    if "TORCH_LOGS" in os.environ:  # wins over the program
        return
    levels, on = {}, {}
    if all is not None:
        levels["all"] = all
    for name, value in {**kwargs, **(modules or {})}.items():
        known = name in _logs or name in _artifacts
        if not known and name in kwargs:
            raise TypeError(f"set_logs() got an unexpected keyword argument '{name}'")
        if not known and "." not in name:
            raise ValueError(f"Unrecognized log or artifact name passed to set_logs: {name}")
        if value is None:
            continue
        if name in _artifacts:
            if not isinstance(value, bool):
                raise ValueError(f"Expected bool to enable artifact {name}, received {value}")
            on[name] = value
        else:
            if value not in _levels:
                raise ValueError(f"Unrecognized log level for log {name}: {value}, valid level values are: {','.join(map(str, _levels))}")
            levels[name] = value
    _native.set_logs(levels, on)


def _invalid(settings):
    return (
        f"\nInvalid log settings: {settings}, must be a comma separated list of fully\nqualified module names, registered log names or registered artifact names.\n"
        'For more info on various settings, try TORCH_LOGS="help"\nValid settings:\n' + ", ".join([*_logs, *_artifacts]) + "\n"
    )


def _from_env():
    settings = os.environ.get("TORCH_LOGS")
    if not settings:
        return
    levels, on = {}, {}
    for name in settings.split(","):
        name = name.strip()
        bare = name.lstrip("+-")
        if bare in _logs or "." in bare:
            levels[bare] = {"+": 10, "-": 40}.get(name[:1], 20)
        elif name in _artifacts:
            on[name] = True
        elif bare == "help":
            raise ValueError("\nTORCH_LOGS Info\n\nRegistered names\n  " + "\n  ".join([*_logs, *_artifacts]) + "\n")
        else:
            raise ValueError(_invalid(settings))
    _native.set_logs(levels, on)


_from_env()
