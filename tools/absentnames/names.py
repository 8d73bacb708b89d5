"""Lists what the private modules of an installed PyTorch define, a line each: run by a real PyTorch.

    python names.py > names.txt

A line is a module, then its names: name() for a function, name for a class, name=value for a plain constant and name= for any other value. A
module that is a package has a slash behind it.
"""
import contextlib
import importlib
import io
import os
import types
import warnings

import torch

PARTS = ("torch._dynamo", "torch._functorch", "torch._guards", "torch._subclasses", "torch._higher_order_ops", "torch._inductor", "torch._export", "torch._library", "torch._custom_op",
         "torch._prims", "torch._refs", "torch._decomp", "torch._logging", "torch._dispatch", "torch._ops", "torch._meta_registrations", "torch.fx", "torch.testing._internal",
         "torch.utils._", "torch.nested._internal")
OTHERS_TESTS = ("torch.testing._internal.distributed", "torch.testing._internal.common_methods_invocations", "torch.testing._internal.common_modules", "torch.testing._internal.common_nn")


def modules(path, prefix):
    """The modules below a folder, each with whether it is a package."""
    for m in sorted(os.listdir(path)):
        p = os.path.join(path, m)
        if os.path.exists(os.path.join(p, "__init__.py")):
            yield prefix + m, True
            yield from modules(p, prefix + m + ".")
        elif m.endswith(".py") and m not in ("__init__.py", "__main__.py"):
            yield prefix + m[:-3], False


def described(module, name, value):
    if isinstance(value, types.FunctionType):
        return f"{name}()"
    if isinstance(value, type):
        return name
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        if len(text) < 40 and not set(text) & set(" /<>\\\"") and text not in ("inf", "-inf", "nan"):
            return f"{name}={text}"
    return f"{name}="


def main():
    warnings.simplefilter("ignore")
    for name, package in modules(os.path.dirname(torch.__file__), "torch."):
        if not name.startswith(PARTS) or name.startswith(OTHERS_TESTS):
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                m = importlib.import_module(name)
        except Exception:  # for want of another package
            continue
        own = []
        for k, v in vars(m).items():
            imported = isinstance(v, types.ModuleType) or getattr(v, "__module__", name) != name
            if not k.startswith("__") and k != "TYPE_CHECKING" and not imported and (k.isascii() and k.isidentifier()):
                own.append(described(name, k, v))
        print(name + "/" * package, *own)


main()
