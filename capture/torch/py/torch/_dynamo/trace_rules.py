"""What capture looks into, what it skips, what it puts into graphs: native code decides."""
from torch._absent import declare

declare("check", "check_file", "check_verbose", "lookup", "lookup_callable", "lookup_inner", "is_aten_op_or_tensor_method", "SkipResult")


LEGACY_MOD_INLINELIST, MOD_INLINELIST = set(), set()
manual_torch_name_rule_map, torch_c_binding_in_graph_functions, torch_non_c_binding_in_graph_functions = {}, {}, {}


def _as_posix_path(path):
    from pathlib import Path

    return Path(path).as_posix()


def load_object(name):
    """The object of a dotted name; NAME#NAME names a method behind an object."""
    import importlib

    module, _, rest = name.partition("#")
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        try:
            o = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for p in parts[n:] + ([rest] if rest else []):
            o = getattr(o, p)
        return o
    raise AttributeError(f"Failed to load object with name: {name}")


def clear_lru_cache():
    pass
