"""Identifiers that are the same nowhere else."""
import os
import time

RESERVED_NCS, RFC_4122, RESERVED_MICROSOFT, RESERVED_FUTURE = ('reserved for NCS compatibility', 'specified in RFC 4122',
                                                               'reserved for Microsoft compatibility', 'reserved for future definition')
_int, _bytes = int, bytes


class UUID:
    __slots__ = ('int', '__weakref__')

    def __init__(self, hex=None, bytes=None, bytes_le=None, fields=None, int=None, version=None):
        if [hex, bytes, bytes_le, fields, int].count(None) != 4:
            raise TypeError('one of the hex, bytes, bytes_le, fields, or int arguments must be given')
        if hex is not None:
            hex = hex.replace('urn:', '').replace('uuid:', '').strip('{}').replace('-', '')
            if len(hex) != 32:
                raise ValueError('badly formed hexadecimal UUID string')
            int = _int(hex, 16)
        if bytes_le is not None:
            if len(bytes_le) != 16:
                raise ValueError('bytes_le is not a 16-char string')
            bytes = bytes_le[3::-1] + bytes_le[5:3:-1] + bytes_le[7:5:-1] + bytes_le[8:]
        if bytes is not None:
            if len(bytes) != 16:
                raise ValueError('bytes is not a 16-char string')
            int = _int.from_bytes(bytes, 'big')
        if fields is not None:
            if len(fields) != 6:
                raise ValueError('fields is not a 6-tuple')
            for i, (v, bits, what) in enumerate(zip(fields, (32, 16, 16, 8, 8, 48), ('32-bit', '16-bit', '16-bit', '8-bit', '8-bit', '48-bit'))):
                if not 0 <= v < 1 << bits:
                    raise ValueError(f'field {i + 1} out of range (need {"an" if bits == 8 else "a"} {what} value)')
            low, mid, hi, seq_hi, seq_low, node = fields
            int = low << 96 | mid << 80 | hi << 64 | seq_hi << 56 | seq_low << 48 | node
        if not 0 <= int < 1 << 128:
            raise ValueError('int is out of range (need a 128-bit value)')
        if version is not None:
            if not 1 <= version <= 5:
                raise ValueError('illegal version number')
            int = int & ~(0xc000 << 48) | 0x8000 << 48
            int = int & ~(0xf000 << 64) | version << 76
        object.__setattr__(self, 'int', int)

    def __setattr__(self, name, value): raise TypeError('UUID objects are immutable')

    hex = property(lambda s: '%032x' % s.int)
    bytes = property(lambda s: s.int.to_bytes(16, 'big'))
    bytes_le = property(lambda s: s.bytes[3::-1] + s.bytes[5:3:-1] + s.bytes[7:5:-1] + s.bytes[8:])
    time_low = property(lambda s: s.int >> 96)
    time_mid = property(lambda s: s.int >> 80 & 0xffff)
    time_hi_version = property(lambda s: s.int >> 64 & 0xffff)
    clock_seq_hi_variant = property(lambda s: s.int >> 56 & 0xff)
    clock_seq_low = property(lambda s: s.int >> 48 & 0xff)
    node = property(lambda s: s.int & 0xffffffffffff)
    clock_seq = property(lambda s: (s.clock_seq_hi_variant & 0x3f) << 8 | s.clock_seq_low)
    time = property(lambda s: (s.time_hi_version & 0x0fff) << 48 | s.time_mid << 32 | s.time_low)
    fields = property(lambda s: (s.time_low, s.time_mid, s.time_hi_version, s.clock_seq_hi_variant, s.clock_seq_low, s.node))
    urn = property(lambda s: 'urn:uuid:' + str(s))

    @property
    def variant(self):
        top = self.int >> 61 & 7
        return RESERVED_NCS if top < 4 else RFC_4122 if top < 6 else RESERVED_MICROSOFT if top == 6 else RESERVED_FUTURE

    @property
    def version(self):
        return self.int >> 76 & 15 if self.variant == RFC_4122 else None

    def __str__(self):
        h = self.hex
        return '-'.join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))

    def __repr__(self): return f'{type(self).__name__}({str(self)!r})'
    def __int__(self): return self.int
    def __eq__(self, o): return self.int == o.int if isinstance(o, UUID) else NotImplemented
    def __lt__(self, o): return self.int < o.int if isinstance(o, UUID) else NotImplemented
    def __le__(self, o): return self.int <= o.int if isinstance(o, UUID) else NotImplemented
    def __gt__(self, o): return self.int > o.int if isinstance(o, UUID) else NotImplemented
    def __ge__(self, o): return self.int >= o.int if isinstance(o, UUID) else NotImplemented
    def __hash__(self): return hash(self.int)
    def __reduce__(self): return UUID, (self.hex,)
    def __copy__(self): return self
    def __deepcopy__(self, memo): return self


_node = _last = None


def getnode():
    global _node
    if _node is None:
        _node = _int.from_bytes(os.urandom(6), 'big') | 1 << 40
    return _node


def uuid1(node=None, clock_seq=None):
    global _last
    t = time.time_ns() // 100 + 0x01b21dd213814000
    if _last is not None and t <= _last:
        t = _last + 1
    _last = t
    if clock_seq is None:
        clock_seq = _int.from_bytes(os.urandom(2), 'big') & 0x3fff
    return UUID(fields=(t & 0xffffffff, t >> 32 & 0xffff, t >> 48 & 0x0fff, clock_seq >> 8 & 0x3f, clock_seq & 0xff, getnode() if node is None else node), version=1)


def uuid4(): return UUID(bytes=os.urandom(16), version=4)


def uuid3(namespace, name):
    import hashlib
    return UUID(bytes=hashlib.md5(namespace.bytes + name.encode()).digest(), version=3)


def uuid5(namespace, name):
    import hashlib
    return UUID(bytes=hashlib.sha1(namespace.bytes + name.encode()).digest()[:16], version=5)


NAMESPACE_DNS = UUID('6ba7b810-9dad-11d1-80b4-00c04fd430c8')
NAMESPACE_URL = UUID('6ba7b811-9dad-11d1-80b4-00c04fd430c8')
NAMESPACE_OID = UUID('6ba7b812-9dad-11d1-80b4-00c04fd430c8')
NAMESPACE_X500 = UUID('6ba7b814-9dad-11d1-80b4-00c04fd430c8')
