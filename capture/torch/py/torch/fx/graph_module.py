import torch


class GraphModule(torch.nn.Module):
    """A captured graph as a module."""

    def __init__(self, native):
        super().__init__()
        self.__dict__["_native"] = native
        self.__dict__["meta"] = {}

    @property
    def graph(self):
        return self._native.graph()

    @property
    def code(self):
        return self._native.code()

    def forward(self, *args, **kwargs):
        return self._native.run(*args, **kwargs)

    def recompile(self):
        return self

    def print_readable(self, print_output=True, **kwargs):
        text = self._native.readable()
        if print_output:
            print(text)
        return text

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return self._native.attr(name)

    def __repr__(self):
        return "GraphModule()\n\n" + self.code + '\n# To see more debug info, please use `graph_module.print_readable()`'
