import codecs, marshal, time, zlib

for text in ('plain', 'ünï', '\ud800x', '€ \U0001f600', 'a\udcffb'):
    for enc in ('utf-8', 'ascii', 'latin-1', 'utf-16', 'utf-32-be', 'cp1252', 'unicode_escape', 'raw_unicode_escape', 'koi8-r'):
        for errors in ('strict', 'replace', 'backslashreplace', 'xmlcharrefreplace', 'surrogateescape', 'surrogatepass', 'namereplace'):
            try: print(enc, errors, text.encode(enc, errors))
            except (UnicodeError, LookupError) as e: print(enc, errors, type(e).__name__, ascii(str(e)))
for data in (b'abc', b'\xff\xfe', b'a\xc3', b'\xed\xa0\x80', b'\xf0\x9f\x98', b'\\x41\\u00e9\\N{BULLET}'):
    for enc in ('utf-8', 'ascii', 'utf-16-le', 'utf-32', 'cp1252', 'unicode_escape'):
        for errors in ('strict', 'ignore', 'replace', 'backslashreplace', 'surrogateescape'):
            try: print(enc, errors, ascii(data.decode(enc, errors)))
            except UnicodeError as e: print(enc, errors, e)
print(len('\ud800'), '\ud800' == '\ud800', ['\ud800', 'a'], ascii('x\udfff'[1:]), sorted(['\uffff', '\ud800', '\U00010000']), hash('\ud800') == hash('\ud800'))
codecs.register_error('shout', lambda e: ('!' * (e.end - e.start), e.end))
print('aéb'.encode('ascii', 'shout'), b'a\xffb'.decode('utf-8', 'shout'))
d = codecs.getincrementaldecoder('utf-8')()
print([d.decode(bytes([b])) for b in '€x'.encode()], codecs.lookup('UTF_8').name, codecs.encode('abc', 'rot13'), codecs.decode(b'616263', 'hex'))
try: 'x'.encode('no-such')
except LookupError as e: print(e)
for v in (None, True, 5, -2**40, 2**100, 1.5, 2j, 'text', 'ü\ud800', b'b', (1, (2,)), [1, [2]], {'a': 1}, {3}, frozenset({4}), ...):
    assert marshal.loads(marshal.dumps(v)) == v, v
print(marshal.loads(marshal.dumps([1, 'a', 2.5, None], 2)), marshal.version)
for bad in (b'', b'i', b'?', b'[\xff\xff\xff\xff'):
    try: print(marshal.loads(bad))
    except (EOFError, ValueError, TypeError) as e: print(type(e).__name__, e)
data = b'some data, some data, ' * 100
for wbits in (15, -15, 31):
    c = zlib.compressobj(9, zlib.DEFLATED, wbits)
    z = c.compress(data) + c.flush(zlib.Z_SYNC_FLUSH) + c.compress(data) + c.flush()
    o = zlib.decompressobj(wbits)
    out = o.decompress(z[:20]) + o.decompress(z[20:] + b'tail')
    print(out == data * 2, o.eof, o.unused_data, len(z) < 200)
o = zlib.decompressobj()
part = o.decompress(zlib.compress(data), 100)
print(len(part), len(o.unconsumed_tail) > 0, len(o.decompress(o.unconsumed_tail)) + len(part) == len(data), zlib.crc32(data), zlib.adler32(data, 7))
for bad in (b'x', b'xxxx', zlib.compress(data)[:-1]):
    try: zlib.decompress(bad)
    except zlib.error as e: print(e)
print(time.strftime('%Y-%m-%d %H:%M:%S %j %a %A %b %B %y %I %p %U %W %V %G %u %w %e %C %D %F %T %R %% %q', (2023, 2, 5, 14, 3, 9, 6, 36, 0)), time.asctime((2023, 2, 5, 14, 3, 9, 6, 36, 0)))
print(time.gmtime(86400 * 365.25 * 30)[:8], time.strptime('5 Feb 2023', '%d %b %Y')[:3], time.gmtime(0).tm_zone, type(time.gmtime()).__name__)
try: time.strftime('%d', (2023, 13, 1, 0, 0, 0, 0, 0, 0))
except ValueError as e: print(e)
