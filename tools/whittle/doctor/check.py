# Given to a Python with torch on its standard input, by `whittle doctor`, with the names of stages: tries one after the other and prints a line for each.
# The stage "facts" says what this Python is.
import json
import sys
import time


def fact(facts, name, ask):
    try:
        value = ask()
    except Exception:
        return  # this torch does not have it
    if value not in (None, ""):
        facts.append((name, str(value)))


def facts():
    import platform

    import torch

    out = []
    fact(out, "python", lambda: "%s %s (%s)" % (platform.python_implementation(), platform.python_version(), sys.executable))
    fact(out, "os", platform.platform)
    fact(out, "torch", lambda: "%s, git %s, debug %s" % (torch.__version__, torch.version.git_version[:12], torch.version.debug))
    fact(out, "numpy", lambda: __import__("numpy").__version__)
    fact(out, "triton", lambda: __import__("triton").__version__)
    fact(out, "gpu", lambda: ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())) + ", CUDA " + torch.version.cuda if torch.cuda.is_available() else "none that torch can use")
    fact(out, "threads", torch.get_num_threads)
    fact(out, "vector code", lambda: torch.backends.cpu.get_cpu_capability())
    fact(out, "c++ compiler of inductor", lambda: __import__("torch._inductor.cpp_builder", fromlist=["x"]).get_cpp_compiler())
    fact(out, "backends", lambda: ", ".join(torch._dynamo.list_backends()))
    return out


def program(torch):
    """A module with a layer, a reduction and a gradient, and its input."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.LayerNorm(4))
    return model, torch.randn(3, 4, requires_grad=True)


def results(torch, model, x):
    x.grad = None
    model.zero_grad()
    y = model(x)
    y.square().sum().backward()
    return [y.detach(), x.grad.clone()] + [p.grad.clone() for p in model.parameters()]


def compiled(torch, backend):
    model, x = program(torch)
    want = results(torch, model, x)
    got = results(torch, torch.compile(model, backend=backend, fullgraph=True), x)
    for i, (a, b) in enumerate(zip(want, got)):
        torch.testing.assert_close(b, a, msg=lambda text: "value %d is not what eager has: %s" % (i, text.replace("\n", " ")))


def eager():
    import torch

    a = torch.arange(6.0).reshape(2, 3)
    assert (a @ a.T).tolist() == [[5.0, 14.0], [14.0, 50.0]], "a matrix product is wrong: %s" % (a @ a.T).tolist()
    w = torch.tensor(3.0, requires_grad=True)
    (w ** 2).backward()
    assert w.grad.item() == 6.0, "a gradient is wrong: %s" % w.grad


def dynamic():
    import torch

    f = torch.compile(lambda x: torch.relu(x).sum(), dynamic=True)
    for n in (2, 5):
        assert f(torch.ones(n)).item() == n, "a sum of %d elements is wrong" % n


def breaks():
    import torch

    def f(x):
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()
    e = torch._dynamo.explain(f)(torch.ones(2))
    assert e.graph_count == 2 and e.graph_break_count == 1, "%d graphs and %d breaks, not 2 and 1" % (e.graph_count, e.graph_break_count)


def stage(name):
    import torch

    if name == "eager":
        eager()
    elif name == "eager backend":
        compiled(torch, "eager")
    elif name == "breaks":
        breaks()
    elif name == "dynamic":
        dynamic()
    else:
        compiled(torch, name)


def attempt(name):
    try:
        stage(name)
    except Exception as e:
        lines = [l for l in str(e).strip().split("\n") if l.strip()]
        if len(lines) > 1 and lines[0].startswith("backend=") and lines[0].endswith("raised:"):
            lines = lines[1:]
        return "%s: %s" % (type(e).__name__, lines[0] if lines else "")
    return "good"


for name in sys.argv[1:]:
    begin = time.time()
    answer = facts() if name == "facts" else attempt(name)
    print("\nwhittle-doctor " + json.dumps({"stage": name, "answer": answer, "seconds": time.time() - begin}), flush=True)
