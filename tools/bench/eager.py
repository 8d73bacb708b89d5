# Forty common operators on four million elements, or on matrices and images of a like amount of work.
import json
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(2)
n = 2048
x, y = torch.rand(n, n) + 0.1, torch.rand(n, n) + 0.1
i = torch.randint(0, n, (n, n))
m = torch.rand(n, n) > 0.5
a, b = torch.rand(512, 512), torch.rand(512, 512)
ba, bb = torch.rand(16, 192, 192), torch.rand(16, 192, 192)
img = torch.rand(8, 32, 64, 64)
w3, w1 = torch.rand(32, 32, 3, 3), torch.rand(64, 32, 1, 1)
row, vec = torch.rand(n), torch.rand(n)
ids = torch.randint(0, 1000, (4096,))
table = torch.rand(1000, 512)
rows = {
    "add": lambda: x + y, "mul": lambda: x * y, "div": lambda: x / y, "sub scalar": lambda: x - 0.5, "add broadcast": lambda: x + row, "maximum": lambda: torch.maximum(x, y),
    "exp": lambda: x.exp(), "log": lambda: x.log(), "sqrt": lambda: x.sqrt(), "tanh": lambda: x.tanh(), "sigmoid": lambda: x.sigmoid(), "relu": lambda: x.relu(),
    "gelu": lambda: F.gelu(x), "silu": lambda: F.silu(x), "abs": lambda: x.abs(), "pow": lambda: x ** 2, "clamp": lambda: x.clamp(0.2, 0.8), "where": lambda: torch.where(m, x, y),
    "compare": lambda: x > y, "cast": lambda: x.to(torch.float64), "sum": lambda: x.sum(), "sum rows": lambda: x.sum(-1), "sum columns": lambda: x.sum(0), "mean": lambda: x.mean(-1),
    "amax": lambda: x.amax(-1), "argmax": lambda: x.argmax(-1), "var": lambda: x.var(-1), "cumsum": lambda: x.cumsum(-1), "softmax": lambda: x.softmax(-1),
    "layer_norm": lambda: F.layer_norm(x, (n,)), "transpose": lambda: x.t().contiguous(), "cat": lambda: torch.cat([x, y]), "gather": lambda: x.gather(1, i),
    "index_select": lambda: table.index_select(0, ids), "sort": lambda: x[:256].sort(-1)[0], "mm": lambda: a @ b, "bmm": lambda: ba @ bb, "conv2d 3x3": lambda: F.conv2d(img, w3, padding=1),
    "conv2d 1x1": lambda: F.conv2d(img, w1), "max_pool2d": lambda: F.max_pool2d(img, 2), "batch_norm": lambda: F.batch_norm(img, None, None, training=True),
}
with torch.no_grad():
    for name, f in rows.items():
        f()
        best = 1e9
        for _ in range(15):
            begin = time.perf_counter()
            f()
            best = min(best, time.perf_counter() - begin)
        print(json.dumps({"row": name, "seconds": best}))
