"""Guards as programs see them: what torch._dynamo.explain lists."""
import enum

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


def out_guards():
    return [Guard(*g) for g in _native.kept_guards()]
