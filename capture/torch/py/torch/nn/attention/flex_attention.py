"""Attention with a score function of the program."""
from torch._absent import declare

declare("BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks")
