"""Which modules a program is in, in the forward and in the backward pass."""
import weakref

import torch
from torch.autograd.graph import register_multi_grad_hook
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._pytree import tree_flatten

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """While it is entered, parents has the names of the modules that run, "Global" among them."""

    def __init__(self):
        self.parents = {"Global"}
        self._known = weakref.WeakKeyDictionary()
        self._seen = weakref.WeakSet()
        self._has_callback = False

    def _name_of(self, mod):
        """The name of a module: of those that were seen from its parent on, the path, else its class."""
        if mod not in self._known:
            self._known[mod] = type(mod).__name__
        name = self._known[mod]
        if mod not in self._seen:
            for n, sub in mod.named_children():
                self._known[sub] = f"{name}.{n}"
            self._seen.add(mod)
        return name

    @property
    def is_bw(self):
        return torch._C._current_graph_task_id() != -1

    def _enter(self, name, backward):
        def enter(*args):
            if backward:
                self._at_the_end()
            self.parents.add(name)

        return enter

    def _leave(self, name):
        def leave(*args):
            self.parents.discard(name)

        return leave

    def _at_the_end(self):
        """Forgets all modules when the backward pass is over."""
        if self._has_callback:
            return

        def done():
            self.parents = {"Global"}
            self._has_callback = False

        torch.autograd.Variable._execution_engine.queue_callback(done)
        self._has_callback = True

    def _before(self, mod, args):
        name = self._name_of(mod)
        self._enter(name, False)()
        tensors = [a for a in tree_flatten(args)[0] if isinstance(a, torch.Tensor) and a.requires_grad]
        if not self.is_bw and torch.is_grad_enabled() and tensors:
            register_multi_grad_hook(tensors, self._leave(name))

    def _behind(self, mod, args, output):
        name = self._name_of(mod)
        self._leave(name)()
        tensors = [a for a in tree_flatten(output)[0] if isinstance(a, torch.Tensor) and a.requires_grad]
        if not self.is_bw and torch.is_grad_enabled() and tensors:
            register_multi_grad_hook(tensors, self._enter(name, True))

    def __enter__(self):
        self._handles = [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._behind, always_call=True)]
        return self

    def __exit__(self, *args):
        for h in self._handles:
            h.remove()
