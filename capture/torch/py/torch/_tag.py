"""What operators say of themselves: torch.Tag."""
import enum

from torch import _C


class _Tag(enum.Enum):
    def __int__(self):
        return self.value

    __index__ = __int__


Tag = _Tag("Tag", _C._tag_names(), start=0, module="torch", qualname="Tag")
Tag.__doc__ = "What an operator is or does, for those who handle all operators alike."


def tags_of(names, defined):
    """The tags of an operator: of these names, or those that a program gave where it defined it."""
    if names is not None:
        return [Tag[n] for n in names]
    from torch.library import _defined

    op = _defined.get(defined)
    return [] if op is None else list(op.tags)
