import torch
from torch.overrides import BaseTorchFunctionMode, TorchFunctionMode, has_torch_function


class Seen(TorchFunctionMode):
    def __init__(self, name):
        self.name = name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(self.name, func.__name__, [t.__name__ for t in types], len(args))
        return func(*args, **(kwargs or {}))


x = torch.ones(2)
with Seen("outer"), Seen("inner"):
    torch.add(x, 1)
    x - 3
    x @ x
    x[0]
with Seen("all"):
    with torch._C.DisableTorchFunction():
        x.sum()
    with torch._C.DisableTorchFunctionSubclass():
        x.sum()
print(torch._C._len_torch_function_stack())


class Plain(torch.Tensor):
    pass


class Zero(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.add:
            return torch.zeros(2)
        return super().__torch_function__(func, types, args, kwargs)


class Never(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


p, z, n = x.as_subclass(Plain), x.as_subclass(Zero), x.as_subclass(Never)
print(type(p + 1).__name__, type(torch.add(p, 1)).__name__, type(z * 2).__name__, torch.add(z, 1).tolist(), type(torch.cat([p, x])).__name__)
print(type(torch.nn.Parameter(x) + 1).__name__)
for f in (lambda: torch.add(n, 1), lambda: n.sum(), lambda: torch.nn.functional.gelu(n)):
    try:
        f()
    except TypeError as e:
        print(e)
print(has_torch_function((x,)), has_torch_function((z,)))
with BaseTorchFunctionMode():
    print(has_torch_function((x,)))

torch.set_default_device("cpu")
with Seen("above"):
    print([type(m).__name__ for m in torch.overrides._get_current_function_mode_stack()])
    torch.zeros(2)
torch.set_default_device(None)
print(torch.overrides._get_current_function_mode_stack())
with torch.device("cpu"):
    print(torch.ones(1).device)
try:
    torch._C._pop_torch_function_stack()
except (RuntimeError, AssertionError) as e:
    print(type(e).__name__)

print(torch.promote_types(torch.int32, torch.float16), torch.result_type(torch.ones(1, dtype=torch.int8), 1.5), torch.result_type(torch.tensor(2), torch.ones(1)))
print(torch.return_types.max((1, 2)), torch.return_types.max.n_fields, isinstance(torch.max(torch.ones(2, 2), 0), torch.return_types.max))
try:
    torch.return_types.max((1,))
except TypeError as e:
    print(e)
s = torch.Size([2, 3])
print(s + s, s + (1,), s * 2, s[:1], s[0], s[-1:])
print(type((1,) + s).__name__)
