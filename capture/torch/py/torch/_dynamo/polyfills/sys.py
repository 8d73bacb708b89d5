import sys

from torch._dynamo.decorators import substitute_in_graph

__all__ = ["intern"]


@substitute_in_graph(sys.intern, can_constant_fold_through=True)
def intern(string, /):
    return string
