"""Sources: where a value came from, as an expression over the frame's locals L and globals G."""
import dataclasses
import enum
from typing import Any, Optional

from torch._guards import GuardSource


class Source:
    def is_dict_key(self):
        return False

    def guard_source(self):
        raise NotImplementedError

    def name(self):
        raise NotImplementedError

    def is_nn_module(self):
        return False

    def is_ephemeral(self):
        return False

    def is_specialized_nn_module(self):
        return False

    def is_unspecialized_nn_module(self):
        return False


@dataclasses.dataclass(frozen=True)
class LocalSource(Source):
    local_name: str
    is_input: bool = False
    is_derefed_cell_contents: bool = False

    def guard_source(self):
        return GuardSource.LOCAL

    def name(self):
        return f"L[{self.local_name!r}]"


@dataclasses.dataclass(frozen=True)
class SyntheticLocalSource(Source):
    local_name: str

    def guard_source(self):
        return GuardSource.SYNTHETIC_LOCAL

    def name(self):
        return f"SYNTHETIC_LOCAL[{self.local_name!r}]"


@dataclasses.dataclass(frozen=True)
class GlobalSource(Source):
    global_name: str

    def guard_source(self):
        return GuardSource.GLOBAL

    def name(self):
        return f"G[{self.global_name!r}]"


@dataclasses.dataclass(frozen=True)
class GlobalWeakRefSource(Source):
    global_name: str

    def guard_source(self):
        return GuardSource.GLOBAL

    def name(self):
        return f"G[{self.global_name!r}]()"


@dataclasses.dataclass(frozen=True)
class GlobalStateSource(Source):
    def guard_source(self):
        return GuardSource.GLOBAL

    def name(self):
        return ""


@dataclasses.dataclass(frozen=True)
class ShapeEnvSource(Source):
    def guard_source(self):
        return GuardSource.SHAPE_ENV

    def name(self):
        return ""


@dataclasses.dataclass(frozen=True)
class ConstantSource(Source):
    source_name: str

    def guard_source(self):
        return GuardSource.CONSTANT

    def name(self):
        return self.source_name


@dataclasses.dataclass(frozen=True)
class RandomValueSource(Source):
    random_call_index: int

    def guard_source(self):
        return GuardSource.RANDOM_VALUE

    def name(self):
        return f"random_value_{self.random_call_index}"


@dataclasses.dataclass(frozen=True)
class ChainedSource(Source):
    """A source that starts from another."""

    base: Source

    def guard_source(self):
        return self.base.guard_source()

    def is_dict_key(self):
        return self.base.is_dict_key()

    def is_ephemeral(self):
        return self.base.is_ephemeral()


@dataclasses.dataclass(frozen=True)
class AttrSource(ChainedSource):
    member: str

    def __post_init__(self):
        # A dotted member is one attribute after another.
        if "." in self.member:
            first, *rest = self.member.split(".")
            base = self.base
            for m in [first, *rest][:-1]:
                base = AttrSource(base, m)
            object.__setattr__(self, "base", base)
            object.__setattr__(self, "member", rest[-1])

    def name(self):
        if not self.member.isidentifier():
            return f"getattr({self.base.name()}, {self.member!r})"
        return f"{self.base.name()}.{self.member}"


class ParamBufferSource(AttrSource):
    pass


@dataclasses.dataclass(frozen=True)
class GradSource(ChainedSource):
    member: str = "grad"

    def name(self):
        return f"{self.base.name()}.{self.member}"


@dataclasses.dataclass(frozen=True)
class GetItemSource(ChainedSource):
    index: Any
    index_is_slice: bool = False

    def __post_init__(self):
        assert self.index is not None
        if isinstance(self.index, slice):
            object.__setattr__(self, "index", (slice, (self.index.start, self.index.stop, self.index.step)))
            object.__setattr__(self, "index_is_slice", True)

    def unpack_slice(self):
        cls, args = self.index
        return cls(*args)

    def name(self):
        if isinstance(self.index, Source):
            return f"{self.base.name()}[{self.index.name()}]"
        if self.index_is_slice:
            return f"{self.base.name()}[{self.unpack_slice()!r}]"
        return f"{self.base.name()}[{self.index!r}]"


@dataclasses.dataclass(frozen=True)
class ConstDictKeySource(ChainedSource):
    index: Any

    def is_dict_key(self):
        return True

    def name(self):
        return f"list({self.base.name()}.keys())[{self.index!r}]"


@dataclasses.dataclass(frozen=True)
class TupleIteratorGetItemSource(GetItemSource):
    def name(self):
        return f"___tuple_iterator_getitem({self.base.name()}, {self.index!r})"


@dataclasses.dataclass(frozen=True)
class TypeSource(ChainedSource):
    def name(self):
        return f"type({self.base.name()})"


@dataclasses.dataclass(frozen=True)
class NegateSource(ChainedSource):
    def name(self):
        return f"{self.base.name()}.__neg__()"


@dataclasses.dataclass(frozen=True)
class ConvertIntSource(ChainedSource):
    def name(self):
        return f"cast_symbool_to_symint_guardless({self.base.name()})"


@dataclasses.dataclass(frozen=True)
class FloatTensorSource(ChainedSource):
    def name(self):
        return f"___as_tensor({self.base.name()})"


@dataclasses.dataclass(frozen=True)
class NumpyTensorSource(ChainedSource):
    def name(self):
        return f"___from_numpy({self.base.name()})"


@dataclasses.dataclass(frozen=True)
class CallMethodItemSource(ChainedSource):
    def name(self):
        return f"{self.base.name()}.item()"


@dataclasses.dataclass(frozen=True)
class CallFunctionNoArgsSource(ChainedSource):
    def name(self):
        return f"{self.base.name()}()"


class WeakRefCallSource(CallFunctionNoArgsSource):
    pass


class TensorProperty(enum.Enum):
    SIZE = 0
    STRIDE = 1
    STORAGE_OFFSET = 2

    def method_name(self):
        return ("size", "stride", "storage_offset")[self.value]


@dataclasses.dataclass(frozen=True)
class TensorPropertySource(ChainedSource):
    prop: TensorProperty
    idx: Optional[int] = None

    def __post_init__(self):
        assert (self.idx is None) == (self.prop is TensorProperty.STORAGE_OFFSET)

    def name(self):
        index = "" if self.idx is None else f"[{self.idx}]"
        return f"{self.base.name()}.{self.prop.method_name()}(){index}"


@dataclasses.dataclass(frozen=True)
class DefaultsSource(ChainedSource):
    idx_key: Any
    is_kw: bool = False

    def name(self):
        return f"{self.base.name()}.{'__kwdefaults__' if self.is_kw else '__defaults__'}[{self.idx_key!r}]"


@dataclasses.dataclass(frozen=True)
class NNModuleSource(ChainedSource):
    def name(self):
        return self.base.name()


class UnspecializedNNModuleSource(NNModuleSource):
    pass


def is_constant_source(source):
    if isinstance(source, ConstantSource):
        return True
    return source.guard_source() == GuardSource.CONSTANT


def is_from_local_source(source, *, only_allow_input=False):
    if isinstance(source, ChainedSource):
        return is_from_local_source(source.base, only_allow_input=only_allow_input)
    return isinstance(source, LocalSource) and (not only_allow_input or source.is_input)


def is_from_defaults(source):
    return isinstance(source, DefaultsSource) or (isinstance(source, ChainedSource) and is_from_defaults(source.base))
