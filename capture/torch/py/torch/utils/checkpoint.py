"""Regions whose intermediate values are computed again for the backward pass instead of being kept.

There are two kinds. The one that is not re-entrant stands on hooks for saved tensors: what the region saves is replaced by a ticket, and the
first ticket that the backward pass hands in has the region run again. The re-entrant one is an autograd.Function whose backward runs the
region, and a backward pass of its own through it.
"""
import contextlib
import enum
import itertools
import warnings
import weakref

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

__all__ = ["checkpoint", "checkpoint_sequential", "CheckpointError", "CheckpointFunction", "check_backward_validity", "detach_variable", "get_device_states",
           "set_device_states", "noop_context_fn", "set_checkpoint_early_stop", "DefaultDeviceType", "set_checkpoint_debug_enabled", "CheckpointPolicy",
           "SelectiveCheckpointContext", "create_selective_checkpoint_contexts", "SAC_IGNORED_OPS"]

_settings = {"early_stop": True, "debug": None}
_outside = itertools.count(-2, -1)  # numbers for reads that no backward pass makes


class CheckpointError(RuntimeError):
    pass


class DefaultDeviceType:
    """The device whose random numbers are kept where the arguments do not say one."""

    _device = "cuda"

    @staticmethod
    def set_device_type(device="cuda"):
        DefaultDeviceType._device = device

    @staticmethod
    def get_device_type():
        return DefaultDeviceType._device


@contextlib.contextmanager
def _setting(name, value):
    before = _settings[name]
    _settings[name] = value
    try:
        yield
    finally:
        _settings[name] = before


def set_checkpoint_early_stop(enable):
    """Whether a region that runs again ends as soon as everything that was saved is there."""
    return _setting("early_stop", enable)


def set_checkpoint_debug_enabled(enabled):
    """Whether regions note their operators for the text of errors; None leaves it to each."""
    return _setting("debug", enabled)


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


def detach_variable(inputs):
    """The same values without their history; those that require gradients are leaves that do."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return tuple(i.detach().requires_grad_(i.requires_grad) if isinstance(i, torch.Tensor) else i for i in inputs)


def check_backward_validity(inputs):
    if not any(i.requires_grad for i in inputs if isinstance(i, torch.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None")


def _devices(*args):
    """The devices of the tensors in args, but for the CPU: their numbers, and their type."""
    found = []
    tree_map(lambda a: found.append(a.device) if isinstance(a, torch.Tensor) and a.device.type not in ("cpu", "meta") else None, args)
    kind = found[0].type if found else DefaultDeviceType.get_device_type()
    return sorted({d.index or 0 for d in found if d.type == kind}), kind


def get_device_states(*args):
    """The states of the random generators of the devices that the tensors of args are on."""
    ids, kind = _devices(*args)
    states = []
    for i in ids:
        with getattr(torch, kind).device(i):
            states.append(getattr(torch, kind).get_rng_state())
    return ids, states


def set_device_states(devices, states, *, device_type=None):
    kind = device_type or DefaultDeviceType.get_device_type()
    for i, s in zip(devices, states):
        with getattr(torch, kind).device(i):
            getattr(torch, kind).set_rng_state(s)


class _Surroundings:
    """What a region must find again when it runs once more: the random numbers, if they are to be the same, and the settings of autocast."""

    def __init__(self, preserve_rng_state, args):
        self.preserve = preserve_rng_state
        if preserve_rng_state:
            self.cpu = torch.get_rng_state()
            self.devices, self.states = get_device_states(*args)
            self.kind = _devices(*args)[1]
        self.autocast = {"device_type": "cpu", "enabled": torch.is_autocast_enabled("cpu"), "dtype": torch.get_autocast_dtype("cpu"), "cache_enabled": torch.is_autocast_cache_enabled()}

    @contextlib.contextmanager
    def again(self):
        with contextlib.ExitStack() as stack:
            if self.preserve:
                stack.enter_context(torch.random.fork_rng(devices=self.devices, enabled=True, device_type=self.kind))
                torch.set_rng_state(self.cpu)
                set_device_states(self.devices, self.states, device_type=self.kind)
            stack.enter_context(torch.amp.autocast(**self.autocast))
            yield


class CheckpointFunction(torch.autograd.Function):
    """A region of the re-entrant kind."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state, args)
        ctx.others = [None if isinstance(a, torch.Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with torch.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if not torch.autograd._is_checkpoint_valid():
            raise RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). "
                               "To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument.")
        args = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors):
            args[i] = t
        args = detach_variable(tuple(args))
        with ctx.surroundings.again(), torch.enable_grad():
            outs = ctx.run_function(*args)
        if isinstance(outs, torch.Tensor):
            outs = (outs,)
        ends = [(o, g) for o, g in zip(outs, grads) if isinstance(o, torch.Tensor) and o.requires_grad]
        if not ends:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([o for o, _ in ends], [g for _, g in ends])
        return (None, None) + tuple(a.grad if isinstance(a, torch.Tensor) else None for a in args)


