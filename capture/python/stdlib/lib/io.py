"""In-memory files."""
from _whittle import TextIOWrapper
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
DEFAULT_BUFFER_SIZE = 8192
open = open


class UnsupportedOperation(OSError, ValueError):
    pass


class IOBase:
    closed = False
    def __enter__(self): return self
    def __exit__(self, *a): self.close()
    def close(self): self.closed = True
    def flush(self): pass
    def readable(self): return False
    def writable(self): return False
    def seekable(self): return False
    def isatty(self): return False
    def fileno(self): raise UnsupportedOperation("fileno")
    def __iter__(self): return self

    def __next__(self):
        l = self.readline()
        if not l:
            raise StopIteration
        return l

    def readlines(self, hint=-1): return list(self)

    def writelines(self, lines):
        for l in lines:
            self.write(l)


class RawIOBase(IOBase): pass
class BufferedIOBase(IOBase): pass
class TextIOBase(IOBase): pass


class _Mem:
    _empty = ''

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def readable(self): return True
    def writable(self): return True
    def seekable(self): return True

    def getvalue(self):
        self._check()
        self._join()
        return self._buf

    def _join(self):
        if self._parts:
            self._buf += self._empty.join(self._parts)
            self._parts = []

    def tell(self):
        self._check()
        return self._pos

    def seek(self, pos, whence=0):
        self._check()
        self._join()
        if whence == 1:
            pos += self._pos
        elif whence == 2:
            pos += len(self._buf)
        if pos < 0:
            raise ValueError("Negative seek position %r" % pos)
        self._pos = pos
        return pos

    def read(self, n=-1):
        self._check()
        self._join()
        end = len(self._buf) if n is None or n < 0 else self._pos + n
        r = self._buf[self._pos:end]
        self._pos += len(r)
        return r

    def readline(self, size=-1):
        self._check()
        self._join()
        i = self._buf.find(self._nl, self._pos) if self._pos <= len(self._buf) else -1
        end = len(self._buf) if i < 0 else i + 1
        if size is not None and size >= 0:
            end = min(end, self._pos + size)
        r = self._buf[self._pos:end]
        self._pos += len(r)
        return r

    def write(self, s):
        self._check()
        s = self._conv(s)
        n = len(s)
        if self._end and self._pos == self._size:
            self._parts.append(s)
            self._size += n
            self._pos += n
            return n
        self._join()
        b = self._buf
        if self._pos > len(b):
            b += self._fill * (self._pos - len(b))
        self._buf = b[:self._pos] + s + b[self._pos + n:]
        self._pos += n
        self._size = len(self._buf)
        return n

    _end = True

    def truncate(self, size=None):
        self._join()
        size = self._pos if size is None else size
        self._buf = self._buf[:size]
        self._size = len(self._buf)
        return size


class StringIO(_Mem, TextIOBase):
    _empty, _nl, _fill = '', '\n', '\0'
    encoding = None
    errors = None

    def __init__(self, initial_value='', newline='\n'):
        self._buf, self._pos, self._parts = initial_value or '', 0, []
        self._size = len(self._buf)

    def _conv(self, s):
        if not isinstance(s, str):
            raise TypeError("string argument expected, got %r" % type(s).__name__)
        return s


class BytesIO(_Mem, BufferedIOBase):
    _empty, _nl, _fill = b'', b'\n', b'\0'

    def __init__(self, initial_bytes=b''):
        self._buf, self._pos, self._parts = bytes(initial_bytes or b''), 0, []
        self._size = len(self._buf)

    def _conv(self, s):
        if isinstance(s, str):
            raise TypeError("a bytes-like object is required, not 'str'")
        return bytes(s)

    def getbuffer(self): return self.getvalue()
    read1 = _Mem.read

    def readinto(self, b):
        d = self.read(len(b))
        b[:len(d)] = d
        return len(d)


BufferedReader = BufferedWriter = BufferedRandom = FileIO = TextIOWrapper
