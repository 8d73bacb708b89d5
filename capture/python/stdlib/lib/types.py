"""Names for the types of the interpreter."""
from _whittle import (FunctionType, MethodType, CodeType, BuiltinFunctionType, MethodDescriptorType, ModuleType, GeneratorType, FrameType,
                      TracebackType, CellType, MappingProxyType, GenericAlias, UnionType, NoneType, GetSetDescriptorType, MemberDescriptorType,
                      EllipsisType, NotImplementedType)

LambdaType = FunctionType
BuiltinMethodType = BuiltinFunctionType
WrapperDescriptorType = MethodDescriptorType
MethodWrapperType = MethodType
ClassMethodDescriptorType = MethodDescriptorType


class CoroutineType: pass
class AsyncGeneratorType: pass


class SimpleNamespace:
    def __init__(self, /, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        n = "namespace" if type(self) is SimpleNamespace else type(self).__name__
        return "%s(%s)" % (n, ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()))

    def __eq__(self, other):
        if isinstance(self, SimpleNamespace) and isinstance(other, SimpleNamespace):
            return self.__dict__ == other.__dict__
        return NotImplemented


class DynamicClassAttribute(property):
    pass


def new_class(name, bases=(), kwds=None, exec_body=None):
    kwds = dict(kwds or {})
    meta = kwds.pop('metaclass', type(bases[0]) if bases else type)
    ns = meta.__prepare__(name, bases, **kwds) if hasattr(meta, '__prepare__') else {}
    if exec_body is not None:
        exec_body(ns)
    return meta(name, bases, ns, **kwds)


def resolve_bases(bases): return tuple(bases)
def prepare_class(name, bases=(), kwds=None): return type, {}, dict(kwds or {})
def coroutine(f): return f


def get_original_bases(cls):
    return cls.__dict__.get('__orig_bases__', cls.__bases__)
