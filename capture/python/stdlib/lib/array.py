"""Arrays of numbers of one type."""
import struct as _struct
from _whittle import native as _native

typecodes = 'bBuhHiIlLqQfd'
_SIZES = dict(b=1, B=1, u=4, h=2, H=2, i=4, I=4, l=8, L=8, q=8, Q=8, f=4, d=8)
_WORDS = {'b': 'signed char', 'B': 'unsigned byte integer', 'h': 'signed short', 'H': 'unsigned short', 'i': 'signed integer', 'I': 'unsigned int'}


@_native
class array:
    def __new__(cls, typecode, initializer=(), /):
        if not isinstance(typecode, str) or len(typecode) != 1:
            what = f"unicode character, not {type(typecode).__name__}" if not isinstance(typecode, str) else "unicode character, not str"
            raise TypeError(f"array() argument 1 must be a {what}")
        if typecode not in typecodes:
            raise ValueError("bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)")
        self = object.__new__(cls)
        self.typecode, self.itemsize, self._items = typecode, _SIZES[typecode], []
        if isinstance(initializer, str):
            if typecode != 'u':
                raise TypeError(f"cannot use a str to initialize an array with typecode '{typecode}'")
            self.fromunicode(initializer)
        elif isinstance(initializer, (bytes, bytearray)):
            self.frombytes(initializer)
        else:
            if isinstance(initializer, array) and initializer.typecode == 'u' and typecode != 'u':
                raise TypeError(f"cannot use a unicode array to initialize an array with typecode '{typecode}'")
            for v in initializer:
                self._items.append(self._value(v))
        return self

    def _value(self, v):
        t = self.typecode
        if t == 'u':
            if not isinstance(v, str) or len(v) != 1:
                raise TypeError("array item must be a unicode character, not " + type(v).__name__)
            return v
        if t in 'fd':
            if not isinstance(v, (int, float)) and not hasattr(v, '__float__'):
                raise TypeError(f"must be real number, not {type(v).__name__}")
            v = float(v)
            return _struct.unpack('f', _struct.pack('f', v))[0] if t == 'f' else v
        if not hasattr(v, '__index__'):
            raise TypeError(f"'{type(v).__name__}' object cannot be interpreted as an integer")
        v = v.__index__()
        bits = 8 * self.itemsize
        lo, hi = (0, 2 ** bits - 1) if t.isupper() else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
        if not lo <= v <= hi:
            word = _WORDS.get(t)
            if t in 'lq':
                raise OverflowError("Python int too large to convert to C long" if t == 'l' else "int too big to convert")
            if t in 'LQ' or t == 'I' and not -2**63 <= v < 2**64:
                raise OverflowError("can't convert negative value to unsigned int" if v < 0 else "Python int too large to convert to C unsigned long" if t != 'Q' else "int too big to convert")
            if t == 'I' and v < 0:
                raise OverflowError("can't convert negative value to unsigned int")
            raise OverflowError(f"{word} is {'less than minimum' if v < lo else 'greater than maximum'}")
        return v

    def append(self, v, /): self._items.append(self._value(v))
    def insert(self, i, v, /): self._items.insert(i, self._value(v))

    def extend(self, it, /):
        if isinstance(it, array):
            if it.typecode != self.typecode:
                raise TypeError("can only extend with array of same kind")
            self._items += it._items
        else:
            for v in it:
                self._items.append(self._value(v))

    def pop(self, i=-1, /):
        if not self._items:
            raise IndexError("pop from empty array")
        if not -len(self._items) <= i < len(self._items):
            raise IndexError("pop index out of range")
        return self._items.pop(i)

    def remove(self, v, /):
        if v not in self._items:
            raise ValueError("array.remove(x): x not in array")
        self._items.remove(v)

    def index(self, v, start=0, stop=2**63 - 1, /):
        try:
            return self._items.index(v, start, stop)
        except ValueError:
            raise ValueError("array.index(x): x not in array") from None

    def count(self, v, /): return self._items.count(v)
    def reverse(self): self._items.reverse()
    def tolist(self): return list(self._items)
    def fromlist(self, l, /):
        if not isinstance(l, list):
            raise TypeError("arg must be list")
        self._items += [self._value(v) for v in l]

    def tobytes(self):
        if self.typecode == 'u':
            return ''.join(self._items).encode('utf-32-le')
        return _struct.pack(f'{len(self._items)}{self.typecode}', *self._items)

    def frombytes(self, b, /):
        b = memoryview(b).tobytes()
        if len(b) % self.itemsize:
            raise ValueError("bytes length not a multiple of item size")
        if self.typecode == 'u':
            self._items += b.decode('utf-32-le')
        else:
            self._items += _struct.unpack(f'{len(b) // self.itemsize}{self.typecode}', b)

    def fromunicode(self, s, /):
        if self.typecode != 'u':
            raise ValueError("fromunicode() may only be called on unicode type arrays")
        self._items += s

    def tounicode(self):
        if self.typecode != 'u':
            raise ValueError("tounicode() may only be called on unicode type arrays")
        return ''.join(self._items)

    def byteswap(self):
        n, b = self.itemsize, self.tobytes()
        self._items = []
        self.frombytes(b''.join(b[i:i + n][::-1] for i in range(0, len(b), n)))

    def buffer_info(self): return id(self._items), len(self._items)

    def tofile(self, f, /): f.write(self.tobytes())

    def fromfile(self, f, n, /):
        b = f.read(n * self.itemsize)
        self.frombytes(b[:len(b) - len(b) % self.itemsize])
        if len(b) < n * self.itemsize:
            raise EOFError("read() didn't return enough bytes")

    def __len__(self): return len(self._items)
    def __iter__(self): return iter(self._items)
    def __contains__(self, v): return v in self._items

    def _new(self, items):
        a = object.__new__(array)
        a.typecode, a.itemsize, a._items = self.typecode, self.itemsize, items
        return a

    def _at(self, k, what):
        if not hasattr(k, '__index__'):
            raise TypeError("array indices must be integers")
        k = k.__index__()
        if not -len(self._items) <= k < len(self._items):
            raise IndexError(f"array {what}index out of range")
        return k

    def __getitem__(self, k):
        return self._new(self._items[k]) if isinstance(k, slice) else self._items[self._at(k, '')]

    def __setitem__(self, k, v):
        if isinstance(k, slice):
            if not isinstance(v, array):
                raise TypeError(f"can only assign array (not \"{type(v).__name__}\") to array slice")
            if v.typecode != self.typecode:
                raise TypeError("bad argument type for built-in operation")
            self._items[k] = v._items
        else:
            k = self._at(k, 'assignment ')
            self._items[k] = self._value(v)

    def __delitem__(self, k):
        if not isinstance(k, slice):
            k = self._at(k, 'assignment ')
        del self._items[k]

    def __add__(self, o):
        if not isinstance(o, array):
            raise TypeError(f'can only append array (not "{type(o).__name__}") to array')
        if o.typecode != self.typecode:
            raise TypeError("bad argument type for built-in operation")
        return self._new(self._items + o._items)

    def __iadd__(self, o):
        if not isinstance(o, array):
            raise TypeError(f'can only extend with array (not "{type(o).__name__}")')
        if o.typecode != self.typecode:
            raise TypeError("can only extend with array of same kind")
        self._items += o._items
        return self

    def __mul__(self, n): return self._new(self._items * n)
    __rmul__ = __mul__

    def __imul__(self, n):
        self._items *= n
        return self

    def __eq__(self, o): return self._items == o._items if isinstance(o, array) else NotImplemented
    def __lt__(self, o): return self._items < o._items if isinstance(o, array) else NotImplemented
    def __le__(self, o): return self._items <= o._items if isinstance(o, array) else NotImplemented
    def __gt__(self, o): return self._items > o._items if isinstance(o, array) else NotImplemented
    def __ge__(self, o): return self._items >= o._items if isinstance(o, array) else NotImplemented
    __hash__ = None
    def __copy__(self): return self._new(list(self._items))
    def __deepcopy__(self, memo): return self._new(list(self._items))
    def __reduce__(self): return array, (self.typecode, self.tolist())

    def __repr__(self):
        if not self._items:
            return f"array('{self.typecode}')"
        return f"array('{self.typecode}', {''.join(self._items) if self.typecode == 'u' else self._items!r})"


ArrayType = array
