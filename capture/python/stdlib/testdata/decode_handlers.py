# Handlers of errors: what they leave in the exception, and how they complain when a program calls them; escapes that are none.
import codecs
import warnings


def swap(e):
    e.object = 42
    return '?', 0


def more(e):
    e.object = b'x\0\0\0' + e.object[e.end:]
    return '<>', 0


codecs.register_error('swap', swap)
codecs.register_error('more', more)
for enc, b in [('ascii', b'a\xffb'), ('utf-8', b'\xff!'), ('utf-16', b'\xff'), ('utf-32', b'\xff'), ('utf-7', b'++'), ('unicode-escape', b'\\u12g'), ('raw-unicode-escape', b'\\u12g'),
               ('cp1252', b'\x81a')]:
    for h in 'swap', 'more':
        try:
            print(enc, h, ascii(b.decode(enc, h)))
        except Exception as e:
            print(enc, h, type(e).__name__, ascii(str(e)))
print(codecs.unicode_escape_decode(b'\\x0nab', 'more'))

errors = [UnicodeEncodeError('utf-16le', 'a\ud800\n', 1, 2, 'w'), UnicodeEncodeError('ascii', 'a\n\udc80', 1, 2, 'w'), UnicodeDecodeError('utf-16le', b'\0\xd8b', 0, 2, 'w'),
          UnicodeDecodeError('ascii', b'ab', 0, 1, 'w'), UnicodeTranslateError('a\u20ac', -5, 9, 'w'), UnicodeError('w'), 3]
bad = UnicodeEncodeError('ascii', '', 0, 1, 'w')
bad.object = []
errors.append(bad)
for name in 'strict', 'ignore', 'replace', 'backslashreplace', 'xmlcharrefreplace', 'namereplace', 'surrogateescape', 'surrogatepass':
    for e in errors:
        try:
            print(name, ascii(codecs.lookup_error(name)(e)))
        except Exception as x:
            print(name, type(x).__name__, ascii(str(x)))

warnings.simplefilter('error')
for f in codecs.unicode_escape_decode, codecs.escape_decode:
    for b in b'\\n\\z\\q', b'\\8', b'\\501', b'\\\xfa', b'\\101':
        try:
            print(f(b))
        except DeprecationWarning as e:
            print(ascii(str(e)))

d = codecs.getincrementaldecoder('utf-8')('surrogatepass')
print([ascii(d.decode(bytes([c]), False)) for c in b'\xed\xa0\x80a'], ascii(d.decode(b'', True)))
