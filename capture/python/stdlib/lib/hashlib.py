import _hashlib

algorithms_guaranteed = algorithms_available = {'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'}


class _Hash:
    def __init__(self, name, data=b''):
        self.name, self._d = name, bytes(data)
        self.digest_size = {'md5': 16, 'sha1': 20, 'sha224': 28, 'sha256': 32, 'sha384': 48, 'sha512': 64}[name]
        self.block_size = 128 if name in ('sha384', 'sha512') else 64

    def update(self, b):
        if isinstance(b, str):
            raise TypeError("Strings must be encoded before hashing")
        self._d += bytes(b)

    def digest(self): return _hashlib.digest(self.name, self._d)
    def hexdigest(self): return self.digest().hex()
    def copy(self): return _Hash(self.name, self._d)


def new(name, data=b'', *, usedforsecurity=True):
    if name.lower() not in algorithms_available:
        raise ValueError('unsupported hash type ' + name)
    h = _Hash(name.lower())
    h.update(data)
    return h


def _mk(name): return lambda data=b'', *, usedforsecurity=True: new(name, data)


md5, sha1, sha224, sha256, sha384, sha512 = map(_mk, ('md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'))
