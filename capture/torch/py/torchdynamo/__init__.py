"""The first name of torch._dynamo, which the first documents use: the same module."""
import importlib
import sys

import torch._dynamo

for _name in ("config", "utils", "exc", "eval_frame", "testing", "backends", "comptime"):
    sys.modules["torchdynamo." + _name] = importlib.import_module("torch._dynamo." + _name)
sys.modules["torchdynamo"] = torch._dynamo
