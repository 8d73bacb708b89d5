"""Operators of the torch namespace that are made of others."""
import torch
from torch._C._nn import linear


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


def broadcast_shapes(*shapes):
    out = []
    for s in shapes:
        s = [s] if isinstance(s, int) else list(s)
        n = max(len(out), len(s))
        out = [1] * (n - len(out)) + out
        s = [1] * (n - len(s)) + s
        for i, (a, b) in enumerate(zip(out, s)):
            if a != b and a != 1 and b != 1:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            out[i] = b if a == 1 else a
    return torch.Size(out)


def broadcast_tensors(*tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shape = broadcast_shapes(*[t.shape for t in tensors])
    return tuple(t if t.shape == shape else t.expand(shape) for t in tensors)


def meshgrid(*tensors, indexing="ij"):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shape = [t.numel() for t in tensors]
    if indexing == "xy" and len(tensors) > 1:
        a, b = meshgrid(tensors[1], tensors[0])[:2] if len(tensors) == 2 else (None, None)
        if a is None:
            raise NotImplementedError("meshgrid: indexing='xy' takes two tensors here")
        return b, a
    out = []
    for i, t in enumerate(tensors):
        view = [1] * len(tensors)
        view[i] = t.numel()
        out.append(t.view(view).expand(shape))
    return tuple(out)


def chunk(input, chunks, dim=0):
    return input.chunk(chunks, dim)


def unravel_index(indices, shape):
    out = []
    for n in reversed(shape):
        out.append(indices % n)
        indices = indices // n
    return tuple(reversed(out))


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    gates = linear(input, w_ih, b_ih) + linear(hx[0], w_hh, b_hh)
    i, f, g, o = gates.chunk(4, 1)
    c = f.sigmoid() * hx[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    a_r, a_z, a_n = linear(input, w_ih, b_ih).chunk(3, 1)
    h_r, h_z, h_n = linear(hx, w_hh, b_hh).chunk(3, 1)
    r, z = (a_r + h_r).sigmoid(), (a_z + h_z).sigmoid()
    n = (a_n + r * h_n).tanh()
    return (hx - n) * z + n


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()
