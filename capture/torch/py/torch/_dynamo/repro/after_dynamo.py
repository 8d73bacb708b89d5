"""Running a repro of a graph after capture."""
import torch
from torch._dynamo.debug_utils import AccuracyError, InputReader, run_fwd_maybe_bwd, same_two_models
from torch._dynamo.repro import asked


def run_repro(mod, load_args, *, command="run", accuracy="", save_dir=None, autocast=False, backend="inductor", patch_code=None, **kwargs):
    command = asked(command)
    if command == "minify":
        return None

    def read():
        reader = InputReader(save_dir)
        load_args(reader)
        return reader.args

    args = read()
    if command == "get_args":
        return mod, args
    if command == "run":
        torch._C._dynamo.in_repro()
    opt_mod = torch._dynamo.optimize(backend)(mod)
    if accuracy:
        if not same_two_models(mod, opt_mod, args):
            raise AccuracyError("Dynamo failed")
        return None
    # Each run has inputs of its own, read anew: a copy would be a leaf where the input was none.
    run_fwd_maybe_bwd(mod, args, disable_clone=True)
    run_fwd_maybe_bwd(opt_mod, read(), disable_clone=True)
    return None
