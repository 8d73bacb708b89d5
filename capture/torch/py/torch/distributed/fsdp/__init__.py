"""Parameters in shards."""
from torch._absent import declare

declare("FullyShardedDataParallel", "MixedPrecision", "ShardingStrategy")
