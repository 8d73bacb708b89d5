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


def _cond(pred, true_fn, false_fn, operands):
    """The operator under torch.cond, in graphs: the branches are graph modules."""
    return _C._cond(pred, true_fn, false_fn, tuple(operands))


_custom = {("higher_order", "cond"): _cond}
ops = _Ops()
