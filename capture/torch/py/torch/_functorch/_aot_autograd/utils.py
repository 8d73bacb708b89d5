"""Functions that take their arguments as one list."""
import functools


def make_boxed_func(f):
    """f, called with a list of its arguments: who calls it may let go of them."""

    def boxed(args):
        return f(*args)

    boxed._boxed_call = True
    return boxed


def make_boxed_compiler(compiler):
    """compiler, whose results take their arguments as one list."""

    @functools.wraps(compiler)
    def boxing(fx_g, inps):
        return make_boxed_func(compiler(fx_g, inps))

    return boxing


def call_func_at_runtime_with_args(f, args, steal_args=False, disable_amp=False):
    """Calls f with a list of arguments, boxed or not; steal_args lets it empty the list."""
    given = args if steal_args else list(args)
    return f(given) if getattr(f, "_boxed_call", False) else f(*given)
