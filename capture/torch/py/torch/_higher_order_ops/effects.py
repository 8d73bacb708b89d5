"""Operators with effects."""
from torch._absent import declare

declare("_EffectType", "_register_effectful_op", "with_effects")
