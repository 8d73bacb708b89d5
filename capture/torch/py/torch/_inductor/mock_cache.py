"""Caches on other machines, for tests. None is used here, so that there is none to stand in for: what would count its use counts nothing."""
import contextlib
import dataclasses
import threading


@dataclasses.dataclass
class Stats:
    num_put: int = 0
    num_get_hit: int = 0
    num_get_miss: int = 0

    def __iadd__(self, other):
        self.num_put += other.num_put
        self.num_get_hit += other.num_get_hit
        self.num_get_miss += other.num_get_miss
        return self

    def reset(self):
        self.num_put = self.num_get_hit = self.num_get_miss = 0

    def __str__(self):
        return f"puts: {self.num_put}, misses: {self.num_get_miss}, hits: {self.num_get_hit}"


class _GlobalStats(threading.local):
    def __init__(self):
        self.autotune_local, self.autotune_remote, self.bundled_autotune, self.fx_graph = Stats(), Stats(), Stats(), Stats()
        self.triton, self.aot_autograd, self.dynamo_pgo = Stats(), Stats(), Stats()

    def reset(self):
        for stats in vars(self).values():
            stats.reset()


global_stats = _GlobalStats()


class PatchCaches(contextlib.AbstractContextManager):
    """Counts anew while it is entered."""

    @classmethod
    def setUp(cls):
        global_stats.reset()
        cls._active = cls()
        cls._active.__enter__()

    @classmethod
    def tearDown(cls):
        cls._active.__exit__(None, None, None)

    def __enter__(self):
        global_stats.reset()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return None
