# Capture and AOT of models: the time of a program compiled by aot_eager, less that of the same program without torch.compile. PROGRAMS is
# put before this text: a list of (name, source).
import contextlib
import io
import itertools
import json
import sys
import time
import types

import torch


count = itertools.count()


def seconds(source, compiled):
    real = torch.compile

    def patched(model=None, **kwargs):
        if model is None:
            return lambda f: patched(f, **kwargs)
        if not compiled:
            return model
        kwargs.pop("mode", None)
        kwargs.pop("options", None)
        return real(model, **{**kwargs, "backend": "aot_eager"})

    torch.compile = patched
    torch._dynamo.reset()
    name = f"model{next(count)}"  # torch takes a module of one name for the same
    sys.modules[name] = types.ModuleType(name)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            begin = time.perf_counter()
            exec(compile(source, "model.py", "exec"), sys.modules[name].__dict__)
            return time.perf_counter() - begin
    finally:
        torch.compile = real


import torch._dynamo

torch.compile(lambda x: torch.nn.functional.linear(x, x).relu().sum(), backend="aot_eager")(torch.ones(2, 2, requires_grad=True)).backward()
for name, source in PROGRAMS:
    plain = min(seconds(source, False) for _ in range(3))
    print(json.dumps({"row": name, "seconds": seconds(source, True) - plain}))
