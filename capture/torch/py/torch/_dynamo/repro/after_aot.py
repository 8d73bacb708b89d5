"""Running a repro of a graph after ahead-of-time autograd."""
import torch
from torch._dynamo.debug_utils import AccuracyError, InputReader, _leaves, clone_inputs


def run_repro(mod, load_args, *, command="run", accuracy="", save_dir=None, tracing_mode=None, patch_code=None, check_str=None, **kwargs):
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
