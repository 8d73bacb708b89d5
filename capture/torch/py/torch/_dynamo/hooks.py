"""What a caller of convert_frame is told."""
import dataclasses
from typing import Any, Callable, Optional


@dataclasses.dataclass
class Hooks:
    guard_export_fn: Optional[Callable[[Any], None]] = None
    guard_fail_fn: Optional[Callable[[Any], None]] = None
