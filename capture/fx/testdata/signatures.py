# Writes signatures.tsv: the parameters of PyTorch 2.6's Python functions that may write to what they are given, or draw random numbers or not.
# Run it as: python3 signatures.py > signatures.tsv
import inspect
import torch.nn.functional
import torch.nn.init

TELLING = {"inplace", "training", "use_input_stats", "dropout_p", "max_norm", "running_mean"}

for module in (torch.nn.functional, torch.nn.init):
    for name, f in sorted(vars(module).items()):
        if not inspect.isfunction(f) or f.__module__ != module.__name__ or name.startswith("_no_grad") and module is torch.nn.init:
            continue
        parameters = inspect.signature(f).parameters.values()
        if name.endswith("_") or any(p.name in TELLING for p in parameters):
            texts = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
            print(f"{module.__name__}.{name}\t{', '.join(texts)}")
