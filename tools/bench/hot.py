# Calls of tiny compiled functions, once compiled: guards, dispatch, return. Microseconds a call, beside a call without torch.compile.
import json
import time

import torch


def f(x, y):
    return x + y


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(4))
        self.scale = 2.0

    def forward(self, x):
        return x * self.w * self.scale


def rate(call, n=2000):
    best = 1e9
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(n):
            call()
        best = min(best, (time.perf_counter() - begin) / n)
    return best


x, y = torch.ones(4), torch.ones(4)
m = M()
cf = torch.compile(f, backend="eager")
cm = torch.compile(m, backend="eager")
with torch.no_grad():
    for name, call in (("function, not compiled", lambda: f(x, y)), ("function", lambda: cf(x, y)), ("module", lambda: cm(x))):
        call()
        print(json.dumps({"row": name, "seconds": rate(call)}))
