"""The schema of an operator, taken apart."""
import dataclasses


class _Type(str):
    """A type as TorchScript writes it: List[int], Optional[Tensor]."""

    def kind(self):
        head = self.partition("[")[0]
        return {"Optional": "OptionalType", "List": "ListType", "number": "NumberType"}.get(head, head[:1].upper() + head[1:] + "Type")

    def __eq__(self, other):
        return str(self) == str(other)

    __hash__ = str.__hash__


@dataclasses.dataclass(frozen=True, eq=False)
class AliasInfo:
    """What memory an argument or a result shares, by names, before the call and after it; and whether that is written."""

    is_write: bool
    before_set: set
    after_set: set


@dataclasses.dataclass(frozen=True, eq=False)
class Argument:
    name: str
    type: object
    N: object = None
    default_value: object = None
    kwarg_only: bool = False
    alias_info: object = None
    _has_default: bool = False

    real_type = property(lambda self: self.type)

    def has_default_value(self):
        return self._has_default

    @property
    def is_out(self):
        return self.kwarg_only and self.alias_info is not None and self.alias_info.is_write


class FunctionSchema:
    """The name of an operator, its arguments and its results."""

    def __init__(self, text, name, overload_name, arguments, returns):
        self._text, self.name, self.overload_name = text, name, overload_name
        self.arguments = [_argument(*a) for a in arguments]
        self.returns = [_argument(*r) for r in returns]

    @property
    def is_mutable(self):
        return any(a.alias_info is not None and a.alias_info.is_write for a in self.arguments)

    def __repr__(self):
        return self._text

    __str__ = __repr__

    def __eq__(self, other):
        return isinstance(other, FunctionSchema) and self._text == other._text

    def __hash__(self):
        return hash(self._text)


FunctionSchema.__module__ = Argument.__module__ = "torch"


def _argument(name, base, listed, size, optional, element_optional, alias, has_default=False, default=None, kwarg_only=False):
    kind = {"Scalar": "number", "SymInt": "int", "ScalarType": "int", "Layout": "int", "MemoryFormat": "int"}.get(base, base)
    if listed:
        kind = f"List[{f'Optional[{kind}]' if element_optional else kind}]"
    if optional:
        kind = f"Optional[{kind}]"
    info = None
    if alias:
        before, _, after = alias.partition(" -> ")
        names = {n for n in before.rstrip("!").split("|") if n}
        info = AliasInfo("!" in alias, names, {n for n in after.rstrip("!").split("|") if n} if after else names)
    return Argument(name, _Type(kind), size or None, default, kwarg_only, info, has_default)
