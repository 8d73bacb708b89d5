"""Modules whose activations are computed again."""
from torch._absent import declare

declare("CheckpointImpl", "CheckpointWrapper", "OffloadWrapper", "apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper")
