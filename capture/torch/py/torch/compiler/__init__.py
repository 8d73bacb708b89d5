"""torch.compiler: the public side of the compiler."""
import torch
from torch._C import _dynamo as _native


def compile(*args, **kwargs):
    return torch.compile(*args, **kwargs)


def reset():
    import torch._dynamo

    torch._dynamo.reset()


def disable(fn=None, recursive=True):
    import torch._dynamo

    return torch._dynamo.disable(fn, recursive)


def allow_in_graph(fn):
    import torch._dynamo

    return torch._dynamo.allow_in_graph(fn)


def assume_constant_result(fn):
    import torch._dynamo

    return torch._dynamo.assume_constant_result(fn)


def list_backends(exclude_tags=("debug", "experimental")):
    import torch._dynamo

    return torch._dynamo.list_backends(exclude_tags)


def is_compiling():
    return _native.is_compiling()


def is_dynamo_compiling():
    return _native.is_compiling()


def is_exporting():
    return False


class set_stance:
    """How compiled functions behave: default, force_eager, eager_on_recompile, fail_on_recompile."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False):
        if stance not in ("default", "force_eager", "eager_on_recompile", "fail_on_recompile"):
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        self.stance = stance
        self.prev = _native.set_stance(stance)

    def __enter__(self):
        _native.set_stance(self.stance)

    def __exit__(self, *args):
        _native.set_stance(self.prev)

    def __call__(self, fn):
        import functools

        _native.set_stance(self.prev)

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            with set_stance(self.stance):
                return fn(*args, **kwargs)

        return wrapper


def cudagraph_mark_step_begin():
    pass
