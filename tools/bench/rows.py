# Rows beside those of the registry: steps of optimisers, forward and backward of what training is made of, and forms that no record has. Each makes
# its operands, and gives the function that is timed.
import torch
import torch.nn.functional as F

N = 1024
ROWS = {}


def some(*shape, lo=-2.0, hi=2.0):
    n = 1
    for s in shape:
        n *= s
    return (torch.arange(n) * 2654435761 % 1000003).to(torch.float32).div(1000003 / (hi - lo)).add(lo).view(shape)


def plain(name, make):
    """A function of operands that make gives, without gradients."""
    def row():
        f = make()

        def g():
            with torch.no_grad():
                return f()
        return g
    ROWS[name] = row


def trained(name, f, *shapes):
    """The gradient of f with respect to operands of the shapes."""
    def row():
        xs = [some(*s).requires_grad_() for s in shapes]
        out = f(*xs)
        g = some(*out.shape)
        return lambda: torch.autograd.grad(out, xs, g, retain_graph=True)
    ROWS[name + " backward"] = row


def both(name, f, *shapes):
    plain(name, lambda: (lambda xs: lambda: f(*xs))([some(*s) for s in shapes]))
    trained(name, f, *shapes)


def optimiser(name, make, **options):
    def row():
        ps = [torch.nn.Parameter(some(256, 256)) for _ in range(16)]
        for p in ps:
            p.grad = some(256, 256)
        return make(ps, lr=1e-3, **options).step
    ROWS[name] = row


for each in (False, True):
    how = " foreach" if each else ""
    optimiser("SGD.step" + how, torch.optim.SGD, foreach=each)
    optimiser("SGD.step momentum" + how, torch.optim.SGD, momentum=0.9, foreach=each)
    optimiser("Adam.step" + how, torch.optim.Adam, foreach=each)
    optimiser("AdamW.step" + how, torch.optim.AdamW, foreach=each)

M, IMG, ROWS3 = (N, N), (8, 32, 64, 64), (4, 8, 256, 64)
for name in "gelu silu tanh sigmoid relu leaky_relu elu selu celu softplus mish hardswish hardsigmoid hardtanh logsigmoid softsign relu6 tanhshrink softshrink hardshrink".split():
    trained(name, getattr(F, name), M)
for name in "exp log1p sin cos sqrt abs neg square reciprocal erf".split():
    trained(name, lambda a, f=getattr(torch, name): f(a.abs() + 0.1), M)
