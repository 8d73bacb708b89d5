"""Tests of sharded parameters."""
from torch._absent import declare

declare("FSDPTest", "MLP", "FSDPTestMultiThread")
