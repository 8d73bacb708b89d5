"""A pass: a callable that changes a module's graph, and tells whether it did."""
import abc
from collections import namedtuple

__all__ = ["PassResult", "PassBase"]


class PassResult(namedtuple("PassResult", ["graph_module", "modified"])):
    """The module that a pass gives, and whether it changed anything."""

    __slots__ = ()


class PassBase(abc.ABC):
    """requires is asked before call, and ensures behind it."""

    def __call__(self, graph_module):
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module):
        """Changes the module and gives a PassResult, or None."""

    def requires(self, graph_module):
        """Checks what the pass relies on."""

    def ensures(self, graph_module):
        """Checks what the pass promises."""
