"""Writes textsigs.tsv: __text_signature__ of what CPython has in C. Run by the CPython of which this is a copy in Go (3.11):

    python3.11 maketextsigs.py > textsigs.tsv
"""
import importlib
import sys
import types

MODULES = sys.argv[1:] or sorted(n for n in sys.builtin_module_names if n not in ("_testcapi", "xxsubtype")) + [
    "math", "cmath", "array", "_struct", "_json", "_csv", "_pickle", "_random", "_bisect", "_heapq", "_datetime", "_decimal", "_socket", "_ssl", "zlib", "_bz2", "_lzma",
    "binascii", "select", "fcntl", "grp", "resource", "unicodedata", "_statistics", "_queue", "_contextvars", "_hashlib", "mmap", "_asyncio", "_opcode", "_posixsubprocess", "_uuid", "_zoneinfo"]


def rows(module):
    for name, o in sorted(vars(module).items()):
        if isinstance(o, type):
            if o.__module__ not in (module.__name__, "builtins") and module.__name__ != "builtins" and not o.__flags__ & (1 << 9) == 0:
                continue
            yield o.__module__ + "." + o.__qualname__, getattr(o, "__text_signature__", None)
            for n, m in sorted(vars(o).items()):
                m = getattr(m, "__func__", m)
                yield o.__module__ + "." + o.__qualname__ + "." + n, getattr(m, "__text_signature__", None)
        elif isinstance(o, types.BuiltinFunctionType):
            yield module.__name__ + "." + name, o.__text_signature__


seen = {}
for name in MODULES:
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue
    for key, sig in rows(module):
        if sig and "\t" not in sig and "\n" not in sig:
            seen[key] = sig
for t in (types.FunctionType, types.MethodType, types.CodeType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType, types.TracebackType,
          types.CellType, types.MappingProxyType, types.GenericAlias, types.UnionType, types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType,
          types.WrapperDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType, type({}.keys()), type({}.values()), type({}.items())):
    for n, m in sorted(vars(t).items()):
        sig = getattr(m, "__text_signature__", None)
        if sig and "\n" not in sig:
            seen[t.__module__ + "." + t.__qualname__ + "." + n] = sig
for key in sorted(seen):
    print(key + "\t" + seen[key])
