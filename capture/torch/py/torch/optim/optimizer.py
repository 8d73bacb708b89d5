"""The base class of optimizers: parameter groups, state, hooks."""
import functools
import typing
import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy

import torch


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


class _Groups:
    """Parameter groups and their state."""

    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, torch.Tensor):
            param_group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead.")
        else:
            param_group["params"] = _without_names(param_group, list(params))
        for p in param_group["params"]:
            if not isinstance(p, torch.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + torch.typename(p))
            if not (p.is_leaf or p.requires_grad and self.defaults.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        seen = _seen(self.param_groups, param_group)
        if not seen.isdisjoint(set(param_group["params"])):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def state_dict(self):
        """The groups, and the state of the parameters by their numbers."""
        index = {}
        groups = []
        for g in self.param_groups:
            packed = {k: v for k, v in g.items() if k != "params"}
            for p in g["params"]:
                index.setdefault(id(p), len(index))
            packed["params"] = [index[id(p)] for p in g["params"]]
            groups.append(packed)
        state = {(index[id(k)] if isinstance(k, torch.Tensor) else k): v for k, v in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        params = {}
        for s, g in zip(saved, self.param_groups):
            if len(s["params"]) != len(g["params"]):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
            for i, p in zip(s["params"], g["params"]):
                params[i] = p
            for k, v in s.items():
                if k != "params":
                    g[k] = v
        self.state = defaultdict(dict)
        for k, v in state_dict["state"].items():
            self.state[params[k] if k in params else k] = _like(params[k], v) if k in params else deepcopy(v)


def _ahead_of_capture(func):
    """Marks a method that capture runs while it traces: it makes the state that compiled code then finds."""
    func._torchdynamo_ahead = True
    return func


# Reports of graph breaks name the line below on which step() breaks:
# it is line 90 in PyTorch, too.
def _use_grad_for_differentiable(func):
    def _use_grad(self, *args, **kwargs):
        prev = torch.is_grad_enabled()
        try:
            torch.set_grad_enabled(self.defaults["differentiable"])
            torch._dynamo.graph_break()
            ret = func(self, *args, **kwargs)
        finally:
            torch._dynamo.graph_break()
            torch.set_grad_enabled(prev)
        return ret

    functools.update_wrapper(_use_grad, func)
    return _use_grad


ParamsT = typing.Union[typing.Iterable[torch.Tensor], typing.Iterable[typing.Dict[str, typing.Any]], typing.Iterable[typing.Tuple[str, torch.Tensor]]]
StateDict = typing.Dict[str, typing.Any]


def _value(x):
    return x.item() if isinstance(x, torch.Tensor) else x


_global_optimizer_pre_hooks, _global_optimizer_post_hooks = OrderedDict(), OrderedDict()


def _registered(hooks, hook, prepend=False):
    """A handle of a hook, which is among hooks from now on."""
    from torch.nn.modules.module import RemovableHandle

    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    """Has a hook called before each step of every optimizer, before the optimizer's own."""
    return _registered(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Has a hook called behind each step of every optimizer."""
    return _registered(_global_optimizer_post_hooks, hook)


class Optimizer(_Groups):
    _captured = "params and state_steps"  # what a device would have to capture
    _takes_sparse = False
    _state_lists = ()  # the parts of a parameter's state, in the order in which step() collects them

    @_ahead_of_capture
    def _init_group(self, group):
        """Makes what the state of the group's parameters lacks."""

    def __init__(self, params, defaults):
        torch._C._log_api_usage_once("python.optimizer")
        self.defaults = defaults
        self._optimizer_step_pre_hooks = OrderedDict()
        self._optimizer_step_post_hooks = OrderedDict()
        self._start_state_hooks()
        self._patch_step_function()
        if isinstance(params, torch.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + torch.typename(params))
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if len(groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for g in groups:
            self.add_param_group(g)

    def __repr__(self):
        s = self.__class__.__name__ + " ("
        for i, group in enumerate(self.param_groups):
            s += f"\nParameter Group {i}\n"
            for key in sorted(group.keys()):
                if key != "params":
                    s += f"    {key}: {group[key]}\n"
        return s + ")"

    def _start_state_hooks(self):
        self._optimizer_state_dict_pre_hooks, self._optimizer_state_dict_post_hooks = OrderedDict(), OrderedDict()
        self._optimizer_load_state_dict_pre_hooks, self._optimizer_load_state_dict_post_hooks = OrderedDict(), OrderedDict()

    @staticmethod
    def profile_hook_step(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self, *_ = args
            with torch.autograd.profiler.record_function(self._step_label):
                for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                    result = hook(self, args, kwargs)
                    if result is not None:
                        if not (isinstance(result, tuple) and len(result) == 2):
                            raise RuntimeError(f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
                        args, kwargs = result
                out = func(*args, **kwargs)
                for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
                    hook(self, args, kwargs)
                return out

        return wrapper

    def _patch_step_function(self):
        self._step_label, self._zero_grad_label = f"Optimizer.step#{type(self).__name__}.step", f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"
        hooked = getattr(self.__class__.step, "hooked", None)
        if not hooked:
            self.__class__.step = self.profile_hook_step(self.__class__.step)
            self.__class__.step.hooked = True

    def register_step_pre_hook(self, hook):
        return _registered(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        return _registered(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return _registered(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        return _registered(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        return _registered(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return _registered(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    @torch._disable_dynamo
    def state_dict(self):
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        state = super().state_dict()
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, state)
            if changed is not None:
                state = changed
        return state

    @torch._disable_dynamo
    def load_state_dict(self, state_dict):
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        super().load_state_dict(state_dict)
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"):
            self.__dict__.setdefault(name, OrderedDict())
        self._start_state_hooks()
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    @torch._disable_dynamo
    def zero_grad(self, set_to_none=True):
        with torch.autograd.profiler.record_function(self._zero_grad_label):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        if set_to_none:
                            p.grad = None
                        else:
                            if p.grad.grad_fn is not None:
                                p.grad.detach_()
                            else:
                                p.grad.requires_grad_(False)
                            p.grad.zero_()

    def step(self, closure=None):
        raise NotImplementedError


class _PerParameter(Optimizer):
    """An optimizer whose step treats one parameter after the other: _start makes a parameter's state, _update changes the parameter."""

    _positive = ()  # hyperparameters that must not be negative, with the word that the error has for them

    def __init__(self, params, defaults):
        lr = defaults["lr"]
        if isinstance(lr, torch.Tensor):
            if defaults.get("foreach") and not defaults.get("capturable"):
                raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        for name, word in self._positive:
            if not 0.0 <= defaults[name]:
                raise ValueError(f"Invalid {word}: {defaults[name]}")
        for i, beta in enumerate(defaults.get("betas", ())):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, defaults)

    @_ahead_of_capture
    def _init_group(self, group):
        for p in group["params"]:
            if p.grad is None:
                continue
            if p.grad.is_sparse and not self._takes_sparse:
                raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")
            if len(self.state[p]) == 0:
                self.state[p].update(self._start(p, group))

    @_use_grad_for_differentiable
    def step(self, closure=None):
        return self._steps(closure)

    def _steps(self, closure):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._init_group(group)
            _check_capturable(self, group)
            for p in group["params"]:
                if p.grad is not None:
                    state = self.state[p]
                    state["step"] += 1
                    self._update(p, -p.grad if group["maximize"] else p.grad, state, group)
        return loss


def _check_capturable(optimizer, group):
    """Raises where a group is to be captured by a device that it is not on. Compiled code is no capture of that kind."""
    if group.get("capturable") and not torch.compiler.is_compiling() and any(p.grad is not None for p in group["params"]):
        devices = ["cuda", "xpu", "hpu", "privateuseone", "xla"][: 4 if type(optimizer).__name__ == "Adadelta" else 5]
        raise AssertionError(f"If capturable=True, {optimizer._captured} must be on supported devices: {devices}.")


def _check_fused(fused, foreach, differentiable):
    """Raises for settings that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def _plus(root, eps, group):
    """A root with something added: in place, unless the backward pass of a step is wanted, which reads the root."""
    return root.add(eps) if group["differentiable"] else root.add_(eps)


def _count(state, group):
    """How many steps there were: a number, or the tensor that counts them in compiled code."""
    return state["step"] if torch.compiler.is_compiling() or group["capturable"] else _value(state["step"])


def _without_names(param_group, params):
    """The parameters of pairs of names and parameters; the group keeps the names."""
    if any(isinstance(p, tuple) for p in params):
        if not all(isinstance(p, tuple) for p in params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        param_group["param_names"] = [name for name, _ in params]
        params = [p for _, p in params]
    return params


def _like(p, state):
    """The loaded state of a parameter: of the dtype of that, but for the number of steps."""

    def of(v, key):
        if isinstance(v, torch.Tensor):
            if key == "step" or not p.is_floating_point():
                return v.clone()
            return v.to(dtype=p.dtype, copy=True)
        if isinstance(v, dict):
            return {k: of(x, k) for k, x in v.items()}
        return type(v)(of(x, key) for x in v) if isinstance(v, (list, tuple)) else deepcopy(v)

    return of(state, None)


def _seen(groups, new):
    """The parameters of groups, once it is checked that a new group goes with them."""
    if len(set(new["params"])) != len(new["params"]):
        warnings.warn(
            "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see github.com/pytorch/pytorch/issues/40967 for more information",
            stacklevel=5,
        )
    if groups and ("param_names" in new) != ("param_names" in groups[0]):
        raise ValueError(f"all optimizer param groups should be with/without names. cannot add param group {'with' if 'param_names' in new else 'without'} names to the optimizer")
    return {p for g in groups for p in g["params"]}
