"""Guards of compiled code, as far as programs have to do with them; native code makes and checks them."""

import builtins
import enum
import re

from torch._absent import declare

declare("CheckFunctionManager", "GuardBuilder", "GuardManagerWrapper", "get_guard_fail_reason", "guard_error_hook", "install_guard")


class GuardManagerType(enum.Enum):
    GUARD_MANAGER = 1
    DICT_GUARD_MANAGER = 2
    DICT_SUBCLASS_GUARD_MANAGER = 3


class DeletedGuardManagerWrapper:
    """What an entry has for guards when what they were about is gone."""

    def __init__(self, reason):
        self.invalidation_reason = reason

    def check(self, value):
        return False


def strip_function_call(name):
    """The name of the object that an expression begins with, behind functions that are called on it."""
    for part in re.split(r"[(\[\]),]|\.", name):
        # Functions stand in front of the object; names of Python are no objects of a frame.
        if part and part.isidentifier() and part not in ("getattr", "slice", "type", "___odict_getitem", "___tuple_iterator_getitem", "___dict_keys_getitem") and not hasattr(builtins, part):
            return part
    return name.strip("(")
