"""A cache of compiled functions with their backward, in this process."""
import torch
from torch._absent import declare
from torch._dynamo.utils import counters
from torch._functorch import config
from torch._inductor.codecache import compiled_fx_graph_hash

declare("AOTAutogradCacheEntry")


class BypassAOTAutogradCache(Exception):
    """A graph that the cache does not keep, and why."""


def _known(target):
    """Whether what a function does follows from its name: those of torch, of torch.ops and of builtins."""
    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)) or type(target).__name__ == "builtin_function_or_method":
        return True
    return getattr(target, "__module__", None) in ("torch", "torch.functional", "torch.nn.functional") and not target.__name__.startswith("_")


def check_cacheable(gm):
    """Raises BypassAOTAutogradCache where the text of a graph does not say all that it does."""
    for node in gm.graph.nodes:
        if node.op == "call_module":
            raise BypassAOTAutogradCache(f"Unsupported call_module target {node.target}")
        if node.op == "call_function" and not _known(node.target):
            raise BypassAOTAutogradCache(f"Unsupported call_function target {node.target}. Function module: {getattr(node.target, '__module__', None)}")


def autograd_cache_key(gm, example_inputs, aot_config, fx_config):
    """The name of a graph with these inputs, compiled so; and the lines that it is the hash of."""
    check_cacheable(gm)
    settings = {
        "keep_inference_input_mutations": aot_config.keep_inference_input_mutations,
        "num_params_buffers": aot_config.num_params_buffers,
        "decompositions": sorted(map(str, aot_config.decompositions)),
        "partition_fn": getattr(aot_config.partition_fn, "__qualname__", repr(aot_config.partition_fn)),
        "grad_mode": torch.is_grad_enabled(),
        "autocast": torch.is_autocast_enabled(),
        "functorch": sorted((k, repr(v)) for k, v in config.get_config_copy().items()),
        **fx_config,
    }
    key, lines = compiled_fx_graph_hash(gm, example_inputs, settings, ())
    return "a" + key[1:], lines


class AOTAutogradCache:
    """Compiled functions by the name of their graph."""

    _entries = {}

    @staticmethod
    def clear():
        """Forgets all."""
        AOTAutogradCache._entries.clear()

    @staticmethod
    def load(dispatch_and_compile, mod, args, aot_config, cudagraphs=None, local=True, remote=False):
        """What dispatch_and_compile makes of mod, or made of an equal graph before."""
        seen = counters["aot_autograd"]
        try:
            key, _ = autograd_cache_key(mod, args, aot_config, {})
        except BypassAOTAutogradCache:
            seen["autograd_cache_bypass"] += 1
            if config.strict_autograd_cache:
                raise
            return dispatch_and_compile()
        made = AOTAutogradCache._entries.get(key)
        if made is not None:
            seen["autograd_cache_hit"] += 1
            return made
        seen["autograd_cache_miss"] += 1
        made = AOTAutogradCache._entries[key] = dispatch_and_compile()
        seen["autograd_cache_saved"] += 1
        return made
