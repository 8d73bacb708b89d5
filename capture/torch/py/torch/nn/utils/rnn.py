"""Sequences of different lengths: padded to one length, or packed step by step."""
from collections import namedtuple

import torch

_Packed = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


def invert_permutation(permutation):
    if permutation is None:
        return None
    output = torch.empty_like(permutation)
    output.scatter_(0, permutation, torch.arange(0, permutation.numel(), device=permutation.device))
    return output


class PackedSequence(_Packed):
    """The elements of all sequences by time step, longest sequence first; batch_sizes says how many there are at each step."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(f"batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self):
        return self.to(device="cpu")

    def cuda(self, *args, **kwargs):
        return type(self)(self.data.cuda(*args, **kwargs), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def double(self):
        return self.to(dtype=torch.double)

    def float(self):
        return self.to(dtype=torch.float)

    def half(self):
        return self.to(dtype=torch.half)

    def long(self):
        return self.to(dtype=torch.long)

    def pin_memory(self):
        return self

    def is_pinned(self):
        return False

    @property
    def is_cuda(self):
        return False


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = lengths.cpu().to(torch.int64) if isinstance(lengths, torch.Tensor) else torch.as_tensor(lengths, dtype=torch.int64)
    if enforce_sorted:
        sorted_indices = None
    else:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    steps = input.transpose(0, 1) if batch_first else input
    counts = lengths.tolist()
    if len(counts) != steps.size(1):
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={steps.size(1)})")
    if any(n <= 0 for n in counts):
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(counts, counts[1:])):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    if counts[0] > steps.size(0):
        raise RuntimeError(f"Expected `lengths` to be at most {steps.size(0)}, but got {counts[0]}")
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    data = torch.cat([steps[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, torch.tensor(sizes), sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} and max sequence length being {longest}")
        longest = total_length
    steps = []
    for part in torch.split(sequence.data, sizes):
        missing = sizes[0] - part.size(0)
        steps.append(torch.cat([part, part.new_full((missing, *part.shape[1:]), padding_value)]) if missing else part)
    steps += [sequence.data.new_full((sizes[0], *sequence.data.shape[1:]), padding_value)] * (longest - len(sizes))
    padded = torch.stack(steps, 1 if batch_first else 0)
    lengths = torch.tensor([sum(n > b for n in sizes) for b in range(sizes[0])])
    if sequence.unsorted_indices is not None:
        return padded.index_select(0 if batch_first else 1, sequence.unsorted_indices), lengths[sequence.unsorted_indices]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if isinstance(sequences, torch.Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        missing = longest - s.size(0)
        if missing:
            fill = s.new_full((missing, *s.shape[1:]), padding_value)
            s = torch.cat([s, fill] if padding_side == "right" else [fill, s])
        rows.append(s)
    return torch.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(rows, lengths.tolist() if isinstance(lengths, torch.Tensor) else lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.as_tensor([v.size(0) for v in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
