"""The frames that capture takes: native code does, and no callback of Python."""
from torch._absent import declare

declare("ConvertFrame", "ConvertFrameAssert", "convert_frame", "convert_frame_assert", "catch_errors_wrapper",
        "register_bytecode_hook")


def replay(filename):
    """Captures a frame again that config.replay_record_enabled wrote down when it failed, and runs it, with its backend and without its program."""
    import os

    from torch._C import _dynamo as native

    native.replay(os.fspath(filename))


def __getattr__(name):
    # The counters of frames and of their compilations: native code counts.
    from torch._C import _dynamo as native

    if name == "FRAME_COUNTER":
        return native.frame_counter()
    if name == "GlobalStateGuard":
        return native.guards.GlobalStateGuard
    if name == "FRAME_COMPILE_COUNTER":
        import collections

        return collections.Counter(native.frame_compile_counter())
    raise AttributeError(f"module 'torch._dynamo.convert_frame' has no attribute '{name}'")
