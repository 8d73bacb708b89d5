"""Layers and the batch norm behind them as one layer, for evaluation."""
import copy

import torch


def fuse_conv_bn_eval(conv, bn, transpose=False):
    assert not (conv.training or bn.training), "Fusion only for eval!"
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return fused


def _fused(w, b, mean, var, eps, scale, shift, shape):
    b = torch.zeros_like(mean) if b is None else b
    scale = torch.ones_like(mean) if scale is None else scale
    shift = torch.zeros_like(mean) if shift is None else shift
    factor = scale * torch.rsqrt(var + eps)
    return (torch.nn.Parameter((w * factor.reshape(shape)).to(w.dtype), w.requires_grad),
            torch.nn.Parameter(((b - mean) * factor + shift).to(b.dtype), b.requires_grad))


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    rest = [1] * (conv_w.dim() - 2)
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [1, -1] + rest if transpose else [-1, 1] + rest)


def fuse_linear_bn_eval(linear, bn):
    assert not (linear.training or bn.training), "Fusion only for eval!"
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])
