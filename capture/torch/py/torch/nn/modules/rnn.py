"""Recurrent cells, and layers as loops over them."""
import math
import warnings

import torch
from torch import _VF
from torch.nn import init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence


class RNNCellBase(Module):
    chunks = 1

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        n = self.chunks * hidden_size
        self.weight_ih = Parameter(torch.empty((n, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((n, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(n, device=device, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(n, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -stdv, stdv)

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if input.dim() not in (1, 2):
            raise ValueError(f"RNNCell: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None and hx.dim() not in (1, 2):
            raise ValueError(f"RNNCell: Expected hidden to be 1D or 2D, got {hx.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        cell = _VF.rnn_tanh_cell if self.nonlinearity == "tanh" else _VF.rnn_relu_cell
        ret = cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return ret if is_batched else ret.squeeze(0)


class LSTMCell(RNNCellBase):
    chunks = 4

    def forward(self, input, hx=None):
        if input.dim() not in (1, 2):
            raise ValueError(f"LSTMCell: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None:
            for idx, value in enumerate(hx):
                if value.dim() not in (1, 2):
                    raise ValueError(f"LSTMCell: Expected hx[{idx}] to be 1D or 2D, got {value.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        else:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0)) if not is_batched else hx
        ret = _VF.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            ret = (ret[0].squeeze(0), ret[1].squeeze(0))
        return ret


class GRUCell(RNNCellBase):
    chunks = 3

    def forward(self, input, hx=None):
        if input.dim() not in (1, 2):
            raise ValueError(f"GRUCell: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None and hx.dim() not in (1, 2):
            raise ValueError(f"GRUCell: Expected hidden to be 1D or 2D, got {hx.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        else:
            hx = hx.unsqueeze(0) if not is_batched else hx
        ret = _VF.gru_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return ret if is_batched else ret.squeeze(0)


class RNNBase(Module):
    gates = 1

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, float(dropout), bidirectional, proj_size
        self._check(dropout)
        state = proj_size or hidden_size
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                width = input_size if layer == 0 else state * (2 if bidirectional else 1)
                n = self.gates * hidden_size
                tail = f"_l{layer}{suffix}"
                setattr(self, "weight_ih" + tail, Parameter(torch.empty((n, width), device=device, dtype=dtype)))
                setattr(self, "weight_hh" + tail, Parameter(torch.empty((n, state), device=device, dtype=dtype)))
                if bias:
                    setattr(self, "bias_ih" + tail, Parameter(torch.empty(n, device=device, dtype=dtype)))
                    setattr(self, "bias_hh" + tail, Parameter(torch.empty(n, device=device, dtype=dtype)))
                if proj_size:
                    setattr(self, "weight_hr" + tail, Parameter(torch.empty((proj_size, hidden_size), device=device, dtype=dtype)))
        self.reset_parameters()

    def _check(self, dropout):
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if dropout > 0 and self.num_layers == 1:
            warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, "
                          f"but got dropout={dropout} and num_layers={self.num_layers}", stacklevel=4)
        if not isinstance(self.hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(self.hidden_size).__name__}")
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -stdv, stdv)

    def _cell(self, x, state, tail):
        raise NotImplementedError

    def _check_call(self, input, hx, kind):
        """Refuses what the steps would broadcast or fail at: of the input its dimensions, dtype and sizes, then those of the states (hx: None, or all of them)."""
        name, dims = type(self).__name__, input.dim()
        if dims not in (2, 3):
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {dims}D {kind}")
        if hx is not None and any(h.dim() != dims for h in hx):
            sort = "batched 3-D" if dims == 3 else "unbatched 2-D"
            if len(hx) == 2:
                raise RuntimeError(f"For {sort} input, hx and cx should also be {dims}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors")
            raise RuntimeError(f"For {sort} input, hx should also be {dims}-D but got {hx[0].dim()}-D tensor")
        dtype = self._weights("_l0")[0].dtype
        if input.dtype != dtype and not torch.is_autocast_enabled("cpu"):
            raise ValueError(f"input must have the type {dtype}, got type {input.dtype}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")
        steps_first = dims == 2 or not self.batch_first
        if hx is not None:
            self._check_states(hx, 1 if dims == 2 else input.size(1 if steps_first else 0), dims == 2)
        if input.size(0 if steps_first else 1) == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")

    def _check_states(self, hx, batch, unbatched=False):
        for i, (h, width) in enumerate(zip(hx, (self.proj_size or self.hidden_size, self.hidden_size))):
            want = (self.num_layers * (2 if self.bidirectional else 1), batch, width)
            got = list(h.size())
            if unbatched:
                got.insert(1, 1)
            if tuple(got) != want:
                raise RuntimeError(f"Expected hidden{f'[{i}]' if len(hx) == 2 else ''} size {want}, got {got}")

    def _run(self, x, state, tail, reverse):
        steps = range(x.size(0) - 1, -1, -1) if reverse else range(x.size(0))
        outs = [None] * x.size(0)
        for t in steps:
            state = self._cell(x[t], state, tail)
            outs[t] = state[0] if isinstance(state, tuple) else state
        return torch.stack(outs), state

    def _weights(self, tail):
        b = (getattr(self, "bias_ih" + tail), getattr(self, "bias_hh" + tail)) if self.bias else (None, None)
        return (getattr(self, "weight_ih" + tail), getattr(self, "weight_hh" + tail), *b)

    def flatten_parameters(self):
        """Puts the weights side by side for CUDA: there is nothing to be done."""

    @property
    def all_weights(self):
        tails = [f"_l{layer}{d}" for layer in range(self.num_layers) for d in (("", "_reverse") if self.bidirectional else ("",))]
        return [[getattr(self, kind + tail) for kind in (("weight_ih", "weight_hh") + (("bias_ih", "bias_hh") if self.bias else ()) + (("weight_hr",) if self.proj_size else ()))] for tail in tails]

    def _packed(self, input, hx):
        """A call with a packed sequence: its sequences go through the layers one by one."""
        order = input.sorted_indices
        padded, lengths = pad_packed_sequence(PackedSequence(input.data, input.batch_sizes))
        both = isinstance(hx, tuple)
        states = hx if both or hx is None else (hx,)
        if states is not None and order is not None:
            states = tuple(s.index_select(1, order) for s in states)
        outs, finals = [], []
        for b, n in enumerate(lengths.tolist()):
            state = None if states is None else tuple(s[:, b : b + 1] for s in states)
            out, final = self._whole(padded[:n, b : b + 1], state if both or state is None else state[0])
            outs.append(out.squeeze(1))
            finals.append(final if isinstance(final, tuple) else (final,))
        final = tuple(torch.cat(parts, 1) for parts in zip(*finals))
        if input.unsorted_indices is not None:
            final = tuple(f.index_select(1, input.unsorted_indices) for f in final)
        data = pack_sequence(outs).data
        return PackedSequence(data, input.batch_sizes, order, input.unsorted_indices), final if len(final) == 2 else final[0]

    def _whole(self, input, hx):
        """A call with steps first, whatever the layer says."""
        first, self.batch_first = self.batch_first, False
        try:
            return self.forward(input, hx)
        finally:
            self.batch_first = first

    def _layers(self, input, state_of, pack):
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(1)
        elif self.batch_first:
            input = input.transpose(0, 1)
        finals = []
        dirs = 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            outs = []
            for d in range(dirs):
                tail = f"_l{layer}" + ("_reverse" if d else "")
                out, final = self._run(input, state_of(layer * dirs + d, input, batched), tail, d == 1)
                outs.append(out)
                finals.append(final)
            input = outs[0] if dirs == 1 else torch.cat(outs, -1)
            if self.dropout and layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, self.training)
        final = pack(finals)
        if not batched:
            return input.squeeze(1), (tuple(f.squeeze(1) for f in final) if isinstance(final, tuple) else final.squeeze(1))
        return (input.transpose(0, 1) if self.batch_first else input), final

    def extra_repr(self):
        s = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            s += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            s += f", num_layers={self.num_layers}"
        if not self.bias:
            s += f", bias={self.bias}"
        if self.batch_first:
            s += f", batch_first={self.batch_first}"
        if self.dropout:
            s += f", dropout={self.dropout}"
        if self.bidirectional:
            s += f", bidirectional={self.bidirectional}"
        return s


class _OneState(RNNBase):
    _wording = "instead"

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(*args, **kwargs)

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            if hx is not None:
                self._check_states((hx,), int(input.batch_sizes[0]))
            return self._packed(input, hx)
        self._check_call(input, None if hx is None else (hx,), self._wording)

        def state_of(i, x, batched):
            if hx is None:
                return torch.zeros(x.size(1), self.hidden_size, dtype=x.dtype, device=x.device)
            return hx[i] if batched else hx[i].unsqueeze(0)

        return self._layers(input, state_of, torch.stack)


class RNN(_OneState):
    _wording = "tensor instead"

    def __init__(self, *args, **kwargs):
        if len(args) > 3:  # the nonlinearity is the fourth
            kwargs["nonlinearity"] = args[3]
            args = args[:3] + args[4:]
        nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(*args, **kwargs)
        self.nonlinearity = nonlinearity

    def _cell(self, x, state, tail):
        return (torch.rnn_tanh_cell if self.nonlinearity == "tanh" else torch.rnn_relu_cell)(x, state, *self._weights(tail))


class GRU(_OneState):
    gates = 3

    def _cell(self, x, state, tail):
        return torch.gru_cell(x, state, *self._weights(tail))


class LSTM(RNNBase):
    gates = 4

    def _cell(self, x, state, tail):
        h, c = torch.lstm_cell(x, state, *self._weights(tail))
        return (F.linear(h, getattr(self, "weight_hr" + tail)) if self.proj_size else h), c

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        self._check_call(input, hx, "instead")

        def state_of(i, x, batched):
            if hx is None:
                z = torch.zeros(x.size(1), self.hidden_size, dtype=x.dtype, device=x.device)
                return (z.new_zeros(x.size(1), self.proj_size) if self.proj_size else z), z
            return (hx[0][i], hx[1][i]) if batched else (hx[0][i].unsqueeze(0), hx[1][i].unsqueeze(0))

        return self._layers(input, state_of, lambda fs: (torch.stack([f[0] for f in fs]), torch.stack([f[1] for f in fs])))
