import sys

from torch._dynamo.decorators import substitute_in_graph

__all__ = ["get_int_max_str_digits", "getrecursionlimit", "intern"]


@substitute_in_graph(sys.getrecursionlimit, can_constant_fold_through=True)
def getrecursionlimit():
    return sys.getrecursionlimit()


@substitute_in_graph(sys.get_int_max_str_digits, can_constant_fold_through=True)
def get_int_max_str_digits():
    return sys.get_int_max_str_digits()


@substitute_in_graph(sys.intern, can_constant_fold_through=True)
def intern(string, /):
    return string
