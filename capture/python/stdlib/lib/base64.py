"""Bytes as letters: base 64, 32 and 16."""
_BYTES = b'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
_B32 = b'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
_VALUES = {c: i for i, c in enumerate(_BYTES)}


def _raw(s):
    if isinstance(s, str):
        try:
            return s.encode('ascii')
        except UnicodeEncodeError:
            raise ValueError('string argument should contain only ASCII characters') from None
    try:
        return memoryview(s).tobytes()
    except TypeError:
        raise TypeError(f"argument should be a bytes-like object or ASCII string, not {type(s).__name__!r}") from None


def _data(s):
    if isinstance(s, str):
        raise TypeError("a bytes-like object is required, not 'str'")
    return memoryview(s).tobytes()


def b64encode(s, altchars=None):
    s = _data(s)
    out = bytearray()
    for i in range(0, len(s), 3):
        c = s[i:i + 3]
        n = int.from_bytes(c.ljust(3, b'\0'), 'big')
        out += bytes((_BYTES[n >> 18], _BYTES[n >> 12 & 63], _BYTES[n >> 6 & 63], _BYTES[n & 63]))[:len(c) + 1].ljust(4, b'=')
    r = bytes(out)
    if altchars is not None:
        assert len(altchars) == 2, repr(altchars)
        return r.translate(bytes.maketrans(b'+/', altchars))
    return r


def _decode(s):
    out, n, bits = bytearray(), 0, 0
    for c in s:
        v = _VALUES.get(c)
        if v is None:
            if c == 61 and bits in (2, 4):
                break
            continue
        n, bits = n << 6 | v, bits + 6
        if bits >= 8:
            bits -= 8
            out.append(n >> bits & 255)
            n &= (1 << bits) - 1
    return bytes(out)


def b64decode(s, altchars=None, validate=False):
    import binascii
    s = _raw(s)
    if altchars is not None:
        altchars = _raw(altchars)
        assert len(altchars) == 2, repr(altchars)
        s = s.translate(bytes.maketrans(altchars, b'+/'))
    if validate:
        body = s.rstrip(b'=')
        if len(s) - len(body) > 2 or any(c not in _VALUES for c in body):
            raise binascii.Error('Only base64 data is allowed')
    return binascii.a2b_base64(s)


def standard_b64encode(s): return b64encode(s)
def standard_b64decode(s): return b64decode(s)
def urlsafe_b64encode(s): return b64encode(s).translate(bytes.maketrans(b'+/', b'-_'))
def urlsafe_b64decode(s): return b64decode(_raw(s).translate(bytes.maketrans(b'-_', b'+/')))


def b32encode(s):
    s = _data(s)
    out = bytearray()
    for i in range(0, len(s), 5):
        c = s[i:i + 5]
        n = int.from_bytes(c.ljust(5, b'\0'), 'big')
        out += bytes(_B32[n >> k & 31] for k in range(35, -1, -5))[:(len(c) * 8 + 4) // 5].ljust(8, b'=')
    return bytes(out)


def b32decode(s, casefold=False, map01=None):
    import binascii
    s = _raw(s)
    if len(s) % 8:
        raise binascii.Error('Incorrect padding')
    if map01 is not None:
        s = s.translate(bytes.maketrans(b'01', b'O' + _raw(map01)))
    if casefold:
        s = s.upper()
    n, bits, out = 0, 0, bytearray()
    body = s.rstrip(b'=')
    if len(s) - len(body) not in (0, 1, 3, 4, 6):
        raise binascii.Error('Incorrect padding')
    for c in body:
        v = _B32.find(c)
        if v < 0:
            raise binascii.Error('Non-base32 digit found')
        n, bits = n << 5 | v, bits + 5
        if bits >= 8:
            bits -= 8
            out.append(n >> bits & 255)
            n &= (1 << bits) - 1
    return bytes(out)


def b16encode(s): return _data(s).hex().upper().encode()


def b16decode(s, casefold=False):
    import binascii
    s = _raw(s)
    if casefold:
        s = s.upper()
    if any(c not in b'0123456789ABCDEF' for c in s):
        raise binascii.Error('Non-base16 digit found')
    return binascii.unhexlify(s)


def encodebytes(s):
    s = _data(s)
    return b''.join(b64encode(s[i:i + 57]) + b'\n' for i in range(0, len(s), 57))


def decodebytes(s): return b64decode(_data(s))
