"""Remote caches for tests."""
from torch._absent import declare

declare("MockBackend", "PatchCaches", "Stats", "global_stats")
