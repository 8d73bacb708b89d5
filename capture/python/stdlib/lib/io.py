"""Files in memory, and the classes that files belong to."""
from _whittle import native as _native
from _whittle import TextIOWrapper as _File
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
DEFAULT_BUFFER_SIZE = 8192
open = open
open_code = open


class UnsupportedOperation(OSError, ValueError):
    __module__ = 'io'


class _Kind(type):
    """Open files of the interpreter are instances of the class that says what they do."""
    def __instancecheck__(cls, o):
        if type(o) is _File:
            b = 'b' in o.mode
            return cls in (IOBase, BufferedIOBase, BufferedReader, BufferedWriter) if b else cls in (IOBase, TextIOBase, TextIOWrapper)
        return type.__instancecheck__(cls, o)


@_native
class IOBase(metaclass=_Kind):
    __module__ = '_io'
    closed = False

    def _checkClosed(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    def __enter__(self):
        self._checkClosed()
        return self

    def __exit__(self, *a): self.close()

    def close(self):
        if not self.closed:
            self.flush()
            self.closed = True

    def _no(self, what): raise UnsupportedOperation(what)
    def flush(self): self._checkClosed()
    def readable(self): return False
    def writable(self): return False
    def seekable(self): return False
    def seek(self, pos, whence=0): self._no("seek")
    def tell(self): return self.seek(0, 1)
    def truncate(self, size=None): self._no("truncate")
    def fileno(self): self._no("fileno")

    def isatty(self):
        self._checkClosed()
        return False

    def __iter__(self):
        self._checkClosed()
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readline(self, size=-1):
        out = bytearray()
        while size is None or size < 0 or len(out) < size:
            c = self.read(1)
            if not c:
                break
            out += c
            if c == b'\n':
                break
        return bytes(out)

    def readlines(self, hint=None):
        if hint is None or hint <= 0:
            return list(self)
        lines, n = [], 0
        for line in self:
            lines.append(line)
            n += len(line)
            if n >= hint:
                break
        return lines

    def writelines(self, lines):
        self._checkClosed()
        for line in lines:
            self.write(line)


@_native
class RawIOBase(IOBase):
    __module__ = '_io'

    def read(self, size=-1):
        if size is None or size < 0:
            return self.readall()
        b = bytearray(size)
        n = self.readinto(b)
        return None if n is None else bytes(b[:n])

    def readall(self):
        out = bytearray()
        while True:
            d = self.read(DEFAULT_BUFFER_SIZE)
            if not d:
                return bytes(out) if out or d is not None else None
            out += d

    def readinto(self, b): self._no("readinto")
    def write(self, b): self._no("write")


@_native
class BufferedIOBase(IOBase):
    __module__ = '_io'
    def read(self, size=-1): self._no("read")
    def read1(self, size=-1): self._no("read1")
    def write(self, b): self._no("write")
    def detach(self): self._no("detach")

    def readinto(self, b):
        m = memoryview(b).cast('B')
        d = self.read(len(m))
        m[:len(d)] = d
        return len(d)

    readinto1 = readinto


@_native
class TextIOBase(IOBase):
    __module__ = '_io'
    encoding = errors = newlines = None
    def read(self, size=-1): self._no("read")
    def readline(self, size=-1): self._no("readline")
    def write(self, s): self._no("write")
    def detach(self): self._no("detach")


def _size(n):
    if n is None:
        return -1
    if not hasattr(n, '__index__'):
        raise TypeError(f"argument should be integer or None, not '{type(n).__name__}'")
    return n.__index__()


@_native
class BytesIO(BufferedIOBase):
    __module__ = '_io'

    def __init__(self, initial_bytes=b''):
        self._buf, self._pos = bytearray(), 0
        if initial_bytes is not None:
            self._buf += _raw(initial_bytes)

    def readable(self): self._checkClosed(); return True
    writable = seekable = readable

    def getvalue(self):
        self._checkClosed()
        return bytes(self._buf)

    def getbuffer(self):
        self._checkClosed()
        return memoryview(self._buf)

    def tell(self):
        self._checkClosed()
        return self._pos

    def seek(self, pos, whence=0):
        self._checkClosed()
        pos = pos.__index__()
        if whence == 0:
            if pos < 0:
                raise ValueError(f"negative seek value {pos}")
        elif whence == 1:
            pos = max(0, pos + self._pos)
        elif whence == 2:
            pos = max(0, pos + len(self._buf))
        else:
            raise ValueError(f"invalid whence ({whence}, should be 0, 1 or 2)")
        self._pos = pos
        return pos

    def read(self, size=-1):
        self._checkClosed()
        size = _size(size)
        end = len(self._buf) if size < 0 else self._pos + size
        r = bytes(self._buf[self._pos:end])
        self._pos += len(r)
        return r

    read1 = read

    def readline(self, size=-1):
        self._checkClosed()
        size = _size(size)
        i = self._buf.find(b'\n', self._pos)
        end = len(self._buf) if i < 0 else i + 1
        if size >= 0:
            end = min(end, self._pos + size)
        r = bytes(self._buf[self._pos:end])
        self._pos += len(r)
        return r

    def write(self, b):
        self._checkClosed()
        b = _raw(b)
        n = len(b)
        if n:
            at = self._pos
            if at == len(self._buf):
                self._buf += b
            else:
                if at > len(self._buf):
                    self._buf += bytes(at - len(self._buf))
                self._buf[at:at + n] = b
            self._pos += n
        return n

    def truncate(self, size=None):
        self._checkClosed()
        size = self._pos if size is None else size.__index__()
        if size < 0:
            raise ValueError(f"negative size value {size}")
        del self._buf[size:]
        return size

    def __getstate__(self): return self.getvalue(), self._pos, {}

    def __setstate__(self, state):
        self.__init__(state[0])
        self._pos = state[1]


def _raw(b):
    if isinstance(b, str):
        raise TypeError("a bytes-like object is required, not 'str'")
    return memoryview(b).tobytes()


@_native
class _Newlines:
    """What newline= does to text that is read and written."""
    def __init__(self, newline):
        if newline is not None and not isinstance(newline, str):
            raise TypeError(f"newline must be str or None, not {type(newline).__name__}")
        if newline not in (None, '', '\n', '\r', '\r\n'):
            raise ValueError(f"illegal newline value: {newline!r}")
        self.newline = newline

    def read(self, s):
        if self.newline is None:
            s = s.replace('\r\n', '\n').replace('\r', '\n')
        return s

    def write(self, s, default):
        nl = default if self.newline is None else self.newline
        return s if nl in ('', '\n') else s.replace('\n', nl)

    def end(self, text, at):
        """Where the line that begins at a place ends."""
        if self.newline == '':
            ends = [i + len(nl) for nl in ('\r\n', '\n', '\r') if (i := text.find(nl, at)) >= 0]
            cr = text.find('\r\n', at)
            if cr >= 0 and cr + 1 in ends:
                ends.remove(cr + 1)
            return min(ends) if ends else len(text)
        nl = self.newline or '\n'
        i = text.find(nl, at)
        return len(text) if i < 0 else i + len(nl)


@_native
class StringIO(TextIOBase):
    __module__ = '_io'

    def __init__(self, initial_value='', newline='\n'):
        if initial_value is not None and not isinstance(initial_value, str):
            raise TypeError(f"initial_value must be str or None, not {type(initial_value).__name__}")
        self._nl = _Newlines(newline)
        self._buf, self._parts, self._size, self._pos = '', [], 0, 0
        if initial_value:
            self._put(initial_value)
            self._pos = 0

    line_buffering = False

    def _checkClosed(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def readable(self): self._checkClosed(); return True
    writable = seekable = readable

    def _text(self):
        if self._parts:
            self._buf += ''.join(self._parts)
            self._parts = []
        return self._buf

    def getvalue(self):
        self._checkClosed()
        return self._text()

    def tell(self):
        self._checkClosed()
        return self._pos

    def seek(self, pos, whence=0):
        self._checkClosed()
        if whence not in (0, 1, 2):
            raise ValueError(f"Invalid whence ({whence}, should be 0, 1 or 2)")
        pos = pos.__index__()
        if whence == 0 and pos < 0:
            raise ValueError(f"Negative seek position {pos}")
        if whence and pos:
            raise OSError("Can't do nonzero cur-relative seeks")
        self._pos = pos if whence == 0 else self._pos if whence == 1 else self._size
        return self._pos

    def read(self, size=-1):
        self._checkClosed()
        text, size = self._text(), _size(size)
        r = text[self._pos:] if size < 0 else text[self._pos:self._pos + size]
        self._pos += len(r)
        return r

    def readline(self, size=-1):
        self._checkClosed()
        text, size = self._text(), _size(size)
        end = self._nl.end(text, self._pos)
        if size >= 0:
            end = min(end, self._pos + size)
        r = text[self._pos:end]
        self._pos += len(r)
        return r

    def _put(self, s):
        s = self._nl.read(s)
        if self._nl.newline is not None:
            s = self._nl.write(s, '\n')
        n = len(s)
        if self._pos == self._size:
            self._parts.append(s)
            self._size += n
        elif n:
            b = self._text()
            if self._pos > len(b):
                b += '\0' * (self._pos - len(b))
            self._buf = b[:self._pos] + s + b[self._pos + n:]
            self._size = len(self._buf)
        self._pos += n

    def write(self, s):
        self._checkClosed()
        if not isinstance(s, str):
            raise TypeError(f"string argument expected, got '{type(s).__name__}'")
        self._put(s)
        return len(s)

    def truncate(self, size=None):
        self._checkClosed()
        size = self._pos if size is None else size.__index__()
        if size < 0:
            raise ValueError(f"Negative size value {size}")
        self._buf = self._text()[:size]
        self._size = len(self._buf)
        return size

    def __getstate__(self): return self.getvalue(), self._nl.newline, self._pos, None

    def __setstate__(self, state):
        self.__init__(state[0], state[1])
        self._pos = state[2]


@_native
class _Wrapper(BufferedIOBase):
    def __init__(self, raw, buffer_size=DEFAULT_BUFFER_SIZE): self.raw, self._ahead = raw, b''
    def readable(self): return self.raw.readable()
    def writable(self): return self.raw.writable()
    def seekable(self): return self.raw.seekable()
    def fileno(self): return self.raw.fileno()
    def isatty(self): return self.raw.isatty()
    def flush(self): self.raw.flush()
    @property
    def closed(self): return self.raw.closed
    @property
    def name(self): return self.raw.name

    def close(self):
        if not self.closed:
            self.flush()
            self.raw.close()

    def seek(self, pos, whence=0):
        if whence == 1:
            pos -= len(self._ahead)
        self._ahead = b''
        return self.raw.seek(pos, whence)

    def tell(self): return self.raw.tell() - len(self._ahead)
    def detach(self): return self.raw


@_native
class BufferedReader(_Wrapper):
    __module__ = '_io'
    def _more(self, n):
        d = self.raw.read(n)
        self._ahead += d or b''
        return bool(d)

    def _take(self, n):
        r, self._ahead = self._ahead[:n], self._ahead[n:]
        return r

    def read(self, size=-1):
        size = _size(size)
        while (size < 0 or len(self._ahead) < size) and self._more(DEFAULT_BUFFER_SIZE):
            pass
        return self._take(len(self._ahead) if size < 0 else size)

    def read1(self, size=-1):
        if not self._ahead:
            self._more(DEFAULT_BUFFER_SIZE)
        return self._take(len(self._ahead) if size < 0 else size)

    def peek(self, size=0):
        if not self._ahead:
            self._more(DEFAULT_BUFFER_SIZE)
        return self._ahead

    def readline(self, size=-1):
        size = _size(size)
        while b'\n' not in self._ahead and (size < 0 or len(self._ahead) < size) and self._more(DEFAULT_BUFFER_SIZE):
            pass
        i = self._ahead.find(b'\n')
        end = len(self._ahead) if i < 0 else i + 1
        return self._take(end if size < 0 else min(end, size))


class BufferedWriter(_Wrapper):
    __module__ = '_io'
    def write(self, b): return self.raw.write(b)


class BufferedRandom(BufferedReader):
    __module__ = '_io'
    def write(self, b): return self.raw.write(b)


@_native
class TextIOWrapper(TextIOBase):
    __module__ = '_io'

    def __init__(self, buffer, encoding=None, errors=None, newline=None, line_buffering=False, write_through=False):
        self.buffer, self.encoding, self.errors = buffer, encoding or 'UTF-8', errors or 'strict'
        self.line_buffering, self.write_through = line_buffering, write_through
        self._nl, self._text, self._at, self._out = _Newlines(newline), None, 0, []

    def readable(self): return self.buffer.readable()
    def writable(self): return self.buffer.writable()
    def seekable(self): return self.buffer.seekable()
    def fileno(self): return self.buffer.fileno()
    def isatty(self): return self.buffer.isatty()
    @property
    def closed(self): return self.buffer.closed
    @property
    def name(self): return self.buffer.name

    def _load(self):
        self._checkClosed()
        self.flush()
        if self._text is None:
            self._text, self._at = self._nl.read(self.buffer.read().decode(self.encoding, self.errors)), 0

    def read(self, size=-1):
        self._load()
        size = _size(size)
        r = self._text[self._at:] if size < 0 else self._text[self._at:self._at + size]
        self._at += len(r)
        return r

    def readline(self, size=-1):
        self._load()
        end = self._nl.end(self._text, self._at)
        if size is not None and size >= 0:
            end = min(end, self._at + size)
        r, self._at = self._text[self._at:end], end
        return r

    def write(self, s):
        self._checkClosed()
        if not isinstance(s, str):
            raise TypeError(f"write() argument must be str, not {type(s).__name__}")
        self._out.append(self._nl.write(s, '\n').encode(self.encoding, self.errors))
        if self.write_through or self.line_buffering and '\n' in s:
            self.flush()
        return len(s)

    def flush(self):
        if self._out:
            out, self._out = b''.join(self._out), []
            self.buffer.write(out)
        self.buffer.flush()

    def seek(self, pos, whence=0):
        self.flush()
        if whence == 1 and pos == 0:
            return self.tell()
        self._text = None
        return self.buffer.seek(pos, whence)

    def tell(self):
        self.flush()
        if self._text is None:
            return self.buffer.tell()
        return self.buffer.tell() - len(self._text[self._at:].encode(self.encoding, self.errors))

    def close(self):
        if not self.closed:
            self.flush()
            self.buffer.close()

    def detach(self):
        self.flush()
        return self.buffer

    def reconfigure(self, *, encoding=None, errors=None, newline=None, line_buffering=None, write_through=None):
        self.flush()
        self.encoding, self.errors = encoding or self.encoding, errors or self.errors
        if line_buffering is not None:
            self.line_buffering = line_buffering
        if write_through is not None:
            self.write_through = write_through

    def __repr__(self):
        name = f" name={self.buffer.name!r}" if hasattr(self.buffer, 'name') else ''
        return f"<_io.TextIOWrapper{name} encoding={self.encoding!r}>"


FileIO = _File


def text_encoding(encoding, stacklevel=2, /): return 'utf-8' if encoding is None else encoding
