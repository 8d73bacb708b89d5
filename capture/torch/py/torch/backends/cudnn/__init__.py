"""Settings of cuDNN, which programs set and read back; it is not there."""
import contextlib

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def is_available():
    return False


def version():
    return None


@contextlib.contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True):
    new = dict(enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic, allow_tf32=allow_tf32)
    settings = globals()
    before = {k: settings[k] for k in new}
    settings.update(new)
    try:
        yield
    finally:
        settings.update(before)
