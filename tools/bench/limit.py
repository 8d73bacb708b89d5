# What whittle's kernels move and compute in a second: rows whose operands do not fit into the cache, with the bytes that they read and write at least,
# and products, with their multiplications and additions.
import json
import time

import torch
import torch.nn.functional as F

N = 4096  # 64 MiB
x, y, v = torch.rand(N, N), torch.rand(N, N), torch.rand(N)
one = 4 * N * N
a, b = torch.rand(1024, 1024), torch.rand(1024, 1024)


def best(f):
    f()
    out = 1e9
    for _ in range(7):
        begin = time.perf_counter()
        f()
        out = min(out, time.perf_counter() - begin)
    return out


with torch.no_grad():
    for name, f, moved in (
        ("copy", lambda: y.copy_(x), 2), ("add", lambda: torch.add(x, y), 3), ("mul scalar", lambda: x * 2, 2), ("relu", lambda: x.relu(), 2), ("exp", lambda: x.exp(), 2), ("sum", lambda: x.sum(), 1),
        ("sum rows", lambda: x.sum(1), 1), ("sum columns", lambda: x.sum(0), 1), ("amax", lambda: x.amax(1), 1), ("compare", lambda: x > y, 2.25), ("where", lambda: torch.where(x > 0.5, x, y), 4.5), ("add_", lambda: x.add_(y), 3),
        ("add row", lambda: x + v, 2), ("transpose", lambda: x.t().contiguous(), 2), ("cat", lambda: torch.cat([x, y]), 4), ("index_select", lambda: x.index_select(0, torch.arange(N - 1, -1, -1)), 2),
        ("softmax", lambda: x.softmax(-1), 2), ("layer_norm", lambda: F.layer_norm(x, (N,)), 2), ("var", lambda: x.var(1), 1), ("to bfloat16", lambda: x.bfloat16(), 1.5),
    ):
        print(json.dumps({"row": name, "seconds": best(f), "bytes": moved * one}))
    for name, m, n, k in (("mm 1024", 1024, 1024, 1024), ("mm 512", 512, 512, 512), ("mm 256", 256, 256, 256), ("mm 8x1024x1024", 8, 1024, 1024), ("mm 32x1024x1024", 32, 1024, 1024), ("mm 1024x8x1024", 1024, 8, 1024), ("mm 1024x1024x8", 1024, 1024, 8)):
        p, q = torch.rand(m, k), torch.rand(k, n)
        print(json.dumps({"row": name, "seconds": best(lambda: p @ q), "flops": 2 * m * n * k}))
    p, q = torch.rand(16, 192, 192), torch.rand(16, 192, 192)
    print(json.dumps({"row": "bmm 16x192", "seconds": best(lambda: torch.bmm(p, q)), "flops": 2 * 16 * 192**3}))
    img, w = torch.rand(8, 64, 56, 56), torch.rand(64, 64, 3, 3)
    print(json.dumps({"row": "conv2d 3x3", "seconds": best(lambda: F.conv2d(img, w, padding=1)), "flops": 2 * 8 * 64 * 64 * 9 * 56 * 56}))
