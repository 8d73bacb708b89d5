import os


class UUID:
    def __init__(self, hex=None, bytes=None, int=None, version=None):
        if hex is not None:
            hex = hex.replace('urn:', '').replace('uuid:', '').strip('{}').replace('-', '')
            if len(hex) != 32:
                raise ValueError('badly formed hexadecimal UUID string')
            int = __builtins__.int(hex, 16) if not isinstance(__builtins__, dict) else __builtins__['int'](hex, 16)
        elif bytes is not None:
            int = type(0).from_bytes(bytes, 'big')
        if version is not None:
            int &= ~(0xc000 << 48)
            int |= 0x8000 << 48
            int &= ~(0xf000 << 64)
            int |= version << 76
        self.int = int

    hex = property(lambda s: '%032x' % s.int)
    bytes = property(lambda s: s.int.to_bytes(16, 'big'))
    version = property(lambda s: s.int >> 76 & 15)

    def __str__(self):
        h = self.hex
        return '-'.join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))

    def __repr__(self): return 'UUID(%r)' % str(self)
    def __eq__(self, o): return isinstance(o, UUID) and self.int == o.int
    def __lt__(self, o): return self.int < o.int
    def __hash__(self): return hash(self.int)


def uuid4(): return UUID(bytes=os.urandom(16), version=4)
uuid1 = uuid4


def uuid5(ns, name):
    import hashlib
    return UUID(bytes=hashlib.sha1(ns.bytes + name.encode()).digest()[:16], version=5)


def uuid3(ns, name):
    import hashlib
    return UUID(bytes=hashlib.md5(ns.bytes + name.encode()).digest(), version=3)


NAMESPACE_DNS = UUID('6ba7b810-9dad-11d1-80b4-00c04fd430c8')
NAMESPACE_URL = UUID('6ba7b811-9dad-11d1-80b4-00c04fd430c8')