class _Inputs(torch.autograd.Function):
    """Saves the tensors that a region was given, so that hooks further out see them."""

    @staticmethod
    def forward(ctx, anchor, *tensors):
        ctx.save_for_backward(*tensors)
        return torch.empty((0,))

    @staticmethod
    def backward(ctx, *grads):
        raise AssertionError("no gradient flows here")


class _Ticket:
    """Stands for a saved tensor in the graph."""


class _Done(Exception):
    """Everything that was saved is there again."""


def _facts(tensor):
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


class _Operators(TorchDispatchMode):
    """Notes the operators that run."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class _Region:
    """One call of a checkpointed function."""

    def __init__(self, function, args, kwargs, surroundings, recompute_context, check):
        self.function, self.kwargs, self.surroundings, self.recompute_context, self.check = function, kwargs, surroundings, recompute_context, check
        self.early_stop = _settings["early_stop"]
        self.tickets, self.facts, self.values, self.recounted = [], [], {}, {}
        self.places = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        self.others = [None if isinstance(a, torch.Tensor) else a for a in args]
        self.inputs = _Inputs.apply(torch.empty((0,), requires_grad=True), *(args[i] for i in self.places)).grad_fn
        self.names = [None, None]  # of the operators, then and again, where they are noted

    def hooks(self):
        """Those under which the region runs the first time."""

        def pack(tensor):
            ticket = _Ticket()
            self.tickets.append(weakref.ref(ticket))
            self.facts.append(_facts(tensor))
            return ticket

        return saved_tensors_hooks(pack, self.value)

    def value(self, ticket):
        key = torch._C._current_graph_task_id()
        if key == -1:
            key = next(_outside)
        if key not in self.values:
            self.compute(key)
        found = self.values[key]
        if ticket not in found:
            raise CheckpointError("torch.utils.checkpoint: Unpack is being triggered for a tensor that was either never recomputed, or already unpacked once. "
                                  "If you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with details on your use case.")
        value = found.pop(ticket)
        if key < -1:
            del self.values[key]
        return value

    def compute(self, key):
        found, facts = weakref.WeakKeyDictionary(), []

        def pack(tensor):
            i = len(facts)
            facts.append(_facts(tensor))
            ticket = self.tickets[i]() if i < len(self.tickets) else None
            if ticket is not None:  # else that part of the graph is gone
                found[ticket] = tensor.detach()
            if self.early_stop and len(facts) == len(self.tickets):
                raise _Done
            return tensor.detach()

        args = list(self.others)
        for i, t in zip(self.places, self.inputs.saved_tensors):
            args[i] = t
        try:
            with self.surroundings.again(), self.recompute_context, saved_tensors_hooks(pack, lambda t: t), torch.enable_grad():
                self.function(*args, **self.kwargs)
        except _Done:
            pass
        self.compare(facts)
        self.values[key] = found

    def compare(self, facts):
        """Whether the region has saved the same the second time."""
        if len(facts) != len(self.tickets):
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                                  f"Number of tensors saved during forward: {len(self.tickets)}\nNumber of tensors saved during recomputation: {len(facts)}{self.operators()}")
        if self.check is None:
            return
        wrong = [f"tensor at position {i}:\nsaved metadata: {a}\nrecomputed metadata: {b}" for i, (a, b) in enumerate(zip(self.facts, facts)) if self.check(a) != self.check(b)]
        if wrong:
            raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                                  + "\n".join(wrong) + self.operators())

    def operators(self):
        if self.names[0] is None:
            return ""
        return "\nOperators of the forward pass: " + ", ".join(self.names[0].names) + "\nOperators of the recomputation: " + ", ".join(self.names[1].names)


_checks = {"default": lambda facts: facts, "none": None}


def _without_reentry(function, preserve_rng_state, context_fn, determinism_check, debug, args, kwargs):
    if _settings["debug"] is not None:
        debug = _settings["debug"]
    names = [None, None]
    if debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        names = [_Operators(), _Operators()]
        context_fn = lambda: tuple(names)
    if determinism_check not in _checks:
        raise ValueError(f"determinism_check should be one of {list(_checks)}, but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    surroundings = _Surroundings(preserve_rng_state, args)
    region = _Region(function, args, kwargs, surroundings, recompute_context, _checks[determinism_check])
    region.names = names
    if not torch.is_grad_enabled():
        with forward_context:
            return function(*args, **kwargs)
    with region.hooks(), forward_context:
        return function(*args, **kwargs)


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, **kwargs):
    """Runs function, which will run again when the backward pass needs what it computed on the way."""
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. In version 2.5 we will raise an exception if "
                      "use_reentrant is not passed. use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can "
                      "pass use_reentrant=True. Refer to docs for more details on the differences between the two variants.", stacklevel=2)
        use_reentrant = True
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _without_reentry(function, preserve_rng_state, context_fn, determinism_check, debug, args, kwargs)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Runs modules one after the other, in segments of which each but the last is checkpointed."""
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version 2.5 we will raise an "
                      "exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you need to preserve the current default "
                      "behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences between the two variants.")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    modules = list(functions.children()) if isinstance(functions, torch.nn.Sequential) else list(functions)
    size = len(modules) // segments

    def run(part):
        def forward(x):
            for m in part:
                x = m(x)
            return x

        return forward

    last = size * (segments - 1)
    for start in range(0, last, size):
        input = checkpoint(run(modules[start : start + size]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(modules[last:])(input)


class CheckpointPolicy(enum.Enum):
    """What selective checkpointing does with an operator's result."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class SelectiveCheckpointContext:
    """What a policy is told of the pass that asks."""

    def __init__(self, *, is_recompute):
        self.is_recompute = is_recompute


SAC_IGNORED_OPS = {torch.ops.aten.detach.default}


class _Kept:
    """A result that is kept from the first run for the second one."""

    def __init__(self, value):
        self.value = value.detach() if isinstance(value, torch.Tensor) else value
        self.version = value._version if isinstance(value, torch.Tensor) else None

    def get(self, may_be_written):
        if self.version is not None and not may_be_written and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value


class _Selecting(TorchDispatchMode):
    """Asks the policy about each operator."""

    def __init__(self, policy, kept, is_recompute):
        super().__init__()
        self.policy, self.kept, self.context = policy, kept, SelectiveCheckpointContext(is_recompute=is_recompute)

    def saves(self, func, args, kwargs):
        p = self.policy(self.context, func, *args, **kwargs)
        if isinstance(p, bool):
            p = CheckpointPolicy.MUST_SAVE if p else CheckpointPolicy.PREFER_RECOMPUTE
        return p in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class _CachingTorchDispatchMode(_Selecting):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in SAC_IGNORED_OPS:
            return func(*args, **kwargs)
        saves = self.saves(func, args, kwargs)
        out = func(*args, **kwargs)
        if saves:
            self.kept.setdefault(func, []).append(tree_map(_Kept, out))
        return out


class _CachedTorchDispatchMode(_Selecting):
    def __init__(self, policy, kept, may_be_written):
        super().__init__(policy, kept, True)
        self.may_be_written = may_be_written

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in SAC_IGNORED_OPS or not self.saves(func, args, kwargs):
            return func(*args, **kwargs)
        kept = self.kept.get(func)
        if kept is None:
            raise RuntimeError(f"{func} encountered during backward, but not found in storage")
        if not kept:
            raise RuntimeError("Trying to backward an extra time. You are only allowed to backward once on any region computed under selective activation checkpoint.")
        return tree_map(lambda k: k.get(self.may_be_written), kept.pop(0))


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The contexts for a region (the argument context_fn of checkpoint) that keeps the results of some operators: those of the list, or those for
    which the function gives a CheckpointPolicy that saves them."""
    policy = policy_fn_or_list
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, torch._ops.OpOverload):
                hint = ""
                if isinstance(op, torch._ops.OpOverloadPacket):
                    hint = "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}")
        policy = lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_SAVE if op in policy_fn_or_list else CheckpointPolicy.PREFER_RECOMPUTE
    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    kept = {}
    return _CachingTorchDispatchMode(policy, kept, False), _CachedTorchDispatchMode(policy, kept, allow_cache_entry_mutation)
