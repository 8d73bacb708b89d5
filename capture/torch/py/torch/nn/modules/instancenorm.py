from torch.nn import functional as F
from torch.nn.modules.batchnorm import _lazy_norm, _NormBase


class _InstanceNorm(_NormBase):
    spatial = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        if input.dim() not in self.spatial:
            raise ValueError(f"expected {self.spatial[0]}D or {self.spatial[1]}D input (got {input.dim()}D input)")
        if input.dim() == self.spatial[0]:
            return self._apply_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_norm(input)

    def _apply_norm(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats, self.momentum if self.momentum is not None else 0.0, self.eps)


class InstanceNorm1d(_InstanceNorm):
    spatial = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    spatial = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    spatial = (4, 5)


LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = map(_lazy_norm, (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d))
