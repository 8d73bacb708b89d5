"""A softmax over many classes of unequal frequency (Grave et al., 2017)."""
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch.nn.modules.container import ModuleList, Sequential
from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The head has the frequent classes, those before the first cutoff, and one entry for each cluster of rarer ones. A cluster's classes have a projection of their
    own, the narrower the rarer they are."""

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and n_classes-1")
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = cutoffs + [n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, width, bias=False, device=device, dtype=dtype), Linear(width, size, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self):
        self.head.reset_parameters()
        for down, up in self.tail:
            down.reset_parameters()
            up.reset_parameters()

    def forward(self, input_, target_):
        if target_.dim() not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target_.dim() == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target_.dim() == 1 and input_.dim() != 2:
            raise RuntimeError(f"1D target tensor expects 2D input tensors, but found inputs with size {input_.size()}")
        if target_.dim() == 0 and input_.dim() != 1:
            raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input_.size()}")
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        output = input.new_empty(target.size(0)).zero_()
        in_head = target.clone()  # the entry of the head that a target falls under
        found = 0
        for i, (low, high) in enumerate(zip([0] + self.cutoffs, self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze()
            if rows.numel() == 0:
                continue
            found += rows.numel()
            if i == 0:
                continue
            among = self.tail[i - 1](input.index_select(0, rows.reshape(-1)))
            in_head.index_fill_(0, rows.reshape(-1), self.shortlist_size + i - 1)
            rest = F.log_softmax(among, dim=1).gather(1, (target[rows] - low).reshape(-1, 1))
            output = output.index_copy(0, rows.reshape(-1), rest.squeeze(1))
        if found != target.size(0):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, {target.max().item()}] were found. ")
        output = output + F.log_softmax(self.head(input), dim=1).gather(1, in_head.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _full_log_prob(self, input, head_output):
        out = input.new_empty((head_output.size(0), self.n_classes))
        head = F.log_softmax(head_output, dim=1)
        out[:, :self.shortlist_size] = head[:, :self.shortlist_size]
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            out[:, low:high] = F.log_softmax(self.tail[i](input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input):
        return self._full_log_prob(input, self.head(input))

    def predict(self, input):
        return torch.argmax(self.log_prob(input), dim=1)
