_A = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'


def b64encode(s, altchars=None):
    s = bytes(s)
    out = []
    for i in range(0, len(s), 3):
        c = s[i:i + 3]
        n = int.from_bytes(c + b'\0' * (3 - len(c)), 'big')
        t = ''.join(_A[n >> k & 63] for k in (18, 12, 6, 0))
        out.append(t[:len(c) + 1] + '=' * (3 - len(c)))
    r = ''.join(out)
    if altchars:
        r = r.replace('+', chr(altchars[0])).replace('/', chr(altchars[1]))
    return r.encode()


def b64decode(s, altchars=None, validate=False):
    if isinstance(s, (bytes, bytearray)):
        s = s.decode('ascii')
    if altchars:
        s = s.replace(chr(altchars[0]), '+').replace(chr(altchars[1]), '/')
    s = ''.join(c for c in s if c in _A)
    out = bytearray()
    for i in range(0, len(s), 4):
        c = s[i:i + 4]
        n = 0
        for ch in c:
            n = n << 6 | _A.index(ch)
        n <<= 6 * (4 - len(c))
        out += n.to_bytes(3, 'big')[:len(c) - 1]
    return bytes(out)


def urlsafe_b64encode(s): return b64encode(s, b'-_')
def urlsafe_b64decode(s): return b64decode(s, b'-_')
standard_b64encode, standard_b64decode = b64encode, b64decode
def b16encode(s): return bytes(s).hex().upper().encode()
def b16decode(s, casefold=False): return bytes.fromhex(s if isinstance(s, str) else s.decode())
