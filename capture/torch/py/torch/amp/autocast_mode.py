import functools


class autocast:
    """Automatic mixed precision; only the disabled form has an effect here (none)."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        self.device, self.fast_dtype, self._enabled = device_type, dtype, enabled
        if enabled and device_type == "cpu":
            raise NotImplementedError("autocast on the CPU is not supported")

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def __call__(self, func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return inner
