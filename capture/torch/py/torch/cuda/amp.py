class autocast:
    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        self.enabled = enabled

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


def __getattr__(name):
    import torch.amp

    if name == "GradScaler":
        return _scaler()
    if name in ("custom_fwd", "custom_bwd"):
        import functools

        return functools.partial(getattr(torch.amp, name), device_type="cuda")
    raise AttributeError(f"module 'torch.cuda.amp' has no attribute '{name}'")


def _scaler():
    from torch.amp.grad_scaler import GradScaler as base

    class GradScaler(base):
        def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
            super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    globals()["GradScaler"] = GradScaler
    return GradScaler
