"""The start: torch and its compiler are imported, and what every child would do again is done once."""
import contextlib
import ctypes
import importlib
import os
import re
import shutil
import sys
import traceback

from .headers import precompile
from .process import background, finished
from .whole import whole_files


def warm(server, known):
    """Imports torch and its compiler, and does once what every child would do again. It starts no thread."""
    for name in list(os.environ):
        if name.startswith(("TORCHDYNAMO_REPRO", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCH_TRACE")):
            del os.environ[name]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(server.tmp, "inductor")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    old = known.get("old") or ""
    if os.path.basename(old).startswith("whittle-torch-"):
        shutil.rmtree(old, ignore_errors=True)
    import torch
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    facts = {"torch": torch.__version__, "git": torch.version.git_version or "", "python": sys.version.split()[0], "threads": threads, "cpu": cpu_model(),
             "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(), "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
    check = None if known.get("isa_ok") else background(server, check_isa)
    import torch._dynamo
    import torch._dynamo.debug_utils
    import torch._inductor.compile_fx
    import torch._inductor.inductor_prims
    import torch._inductor.lowering
    from torch._inductor import config
    import torch._inductor.codegen.cpp
    import torch._inductor.fx_passes.post_grad
    import torch._dynamo.repro.after_aot
    import torch._dynamo.repro.after_dynamo
    whole_files()
    ok = known.get("isa_ok") or check is not None and finished(server, check) == 0
    facts["isa_ok"] = bool(ok)
    from torch._inductor import cpu_vec_isa
    if ok:  # it was tried, in a process of its own: a new Python need not be started for each
        config.cpp.vec_isa_ok = True
        cpu_vec_isa.subprocess = Loader
    try:
        from torch._inductor.cpu_vec_isa import pick_vec_isa
        from torch._inductor.cpp_builder import get_compiler_version_info, get_cpp_compiler
        facts["isa"] = str(pick_vec_isa())
        import subprocess
        cpu_vec_isa.subprocess = subprocess
        facts["compiler"] = get_compiler_version_info(get_cpp_compiler())
        background(server, precompile)
    except Exception as e:
        facts["isa"], facts["compiler"] = "", "none: %s" % e
    return facts


def cpu_model():
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    return ""


class Loader:
    """Stands in for subprocess where PyTorch tries a library in a new Python: loads it here."""
    DEVNULL = None

    @staticmethod
    def check_call(command, **_):
        ctypes.CDLL(re.search(r'LoadLibrary\("(.*?)"\)', command[-1]).group(1))


def check_isa():
    """Whether the widest vector instructions that this processor has also compile and load: PyTorch's own question, asked once and early."""
    from torch._inductor import cpu_vec_isa

    cpu_vec_isa.subprocess = Loader
    supported = cpu_vec_isa.x86_isa_checker()
    for isa in cpu_vec_isa.supported_vec_isa_list:
        if all(flag in supported for flag in str(isa).split()):
            return bool(isa)
    return False


def import_late():
    """What PyTorch imports only when it compiles: half a second that no child has to spend again."""
    for name in ("torch.utils.cpp_extension", "sympy.physics.units"):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        from torch._dynamo.backends.registry import lookup_backend
        lookup_backend("inductor")


def warm_compile():
    """A toy graph through all of AOTAutograd and Inductor but the C++ compiler."""
    import torch
    import_late()
    from torch._inductor import codecache, config
    from torch._inductor.compile_fx import compile_fx
    from torch.fx.experimental.proxy_tensor import make_fx

    class Built:
        """Stands in for the code that is not compiled."""

        @staticmethod
        def load_pybinding(*a, **k):
            return lambda *a: None

    real, before = codecache.CppPythonBindingsCodeCache, config.cpp.vec_isa_ok
    from torch._inductor import async_compile
    names = [m for m in (codecache, async_compile) if hasattr(m, "CppPythonBindingsCodeCache")]
    try:
        for m in names:
            m.CppPythonBindingsCodeCache = Built
        with torch.no_grad(), config.patch({"cpp.simdlen": 0, "fx_graph_cache": False, "cpp.vec_isa_ok": True}):
            def toy(x, w):
                y = torch.ops.aten.mm.default(x, w)
                y = torch.ops.aten.add.Tensor(y, 1)
                return (torch.ops.aten.relu.default(y), torch.ops.aten.sum.dim_IntList(y, [1]), torch.ops.aten.view.default(y, [-1]))
            args = [torch.randn(8, 8), torch.randn(8, 8)]
            compile_fx(make_fx(toy)(*args), args)
    except Exception:
        traceback.print_exc()
    finally:
        for m in names:
            m.CppPythonBindingsCodeCache = real
        config.cpp.vec_isa_ok = before
        from torch._inductor import cpu_vec_isa
        with contextlib.suppress(AttributeError):
            cpu_vec_isa.valid_vec_isa_list.cache_clear()
        torch._dynamo.reset()
