"""Keyed hashing."""
import hashlib


def compare_digest(a, b):
    if isinstance(a, str) and isinstance(b, str):
        if not (a.isascii() and b.isascii()):
            raise TypeError("comparing strings with non-ASCII characters is not supported")
        a, b = a.encode(), b.encode()
    elif isinstance(a, str) or isinstance(b, str):
        raise TypeError(f"unsupported operand types(s) or combination of types: '{type(a).__name__}' and '{type(b).__name__}'")
    a, b = bytes(a), bytes(b)
    r = len(a) != len(b)
    for x, y in zip(a, b):
        r |= x != y
    return not r


class HMAC:
    blocksize = 64

    def __init__(self, key, msg=None, digestmod=''):
        if not isinstance(key, (bytes, bytearray)):
            raise TypeError(f"key: expected bytes or bytearray, but got {type(key).__name__!r}")
        if not digestmod:
            raise TypeError("Missing required argument 'digestmod'.")
        make = digestmod if callable(digestmod) else (lambda d=b'': hashlib.new(digestmod, d)) if isinstance(digestmod, str) else digestmod.new
        self._inner, self._outer = make(), make()
        self.block_size, self.digest_size = self._inner.block_size, self._inner.digest_size
        if len(key) > self.block_size:
            key = make(key).digest()
        key = bytes(key).ljust(self.block_size, b'\0')
        self._outer.update(bytes(c ^ 0x5c for c in key))
        self._inner.update(bytes(c ^ 0x36 for c in key))
        if msg is not None:
            self.update(msg)

    @property
    def name(self): return 'hmac-' + self._inner.name
    def update(self, msg): self._inner.update(msg)

    def copy(self):
        o = object.__new__(type(self))
        o.block_size, o.digest_size = self.block_size, self.digest_size
        o._inner, o._outer = self._inner.copy(), self._outer.copy()
        return o

    def digest(self):
        h = self._outer.copy()
        h.update(self._inner.digest())
        return h.digest()

    def hexdigest(self): return self.digest().hex()


def new(key, msg=None, digestmod=''): return HMAC(key, msg, digestmod)
def digest(key, msg, digest): return HMAC(key, msg, digest).digest()
