"""Bytes as text and back."""
import base64 as _base64
import zlib as _zlib
from _whittle import native as _native


class Error(ValueError):
    __module__ = 'binascii'


class Incomplete(Exception):
    __module__ = 'binascii'


@_native
def hexlify(data, sep=None, bytes_per_sep=1):
    data = bytes(data)
    return (data.hex() if sep is None else data.hex(sep, bytes_per_sep)).encode()


@_native
def unhexlify(s):
    s = s.encode('ascii') if isinstance(s, str) else bytes(s)
    if len(s) % 2:
        raise Error('Odd-length string')
    for c in s:
        if c not in b'0123456789abcdefABCDEF':
            raise Error('Non-hexadecimal digit found')
    return bytes.fromhex(s.decode())


b2a_hex, a2b_hex = hexlify, unhexlify


@_native
def b2a_base64(data, *, newline=True): return _base64.b64encode(data) + (b'\n' if newline else b'')


@_native
def a2b_base64(data, /, *, strict_mode=False):
    s = data.encode('ascii') if isinstance(data, str) else bytes(data)
    n = sum(c in _base64._BYTES for c in s.split(b'=')[0])
    if n % 4 == 1:
        raise Error(f'Invalid base64-encoded string: number of data characters ({n}) cannot be 1 more than a multiple of 4')
    pad = s.count(b'=')
    if n % 4 and pad < 4 - n % 4:
        raise Error('Incorrect padding')
    return _base64._decode(s)


def crc32(data, value=0): return _zlib.crc32(data, value)
