"""Guards as programs see them: what torch._dynamo.explain lists."""
import contextlib
import dataclasses
import enum
import threading
from typing import NamedTuple

from torch._C import _dynamo as _native


class GuardSource(enum.Enum):
    LOCAL = 0
    GLOBAL = 1
    LOCAL_SPECIALIZED_NN_MODULE = 2
    GLOBAL_SPECIALIZED_NN_MODULE = 3
    CONSTANT = 4
    RANDOM_VALUE = 5
    SHAPE_ENV = 6
    LOCAL_FSDP_MODULE = 7
    GLOBAL_FSDP_MODULE = 8
    BACKWARD_STATE = 9
    EPHEMERAL = 10
    SYNTHETIC_LOCAL = 11
    LOCAL_UNSPECIALIZED_NN_MODULE = 12
    GLOBAL_UNSPECIALIZED_NN_MODULE = 13
    LOCAL_UNSPECIALIZED_BUILTIN_NN_MODULE = 14
    GLOBAL_UNSPECIALIZED_BUILTIN_NN_MODULE = 15

    def is_local(self):
        return self.name.startswith("LOCAL")


class Guard:
    """One thing that a compiled frame relies on."""

    def __init__(self, name, source, create, guard_types, code_list):
        self.name, self.source, self._create = name, GuardSource[source], create
        self.guard_types, self.code_list = guard_types, code_list
        self.obj_weakref = self.guarded_class_weakref = None

    def inner_create_fn(self):
        def create(builder, guard):
            pass

        create.__name__ = create.__qualname__ = self._create
        return create

    create_fn = property(inner_create_fn)

    def __str__(self):
        return (
            f"Name: {self.name!r}\n    Source: {self.source.name.lower()}\n    Create Function: {self._create}\n"
            f"    Guard Types: {self.guard_types}\n    Code List: {self.code_list}\n"
            f"    Object Weakref: {self.obj_weakref}\n    Guarded Class Weakref: {self.guarded_class_weakref}\n"
        )

    def __repr__(self):
        return (
            f"\n        {self.source.name.lower()} {self.name!r} {self._create}\n        {{\n"
            f"            'guard_types': {self.guard_types},\n            'code': {self.code_list},\n"
            f"            'obj_weakref': {self.obj_weakref}\n            'guarded_class': {self.guarded_class_weakref}\n        }}\n        "
        )


class GuardsSet:
    """Guards, each of them once."""

    def __init__(self, inner=None):
        self.inner = set() if inner is None else inner

    def __iter__(self):
        return iter(self.inner)

    def __len__(self):
        return len(self.inner)

    def __sub__(self, other):
        return GuardsSet(self.inner - other.inner)

    def __bool__(self):
        return bool(self.inner)

    def add(self, guard, *, collect_debug_stack=True, skip=0):
        self.inner.add(guard)

    def update(self, *others):
        for o in others:
            for g in o:
                self.add(g)

    def remove_guards_with_source(self, source):
        self.inner = {g for g in self.inner if g.originating_source != source}


def out_guards():
    return [Guard(*g) for g in _native.kept_guards()]


class CompileId(NamedTuple):
    """Which frame is compiled, and for which time."""

    frame_id: int
    frame_compile_id: int

    def __str__(self):
        return f"{self.frame_id}/{self.frame_compile_id}"


class CompileContext:
    """What is compiled now."""

    def __init__(self, compile_id):
        self.compile_id, self.attempt = compile_id, 0
        self.shape_env_guards = []

    @staticmethod
    def try_get():
        return getattr(_current, "compile_context", None)

    @staticmethod
    def get():
        assert CompileContext.try_get() is not None
        return CompileContext.try_get()

    @staticmethod
    def current_compile_id():
        text = _native.trace_id()
        frame, slash, version = text.partition("/")
        if not slash:
            return None
        return CompileId(int(frame), int(version.partition("_")[0]))


_current = threading.local()


@contextlib.contextmanager
def compile_context(context):
    old = CompileContext.try_get()
    _current.compile_context = context
    try:
        yield context
    finally:
        _current.compile_context = old


@dataclasses.dataclass
class StorageOverlap:
    """Arguments whose memory overlaps, and those whose memory does not."""

    overlapping_sources: list
    non_overlapping_sources: list


def detect_fake_mode(inputs=None):
    """The FakeTensorMode that is at work: that of the with blocks, or of the inputs; None for none."""
    from torch._subclasses.fake_tensor import maybe_get_fake_mode
    from torch.utils._pytree import tree_leaves

    current = _native.fake_current()
    modes = ([] if current is None else [("active fake mode", 0, current)]) + [
        ("fake tensor input", i, m) for i, m in enumerate(map(maybe_get_fake_mode, tree_leaves(inputs))) if m is not None]
    for what, i, m in modes[1:]:
        assert m is modes[0][2], f"fake mode ({modes[0][2]}) from {modes[0][0]} {modes[0][1]} doesn't match mode ({m}) from {what} {i}"
    return modes[0][2] if modes else None


def active_fake_mode():
    return _native.fake_current()


class TracingContext:
    """What is known while a frame is traced: native code keeps it, and there is none for programs."""

    @staticmethod
    def try_get():
        return None

    @staticmethod
    def get():
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")
