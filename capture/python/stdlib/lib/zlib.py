from _hashlib import crc32


def adler32(b, v=1):
    a, c = v & 0xffff, v >> 16
    for x in b:
        a = (a + x) % 65521
        c = (c + a) % 65521
    return c << 16 | a
