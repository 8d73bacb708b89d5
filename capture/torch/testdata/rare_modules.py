# Modules of torch.nn that few programs use: what they give, and their gradients.
import torch
nn = torch.nn
torch.manual_seed(0)
def show(name, *ts):
    print(name, [(tuple(t.shape), [round(v, 4) for v in t.detach().flatten().double().tolist()[:6]], round(abs(t.detach().double().sum().item()), 3)) for t in ts])
x = torch.randn(3, 5, requires_grad=True); y = torch.tensor([1, 0, 4]); ml = torch.tensor([[1,2,-1,0,0],[0,-1,1,1,1],[4,3,2,1,0]]); x4 = torch.randn(2,4,6,6, requires_grad=True)
def run(name, m, *args):
    for a in args:
        if a.requires_grad: a.grad = None
    try:
        out = m(*args)
    except Exception as e:
        print(name, type(e).__name__, str(e)[:200]); return
    outs = [o for o in (out if isinstance(out, tuple) else (out,))]
    sum(o.sum() for o in outs if o.is_floating_point()).backward()
    show(name, *outs, *[a.grad for a in args if a.requires_grad], *[p.grad for p in m.parameters() if p.grad is not None])
for red in "mean", "sum", "none":
    run("mlm", nn.MultiLabelMarginLoss(reduction=red), x, ml)
    run("mm", nn.MultiMarginLoss(p=2, margin=.5, weight=torch.arange(5.) + 1, reduction=red), x, y)
    run("mlsm", nn.MultiLabelSoftMarginLoss(weight=torch.arange(5.), reduction=red), x, (ml > 0).float())
    run("tmd", nn.TripletMarginWithDistanceLoss(swap=True, margin=2., reduction=red), x, (x * 2).detach(), (x - 1).detach())
    run("nll2", nn.NLLLoss2d(reduction=red), torch.log_softmax(x4, 1).detach().requires_grad_(), torch.zeros(2, 6, 6, dtype=torch.long))
run("cs", nn.ChannelShuffle(2), x4); run("fad", nn.FeatureAlphaDropout(.5), x4); run("fade", nn.FeatureAlphaDropout(.5).eval(), x4)
run("lp1", nn.LPPool1d(2, 2), x); run("lp2", nn.LPPool2d(1.5, (2, 3), stride=2, ceil_mode=True), x4.abs().detach().requires_grad_()); run("lp3", nn.LPPool3d(2, 2), x4)
p, i = nn.MaxPool2d(2, return_indices=True)(x4); run("mu2", nn.MaxUnpool2d(2), p.detach().requires_grad_(), i)
p, i = nn.MaxPool1d(2, return_indices=True)(x4[0]); run("mu1", nn.MaxUnpool1d(2), p.detach().requires_grad_(), i)
p, i = nn.MaxPool3d(2, return_indices=True)(x4); run("mu3", nn.MaxUnpool3d(2), p.detach().requires_grad_(), i)
run("rrelu", nn.RReLU().eval(), x); run("rrelut", nn.RReLU(), x)
rs = torch.rand(2, 4, 2); run("fr2", nn.FractionalMaxPool2d(2, output_size=3, _random_samples=rs), x4); run("fr2r", nn.FractionalMaxPool2d(2, output_ratio=.5, return_indices=True, _random_samples=rs), x4)
rs = torch.rand(1, 2, 3); run("fr3", nn.FractionalMaxPool3d(2, output_size=2, _random_samples=rs), torch.randn(1, 2, 4, 6, 6, requires_grad=True))
a = nn.AdaptiveLogSoftmaxWithLoss(5, 12, [3, 7], div_value=2., head_bias=True)
run("als", a, x, torch.tensor([1, 5, 11])); run("als1", a, x[0].detach().requires_grad_(), torch.tensor(8)); show("alsp", a.log_prob(x), a.predict(x)); run("alse", a, x, torch.tensor([1, 5, 12])); run("alse", a, x, torch.tensor([[1]])); run("alse2", a, x, torch.tensor([1]))
print(type(a(x, y)), a(x, y)._fields)
