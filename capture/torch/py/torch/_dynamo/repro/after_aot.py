"""Running a repro of a graph after ahead-of-time autograd."""
import torch
from torch._dynamo.debug_utils import AccuracyError, InputReader, InputWriter, NopInputReader, _leaves, clone_inputs, generate_config_string
from torch._dynamo.repro import asked


def generate_compiler_repro_string(gm, args, *, stable_output=False, save_dir=None, stable_hash=False):
    """The part of a repro that says what the graph and its arguments are."""
    lines = ["import torch", "from torch import tensor, device", "import torch.fx as fx", "from torch._dynamo.testing import rand_strided", "from math import inf",
             "import torch._inductor.inductor_prims", "", generate_config_string(stable_output=stable_output), "isolate_fails_code_str = None", ""]
    if not stable_output:
        lines.append(f"# torch version: {torch.version.__version__}")
    lines.append(_module_text(gm))
    placeholders = [n.target for n in gm.graph.nodes if n.op == "placeholder"]
    writer = InputWriter(save_dir, stable_hash=stable_hash)
    for name, arg in zip(placeholders, args):
        if isinstance(arg, (int, torch.SymInt)):
            writer.symint(name, arg)
        elif isinstance(arg, torch.Tensor):
            writer.tensor(name, arg)
        elif arg is None:
            writer.const(name)
        else:
            writer.unsupported(name, arg)
    return "\n".join([*lines, *writer.lines(), "mod = Repro()", ""])


def _module_text(gm):
    """A graph as the class Repro; what it holds besides operators cannot be written."""
    held = [n.target for n in gm.graph.nodes if n.op in ("get_attr", "call_module")]
    init = ["class Repro(torch.nn.Module):", "    def __init__(self) -> None:", "        super().__init__()"]
    for target in dict.fromkeys(held):
        value = gm
        for part in target.split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor):
            raise NotImplementedError(f"a graph that holds a {type(value).__name__} cannot be written as a repro")
        text = repr(value.tolist()) if value.numel() <= 4 else None
        what = f"torch.tensor({text}, dtype={value.dtype})" if text is not None else f"torch.randn({list(value.shape)!r}, dtype=torch.float32).to({value.dtype})"
        init.append(f"        self.register_buffer({target!r}, {what})")
    return "\n".join(["from torch.nn import *", *init, "", *("    " + l if l else "" for l in gm.code.strip("\n").split("\n"))])


def save_graph_repro(fd, gm, args, compiler_name, *, stable_output=False, save_dir=None, command="run", accuracy=None, tracing_mode=None, check_str=None, stable_hash=False):
    """Writes a program that runs a graph again, with the values of its arguments in save_dir."""
    if any(isinstance(a, torch.fx.GraphModule) for a in args):
        fd.write("Repro is not generated due to existence of BackwardState in graph input")
        return
    fd.write(generate_compiler_repro_string(gm, args, stable_output=stable_output, save_dir=save_dir, stable_hash=stable_hash))
    if accuracy is None:
        accuracy = "_accuracy" in compiler_name
    if tracing_mode is None:
        tracing_mode = "symbolic" if any(isinstance(a, torch.SymInt) for a in args) else "real"
    call = f"mod, load_args, accuracy={accuracy!r}, command={{command!r}}, save_dir={save_dir!r}, tracing_mode={tracing_mode!r}, check_str={check_str!r}"
    fd.write("if __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n    with torch.no_grad():\n"
             f"        run_repro({call.format(command=command)})\n        # To run it separately, do \n"
             f"        # mod, args = run_repro({call.format(command='get_args')})\n        # mod(*args)")


def run_repro(mod, load_args, *, command="run", accuracy="", save_dir=None, tracing_mode=None, patch_code=None, check_str=None, **kwargs):
    command = asked(command)
    if command == "minify":
        return None
    reader = InputReader(save_dir)
    load_args(reader)
    args = reader.args
    if command == "get_args":
        return mod, args
    if command == "run":
        torch._C._dynamo.in_repro()
    from torch._inductor.compile_fx import compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx

    gm = make_fx(mod, tracing_mode=tracing_mode or "real")(*args)
    compiled = compile_fx_inner(gm, args)
    res = compiled(clone_inputs(args))
    if accuracy:
        from torch._dynamo.utils import same

        ref = mod(*clone_inputs(args))
        if not same(_leaves(ref), _leaves(res), tol=torch._dynamo.config.repro_tolerance, equal_nan=True):
            raise AccuracyError("Bad accuracy detected")
    return None
