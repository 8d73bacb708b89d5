# Runs a generated module on a GPU, and compares it with the graph that it was generated for, run eagerly. ASK, which a line in
# front of this defines, is JSON: the module, the graph as a repro. The last line that is printed says what came of it.
import json
import re
import sys


def answer(**what):
    print("whittle-codegen " + json.dumps(what))
    sys.exit(0)


def main():
    ask = json.loads(ASK)
    import torch

    if not torch.cuda.is_available():
        answer(cannot="torch %s sees no CUDA device" % torch.__version__)
    try:
        import triton
    except ImportError as e:
        answer(cannot="torch has no Triton: %s" % e)
    from torch._dynamo.debug_utils import InputReader
    from torch._dynamo.utils import same
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.runtime.hints import DeviceProperties

    here = DeviceProperties.create(torch.device("cuda", 0))
    module = PyCodeCache.load(re.sub(r"DeviceProperties\(type='cuda'[^)]*\)", lambda m: repr(here), ask["module"]))
    graph = {"__name__": "repro"}
    exec(compile(ask["graph"], "repro.py", "exec"), graph)
    reader = InputReader(save_dir=None)
    graph["load_args"](reader)

    def moved(x):
        if not isinstance(x, torch.Tensor):
            return x
        y = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="cuda")
        return y.copy_(x.detach())

    with torch.no_grad():
        want = graph["mod"].cuda()(*[moved(x) for x in reader.args])
        got = module.call([moved(x) for x in reader.args])
        torch.cuda.synchronize()
    worst = 0.0
    for a, b in zip(want, got):
        if isinstance(a, torch.Tensor) and a.is_floating_point() and a.numel() > 0:
            worst = max(worst, (a.double() - b.double()).abs().nan_to_num(0).max().item())
    answer(same=bool(same(list(want), list(got), tol=1e-3, equal_nan=True)), worst=worst, device=torch.cuda.get_device_name(0), torch=torch.__version__, triton=triton.__version__)


main()
