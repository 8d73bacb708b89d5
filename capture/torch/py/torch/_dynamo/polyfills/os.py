import os

from torch._dynamo.decorators import substitute_in_graph

__all__ = ["fspath"]


@substitute_in_graph(os.fspath, can_constant_fold_through=True)
def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    of = type(path)
    if not hasattr(of, "__fspath__"):
        raise TypeError(f"expected str, bytes or os.PathLike object, not {of.__name__}")
    text = of.__fspath__(path)
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"expected {of.__name__}.__fspath__() to return str or bytes, not {type(text).__name__}")
    return text
