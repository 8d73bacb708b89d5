"""The frames that capture takes: native code does, and no callback of Python."""
from torch._absent import declare

declare("ConvertFrame", "ConvertFrameAssert", "GlobalStateGuard", "convert_frame", "convert_frame_assert", "catch_errors_wrapper",
        "register_bytecode_hook", "replay")
