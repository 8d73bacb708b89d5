# Tensors and arrays: memory that both see, and what each makes of the other.
import numpy as np, torch
def show(f):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__+":", e)
a = np.arange(6, dtype=np.float32).reshape(2, 3)
t = torch.from_numpy(a)
t[0, 0] = 9
print(a, t)
a[1, 1] = -1
print(t)
n = t.numpy()
n += 1
print(a, t, n.base is t, n.dtype)
for f in [lambda: torch.tensor(a), lambda: torch.tensor(np.float64(1.5)), lambda: torch.tensor([np.float64(1.5)]), lambda: torch.tensor([np.float32(1.5)]), lambda: torch.tensor(np.int32(3)), lambda: torch.tensor([a[0], a[1]]), lambda: torch.tensor([np.int64(1), 2]),
  lambda: torch.as_tensor(a).data_ptr() == torch.from_numpy(a).data_ptr(), lambda: torch.from_numpy(a[::-1]), lambda: torch.from_numpy(a[:, ::2]), lambda: torch.from_numpy(a.T).stride(), lambda: torch.from_numpy(np.array(["a"])), lambda: torch.from_numpy([1]), lambda: torch.from_numpy(np.array([None])),
  lambda: torch.ones(2, requires_grad=True).numpy(), lambda: torch.ones(2, requires_grad=True).detach().numpy(), lambda: torch.ones(2, dtype=torch.bfloat16).numpy(), lambda: np.asarray(torch.arange(3)), lambda: np.array(torch.ones(2, 2)), 
  lambda: torch.ones(2) * np.float32(3), lambda: torch.ones(2) + np.float64(2), lambda: np.float64(2) * torch.ones(2), lambda: torch.ones(2, 3) + a, lambda: torch.zeros(np.int64(2), 3).shape, lambda: torch.full((2,), np.float32(0.5)), lambda: torch.arange(3)[np.int64(1)], lambda: torch.arange(3)[np.array([0, 2])], lambda: np.exp(torch.zeros(2)), lambda: torch.tensor(np.array([1, 2], np.uint16)).dtype,
  lambda: torch.Tensor(a).dtype, lambda: torch.from_numpy(np.random.RandomState(0).rand(2)).float(), lambda: [x.item() for x in torch.from_numpy(np.arange(3))], lambda: torch.from_numpy(np.float32([1]).astype(">f4")), lambda: torch.ones(2).numpy(force=True), lambda: float(np.float64(torch.tensor(2.0).item())), lambda: torch.tensor(np.zeros((0, 3))).shape, lambda: torch.manual_seed(np.int64(3)) is None, lambda: np.array([torch.tensor(1), torch.tensor(2)]), lambda: torch.tensor(a, dtype=torch.float64), lambda: torch.tensor(True).numpy(), lambda: a @ torch.ones(3).numpy(), lambda: torch.nn.functional.one_hot(torch.from_numpy(np.array([0, 1])))]:
    show(f)
