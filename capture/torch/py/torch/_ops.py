"""torch.ops: namespaces of operators."""
from torch import _C


class _OpNamespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        custom = _custom.get((self._name, name))
        op = custom if custom is not None else _C._packet(self._name, name)
        self.__dict__[name] = op
        return op

    def __repr__(self):
        return f"<module 'torch.ops.{self._name}'>"


class _Ops:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        ns = _OpNamespace(name)
        self.__dict__[name] = ns
        return ns

    def load_library(self, path):
        raise NotImplementedError("torch.ops.load_library is not supported")


class HigherOrderOperator:
    """An operator some of whose arguments are graphs."""

    def __init__(self, name, run):
        self.__name__, self._run = name, run

    def __call__(self, *args, **kwargs):
        return self._run(*args, **kwargs)

    def name(self):
        return self.__name__

    def __repr__(self):
        return self.__name__


def _cond(pred, true_fn, false_fn, operands):
    """The operator under torch.cond, in graphs: the branches are graph modules."""
    return _C._cond(pred, true_fn, false_fn, tuple(operands))


def _tag_activation_checkpoint(body, *operands, **settings):
    """The operator under torch.utils.checkpoint in graphs: the body is a graph module."""
    return body(*operands)


_custom = {
    ("higher_order", "cond"): HigherOrderOperator("cond", _cond),
    ("higher_order", "tag_activation_checkpoint"): HigherOrderOperator("tag_activation_checkpoint", _tag_activation_checkpoint),
}
ops = _Ops()
