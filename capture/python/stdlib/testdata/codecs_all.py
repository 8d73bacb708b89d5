# Every encoding, both ways, with every handler of errors: what differs shows in its hash.
import encodings, pkgutil, importlib, codecs, encodings.aliases
for m in pkgutil.iter_modules(encodings.__path__):
    try: importlib.import_module('encodings.'+m.name)
    except Exception as e: print(m.name, type(e).__name__)
import _codecs
print([n for n in sorted(dir(_codecs)) if n[0]!='_'])
texts=['hello','é','€','\u3042\u4e2d\u6587','Привет','\ud800','\U0001f600x', 'a\x00b~\\+', '', '+-+', 'שלום', '\xa0¤', 'a b\tc\n']
import hashlib
names=sorted(set(encodings.aliases.aliases.values())|{m.name for m in pkgutil.iter_modules(encodings.__path__)})
for n in names:
    out=[]
    for t in texts:
        for e in 'strict','replace','ignore','backslashreplace','xmlcharrefreplace','surrogateescape':
            try: out.append(t.encode(n,e))
            except Exception as x: out.append((type(x).__name__,str(x)))
    for b in [bytes(range(i,min(256,i+8))) for i in range(0,256,8)]+[b'+AGEAYg-',b'+2D3eAA-b',b'+A',b'\x1b$B$"\x1b(B',b'ab\xff',b'+-',b'+/']:
        for e in 'strict','replace','ignore','backslashreplace','surrogateescape':
            try: out.append(b.decode(n,e))
            except Exception as x: out.append((type(x).__name__,str(x)))
    if n in ('bz2_codec', 'zlib_codec'):
        continue  # what these write is up to the library
    print(n, hashlib.md5(repr(out).encode('utf8','surrogatepass')).hexdigest()[:8])

def t(f):
    try: print(ascii(f()))
    except Exception as e: print(type(e).__name__, ascii(str(e)), repr(e.__cause__))
import io
t(lambda: 'a'.encode('hex')); t(lambda: b'a'.decode('rot_13')); t(lambda: str(b'a', 'hex')); t(lambda: bytes('a', 'hex')); t(lambda: codecs.decode(b'a', 'hex')); t(lambda: codecs.encode(1, 'hex'))
for s in b'+AGEAYg-', b'+2D3eAA-b', b'+A', b'+-', b'+/', b'+2D0-', b'+3gA-', b'a\xffb', b'+AGEA\xff', b'+AB-', b'+AGF-', b'+AGE!', b'+2D1x', b'+2D3', b'+Jjo--', b'+AGEAY', b'+ZYd~', b'~\\', b'+AGH-', b'+', b'+!', b'+2D0+x':
    for e in 'strict', 'replace':
        for f in True, False: t(lambda: codecs.utf_7_decode(s, e, f))
t(lambda: '\ud800a\U0001f600~+\x00\xe9-\xe9.\xe91'.encode('utf7')); t(lambda: codecs.utf_7_encode('\xe9', None)); t(lambda: codecs.utf_7_encode(1))
