import _struct


class error(Exception):
    pass


def _wrap(f, *a):
    try:
        return f(*a)
    except ValueError as e:
        raise error(str(e)) from None


def _f(fmt): return fmt.decode() if isinstance(fmt, bytes) else fmt
def calcsize(fmt): return _wrap(_struct.calcsize, _f(fmt))
def pack(fmt, *v): return _wrap(_struct.pack, _f(fmt), *v)


def unpack(fmt, b):
    n = calcsize(fmt)
    if len(b) != n:
        raise error('unpack requires a buffer of %d bytes' % n)
    return _wrap(_struct.unpack_from, _f(fmt), b, 0)


def unpack_from(fmt, b, offset=0): return _wrap(_struct.unpack_from, _f(fmt), b, offset)


def pack_into(fmt, buf, offset, *v):
    d = pack(fmt, *v)
    buf[offset:offset + len(d)] = d


def iter_unpack(fmt, b):
    n = calcsize(fmt)
    for i in range(0, len(b), n):
        yield unpack(fmt, b[i:i + n])


class Struct:
    def __init__(self, fmt): self.format, self.size = fmt, calcsize(fmt)
    def pack(self, *v): return pack(self.format, *v)
    def unpack(self, b): return unpack(self.format, b)
    def unpack_from(self, b, offset=0): return unpack_from(self.format, b, offset)
