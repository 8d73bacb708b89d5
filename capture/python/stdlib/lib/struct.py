"""Packed binary data."""
from _whittle import native as _native
import _struct


class error(Exception):
    __module__ = 'struct'


@_native
def _wrap(f, *a):
    try:
        return f(*a)
    except ValueError as e:
        raise error(str(e)) from None


@_native
def _f(fmt):
    if isinstance(fmt, bytes):
        return fmt.decode('ascii')
    if not isinstance(fmt, str):
        raise TypeError(f"Struct() argument 1 must be a str or bytes object, not {type(fmt).__name__}")
    return fmt


@_native
def calcsize(fmt): return _wrap(_struct.calcsize, _f(fmt))
@_native
def pack(fmt, *v): return _wrap(_struct.pack, _f(fmt), *v)


@_native
def unpack(fmt, b):
    n = calcsize(fmt)
    if memoryview(b).nbytes != n:
        raise error(f'unpack requires a buffer of {n} bytes')
    return _wrap(_struct.unpack_from, _f(fmt), b, 0)


@_native
def _place(what, verb, fmt, size, offset):
    n = calcsize(fmt)
    if offset < 0:
        if offset + n > 0:
            raise error(f'not enough data to {verb} {n} bytes' if verb == 'unpack' else f'no space to pack {n} bytes at offset {offset}')
        if offset + size < 0:
            raise error(f'offset {offset} out of range for {size}-byte buffer')
        offset += size
    if offset + n > size:
        raise error(f'{what} requires a buffer of at least {offset + n} bytes for {verb}ing {n} bytes at offset {offset} (actual buffer size is {size})')
    return offset


@_native
def unpack_from(fmt, /, buffer, offset=0):
    offset = _place('unpack_from', 'unpack', fmt, memoryview(buffer).nbytes, offset)
    return _wrap(_struct.unpack_from, _f(fmt), buffer, offset)


@_native
def pack_into(fmt, buffer, offset, *v):
    view = memoryview(buffer).cast('B')
    d = pack(fmt, *v)
    offset = _place('pack_into', 'pack', fmt, len(view), offset)
    view[offset:offset + len(d)] = d


@_native
def iter_unpack(fmt, buffer):
    n = calcsize(fmt)
    if n == 0:
        raise error('cannot iteratively unpack with a struct of length 0')
    size = memoryview(buffer).nbytes
    if size % n:
        raise error(f'iterative unpacking requires a buffer of a multiple of {n} bytes')
    return (_wrap(_struct.unpack_from, _f(fmt), buffer, i) for i in range(0, size, n))


@_native
class Struct:
    __module__ = '_struct'

    def __init__(self, format): self.format, self.size = _f(format), calcsize(format)
    def pack(self, *v): return pack(self.format, *v)
    def unpack(self, buffer): return unpack(self.format, buffer)
    def unpack_from(self, buffer, offset=0): return unpack_from(self.format, buffer, offset)
    def pack_into(self, buffer, offset, *v): pack_into(self.format, buffer, offset, *v)
    def iter_unpack(self, buffer): return iter_unpack(self.format, buffer)
