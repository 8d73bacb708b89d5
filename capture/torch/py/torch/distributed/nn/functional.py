import torch.distributed as dist
from torch.distributed.distributed_c10d import ReduceOp


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    dist.get_rank()
    return tensor.clone()


def broadcast(tensor, src, group=None):
    dist.get_rank()
    return tensor.clone()


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    return all_reduce(tensor, op, group)


def all_gather(tensor, group=None):
    return (all_reduce(tensor),)


def gather(tensor, dst=0, group=None):
    return (all_reduce(tensor),)


def scatter(tensors, src=0, group=None):
    return all_reduce(tensors[0])


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    return all_reduce(input_list[0])


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    return tuple(all_reduce(t) for t in input_tensor_list)
