"""What capture looks into, what it skips, what it puts into graphs: native code decides."""
import functools
import inspect

from torch._C import _dynamo as _native
from torch._absent import declare

declare("check", "check_file", "check_verbose", "lookup_callable", "lookup_inner", "is_aten_op_or_tensor_method", "SkipResult")


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


# Files whose functions are skipped: those of modules that were added by name.
SKIP_DIRS = []


def add(import_name):
    """Functions of a module, or of all modules below it, are left alone from now on: calls of them end a graph."""
    import types
    from importlib.util import find_spec

    if isinstance(import_name, types.ModuleType):
        return add(import_name.__name__)
    assert isinstance(import_name, str)
    spec = find_spec(import_name)
    if spec is None or spec.origin is None:
        return
    SKIP_DIRS.append(spec.origin.removesuffix("__init__.py"))
    _native.rules_changed()


# What programs say of functions by name, over what native code decides: the class of variables that stands for how they are taken.
torch_name_rule_map = [manual_torch_name_rule_map, torch_c_binding_in_graph_functions, torch_non_c_binding_in_graph_functions]


@functools.lru_cache(None)
def get_torch_obj_rule_map():
    """The same by the objects themselves."""
    found = {}
    for rules in torch_name_rule_map:
        for name, rule in rules.items():
            try:
                o = load_object(name)
            except (AttributeError, ImportError):
                continue
            if o is not None:
                found[o] = rule
    return found


def lookup(obj):
    """The class of variables by which capture takes a function: one that is looked into, or one that is left alone; None for what is no function."""
    from torch._dynamo import variables

    rule = get_torch_obj_rule_map().get(obj)
    if rule is not None:
        return rule
    code = getattr(inspect.unwrap(obj) if callable(obj) else obj, "__code__", None)
    if code is None:
        return variables.TorchInGraphFunctionVariable if getattr(obj, "__module__", "").startswith("torch") else None
    return variables.SkipFunctionVariable if _native.skips(obj) else variables.UserFunctionVariable


def _looked_into(obj):
    """Asked by native code of a function that it would skip: whether the program wants it looked into."""
    from torch._dynamo import variables

    return get_torch_obj_rule_map().get(obj) in (variables.UserFunctionVariable, variables.UserMethodVariable)


def clear_lru_cache():
    get_torch_obj_rule_map.cache_clear()