trained("mul", torch.mul, M, M)
trained("div", lambda a, b: a / (b.abs() + 1), M, M)
trained("pow", lambda a: a.pow(3), M)
trained("add broadcast", lambda a, b: a + b, M, (N,))
trained("where", lambda a, b: torch.where(a > 0, a, b), M, M)
trained("sum rows", lambda a: a.sum(-1), M)
trained("mean", lambda a: a.mean(), M)
trained("mean columns", lambda a: a.mean(0), M)
trained("amax", lambda a: a.amax(-1), M)
trained("std", lambda a: a.std(-1), M)
trained("norm", lambda a: a.norm(dim=-1), M)
trained("logsumexp", lambda a: a.logsumexp(-1), M)
trained("cumsum", lambda a: a.cumsum(-1), M)
trained("index", lambda a: a[torch.arange(0, N, 2)], M)
trained("cat", lambda a, b: torch.cat([a, b]), M, M)
trained("transpose", lambda a: a.t().contiguous(), M)
both("softmax", lambda a: a.softmax(-1), M)
both("log_softmax", lambda a: a.log_softmax(-1), M)
both("softmax columns", lambda a: a.softmax(0), M)
both("layer_norm", lambda a, w, b: F.layer_norm(a, (N,), w, b), M, (N,), (N,))
both("batch_norm", lambda a, w, b: F.batch_norm(a, None, None, w, b, training=True), IMG, (32,), (32,))
both("group_norm", lambda a, w, b: F.group_norm(a, 8, w, b), IMG, (32,), (32,))
both("conv2d", lambda a, w: F.conv2d(a, w, padding=1), IMG, (32, 32, 3, 3))
both("conv2d 1x1", lambda a, w: F.conv2d(a, w), IMG, (64, 32, 1, 1))
both("conv2d depthwise", lambda a, w: F.conv2d(a, w, padding=1, groups=32), IMG, (32, 1, 3, 3))
both("conv1d", lambda a, w: F.conv1d(a, w, padding=2), (16, 64, 1024), (64, 64, 5))
both("max_pool2d", lambda a: F.max_pool2d(a, 2), IMG)
both("avg_pool2d", lambda a: F.avg_pool2d(a, 2), IMG)
both("adaptive_avg_pool2d", lambda a: F.adaptive_avg_pool2d(a, 1), IMG)
both("interpolate nearest", lambda a: F.interpolate(a, scale_factor=2), IMG)
both("interpolate bilinear", lambda a: F.interpolate(a, scale_factor=2, mode="bilinear"), IMG)
both("cross_entropy", lambda a: F.cross_entropy(a, torch.arange(N)), M)
both("mse_loss", F.mse_loss, M, M)
both("l1_loss", F.l1_loss, M, M)
both("smooth_l1_loss", F.smooth_l1_loss, M, M)
both("binary_cross_entropy_with_logits", lambda a, b: F.binary_cross_entropy_with_logits(a, b.detach().abs().clamp(max=1)), M, M)
both("kl_div", lambda a, b: F.kl_div(a, b.detach().abs(), reduction="batchmean"), M, M)
both("embedding", lambda a: F.embedding(torch.arange(4096) * 7919 % N, a), M)
both("linear", lambda a, w, b: F.linear(a, w, b), (256, 512), (512, 512), (512,))
both("mm", torch.mm, (512, 512), (512, 512))
both("bmm", torch.bmm, (16, 192, 192), (16, 192, 192))
both("attention", F.scaled_dot_product_attention, ROWS3, ROWS3, ROWS3)
both("attention causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), ROWS3, ROWS3, ROWS3)
both("cdist", torch.cdist, (N, 16), (N, 16))

for m, n, k in ((1, 4096, 1024), (8, 1024, 1024), (32, 1024, 1024), (1024, 8, 1024), (1024, 1024, 8), (1024, 1024, 1024), (300, 301, 302)):
    plain(f"mm {m}x{k}x{n}", lambda m=m, n=n, k=k: (lambda a, b: lambda: a @ b)(some(m, k), some(k, n)))
plain("mm transposed", lambda: (lambda a, b: lambda: a.t() @ b.t())(some(512, 512), some(512, 512)))
plain("mv", lambda: (lambda a, b: lambda: a @ b)(some(N, N), some(N)))
plain("mv transposed", lambda: (lambda a, b: lambda: a.t() @ b)(some(N, N), some(N)))
plain("dot", lambda: (lambda a, b: lambda: torch.dot(a, b))(some(N * N), some(N * N)))
plain("einsum", lambda: (lambda a, b: lambda: torch.einsum("ij,kj->ik", a, b))(some(256, N), some(256, N)))
for name, f in {
    "randn": lambda x: torch.randn(N * N), "rand": lambda x: torch.rand(N * N), "randint": lambda x: torch.randint(0, 100, (N * N,)), "randperm": lambda x: torch.randperm(N * 64),
    "bernoulli": lambda x: torch.bernoulli(x.abs() / 2), "normal_": lambda x: x.normal_(), "uniform_": lambda x: x.uniform_(), "exponential_": lambda x: x.exponential_(),
    "multinomial": lambda x: torch.multinomial(x.abs() + 0.1, 1),
    "dropout": lambda x: F.dropout(x), "empty": lambda x: torch.empty(N, N), "zeros": lambda x: torch.zeros(N, N), "full": lambda x: torch.full((N, N), 1.5), "arange": lambda x: torch.arange(N * N),
    "linspace": lambda x: torch.linspace(0, 1, N * N), "eye": lambda x: torch.eye(N), "tril_indices": lambda x: torch.tril_indices(512, 512),
    "add out": lambda x: torch.add(x, 1.0, out=x), "add_": lambda x: x.add_(1e-9), "mul_": lambda x: x.mul_(1.0), "addcmul_": lambda x: x.addcmul_(x, x, value=1e-9), "lerp_": lambda x: x.lerp_(x, 0.1), "copy_": lambda x: x.copy_(x.t()),
    "sum": lambda x: x.sum(), "sum rows": lambda x: x.sum(1), "sum columns": lambda x: x.sum(0), "mean rows": lambda x: x.mean(1), "mean columns": lambda x: x.mean(0), "var rows": lambda x: x.var(1), "var columns": lambda x: x.var(0), "std": lambda x: x.std(),
    "max all": lambda x: x.max(), "min all": lambda x: x.min(), "amax rows": lambda x: x.amax(1), "amax columns": lambda x: x.amax(0), "amin rows": lambda x: x.amin(1), "max dim": lambda x: x.max(1), "max dim columns": lambda x: x.max(0),
    "argmax": lambda x: x.argmax(), "argmax rows": lambda x: x.argmax(1), "argmax columns": lambda x: x.argmax(0), "argmin rows": lambda x: x.argmin(1), "prod rows": lambda x: x.prod(1), "prod columns": lambda x: x.prod(0),
    "norm all": lambda x: x.norm(), "norm rows": lambda x: x.norm(dim=1), "norm columns": lambda x: x.norm(dim=0), "norm 1 rows": lambda x: x.norm(1, dim=1), "logsumexp rows": lambda x: x.logsumexp(1), "logsumexp columns": lambda x: x.logsumexp(0),
    "nansum": lambda x: x.nansum(), "nansum rows": lambda x: x.nansum(1), "nansum columns": lambda x: x.nansum(0), "nanmean": lambda x: x.nanmean(1), "count_nonzero": lambda x: x.count_nonzero(), "any rows": lambda x: (x > 0).any(1), "all columns": lambda x: (x > 0).all(0),
    "cumsum rows": lambda x: x.cumsum(1), "cumsum columns": lambda x: x.cumsum(0), "cumprod rows": lambda x: x.cumprod(1), "cummax rows": lambda x: x.cummax(1), "logcumsumexp": lambda x: x.logcumsumexp(1),
    "sort rows": lambda x: x.sort(1), "sort columns": lambda x: x.sort(0), "argsort": lambda x: x.argsort(1), "topk": lambda x: x.topk(5, 1), "topk columns": lambda x: x.topk(5, 0), "kthvalue": lambda x: x.kthvalue(100, 1), "median": lambda x: x.median(), "median rows": lambda x: x.median(1),
    "quantile": lambda x: x.quantile(0.3, 1), "mode": lambda x: x[:64].mode(1), "unique": lambda x: x.unique(), "unique ints": lambda x: (x * 100).long().unique(), "bincount": lambda x: (x.view(-1).abs() * 100).long().bincount(), "histc": lambda x: x.histc(100), "searchsorted": lambda x: torch.searchsorted(x[0].sort()[0], x),
    "where": lambda x: torch.where(x > 0, x, x), "where scalar": lambda x: torch.where(x > 0, x, 0.0), "masked_fill": lambda x: x.masked_fill(x > 0, 0.0), "masked_select": lambda x: x.masked_select(x > 0), "nonzero": lambda x: (x > 0).nonzero(),
    "logical_and": lambda x: x.logical_and(x), "logical_or": lambda x: x.logical_or(x), "logical_xor": lambda x: x.logical_xor(x), "logical_not": lambda x: x.logical_not(), "isnan": lambda x: x.isnan(), "isfinite": lambda x: x.isfinite(), "eq": lambda x: x == x, "allclose": lambda x: torch.allclose(x, x),
    "fmod": lambda x: x.fmod(x.t()), "remainder": lambda x: x % 0.7, "floor_divide": lambda x: x // 0.7, "frac": lambda x: x.frac(), "copysign": lambda x: x.copysign(x.t()), "sign": lambda x: x.sign(), "lerp": lambda x: x.lerp(x.t(), 0.3), "addcmul": lambda x: x.addcmul(x, x), "addcdiv": lambda x: x.addcdiv(x, x),
    "clamp": lambda x: x.clamp(-1, 1), "pow tensor": lambda x: x.abs() ** x, "pow half": lambda x: x.abs() ** 0.5, "add transposed": lambda x: x + x.t(), "mul broadcast": lambda x: x * x[0] + x[:, :1], "add strided": lambda x: x[:, ::2] + x[:, 1::2], "rsub": lambda x: 1 - x,
    "cat": lambda x: torch.cat([x, x]), "cat columns": lambda x: torch.cat([x, x], 1), "stack": lambda x: torch.stack([x, x]), "stack last": lambda x: torch.stack([x, x], -1), "transpose": lambda x: x.t().contiguous(), "permute": lambda x: x.view(16, 64, 1024).permute(1, 0, 2).contiguous(), "flip": lambda x: x.flip(1), "roll": lambda x: x.roll(3, 1),
    "repeat": lambda x: x.repeat(2, 2), "repeat_interleave": lambda x: x.repeat_interleave(2, 1), "tril": lambda x: x.tril(), "triu": lambda x: x.triu(), "pad": lambda x: F.pad(x, (1, 1, 1, 1)), "pad reflect": lambda x: F.pad(x[None], (3, 3), mode="reflect"), "unfold": lambda x: F.unfold(x.view(1, 16, 256, 256), 3), "one_hot": lambda x: F.one_hot(torch.arange(N), N), "chunk": lambda x: x.chunk(4),
    "index rows": lambda x: x[torch.arange(0, N, 2)], "index_select": lambda x: x.index_select(0, torch.arange(N)), "index_select columns": lambda x: x.index_select(1, torch.arange(N)), "take": lambda x: x.take(torch.arange(N * N)), "gather": lambda x: x.gather(1, torch.zeros(N, N, dtype=torch.long)), "gather columns": lambda x: x.gather(0, torch.zeros(N, N, dtype=torch.long)),
    "scatter": lambda x: x.scatter(1, torch.zeros(N, N, dtype=torch.long), x), "scatter_add": lambda x: x.scatter_add(1, torch.zeros(N, N, dtype=torch.long), x), "index_add": lambda x: x.index_add(0, torch.arange(N), x), "index_put": lambda x: x.index_put((torch.arange(N),), x), "index_copy": lambda x: x.index_copy(0, torch.arange(N), x),
    "to int": lambda x: x.long(), "to bool": lambda x: x.bool(), "to double": lambda x: x.double(), "to bfloat16": lambda x: x.bfloat16(), "bfloat16 add": lambda x: x.bfloat16() + x.bfloat16(), "double sin": lambda x: x.double().sin(), "double exp": lambda x: x.double().exp(),
    "int add": lambda x: torch.arange(N * N) + 1, "int mul": lambda x: torch.arange(N * N) * 3, "int mod": lambda x: torch.arange(N * N) % 7, "int compare": lambda x: torch.arange(N * N) > 7, "int sum": lambda x: torch.arange(N * N).sum(), "int and": lambda x: torch.arange(N * N) & 3, "bool and": lambda x: (x > 0) & (x < 1), "bool not": lambda x: ~(x > 0),
    "normalize": lambda x: F.normalize(x, dim=1), "cosine_similarity": lambda x: F.cosine_similarity(x, x), "pairwise_distance": lambda x: F.pairwise_distance(x, x.t()), "glu": lambda x: F.glu(x), "prelu": lambda x: F.prelu(x, torch.tensor([0.2])), "rms_norm": lambda x: F.rms_norm(x, (N,)), "pixel_shuffle": lambda x: F.pixel_shuffle(x.view(1, 16, 256, 256), 2),
    "outer": lambda x: torch.outer(x[0], x[1]), "trace": lambda x: x.trace(), "diagonal sum": lambda x: x.diagonal().sum(), "tensordot": lambda x: torch.tensordot(x[:256], x[:256], dims=([1], [1])), "cov": lambda x: torch.cov(x[:128]), "triangular solve": lambda x: torch.linalg.solve_triangular(x[:256, :256].triu() + 3 * torch.eye(256), x[:256, :256], upper=True),
}.items():
    plain(name, lambda f=f: (lambda x: lambda: f(x))(some(N, N)))
