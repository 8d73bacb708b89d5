"""Regions whose results are computed again for backward: capture knows them, and plain calls keep what they compute."""
import enum

from torch._absent import declare


def checkpoint(function, *args, use_reentrant=None, **kwargs):
    """Runs function; gradients are those of a plain call, and nothing is recomputed."""
    for k in ("preserve_rng_state", "context_fn", "determinism_check", "debug"):
        kwargs.pop(k, None)
    return function(*args, **kwargs)


class CheckpointPolicy(enum.Enum):
    """What selective checkpointing does with an operator's result."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class CheckpointError(RuntimeError):
    pass


declare("SelectiveCheckpointContext", "CheckpointFunction", "checkpoint_sequential", "create_selective_checkpoint_contexts", "set_checkpoint_debug_enabled",
        "set_checkpoint_early_stop")
