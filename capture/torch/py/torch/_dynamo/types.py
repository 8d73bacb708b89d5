"""What functions that rewrite frames are given, and what they give."""
import dataclasses
import types
from typing import Any, NamedTuple, Optional


@dataclasses.dataclass
class GuardedCode:
    """Code for a frame, and what says when it may run: an object with check(f_locals), or None for always."""

    code: types.CodeType
    guard_manager: Optional[Any] = None
    compile_id: Optional[Any] = None
    trace_annotation: str = "Unknown"


class GuardFail(NamedTuple):
    """What guard_fail_fn gets: why code could not run again, and whose code it was."""

    reason: str
    orig_code: types.CodeType
