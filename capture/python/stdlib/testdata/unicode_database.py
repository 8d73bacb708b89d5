# Characters by every function: what differs shows in the hash of its plane.
import sys, hashlib, unicodedata, random, stringprep, encodings.idna

def planes(name, f):
    hashes = []
    for plane in range(17):
        h = hashlib.md5()
        for c in range(plane << 16, (plane + 1) << 16, 3 if plane < 2 else 101):
            h.update(repr(f(chr(c))).encode('utf-8', 'surrogatepass'))
        hashes.append(h.hexdigest()[:6])
    print(name, *hashes)

def every(u):
    return lambda c: (u.category(c), u.bidirectional(c), u.east_asian_width(c), u.combining(c), u.mirrored(c), u.decimal(c, None), u.digit(c, None), u.numeric(c, None), u.decomposition(c))

planes('now', every(unicodedata))
planes('old', every(unicodedata.ucd_3_2_0))
planes('is', lambda c: (c.isalpha(), c.isdecimal(), c.isdigit(), c.isnumeric(), c.isspace(), c.isprintable(), c.isidentifier(), ('a' + c).isidentifier(), c.islower(), c.isupper(), c.istitle()))
planes('case', lambda c: (c.lower(), c.upper(), c.title(), c.casefold(), c.swapcase(), c.capitalize()))
for form in 'NFC', 'NFD', 'NFKC', 'NFKD':
    planes(form, lambda c: (unicodedata.normalize(form, c), unicodedata.is_normalized(form, c), unicodedata.ucd_3_2_0.normalize(form, c)))

def attempt(f, *a, **k):
    try:
        print(ascii(f(*a, **k)))
    except Exception as e:
        print(type(e).__name__, ascii(str(e)))

r = random.Random(7)
marks = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.combining(chr(c)) or unicodedata.decomposition(chr(c))] + list('aeoAEO가각\u1100\u1161\u11a8')
h = hashlib.md5()
for _ in range(500):
    s = ''.join(r.choice(marks) for _ in range(r.randrange(1, 9)))
    for u in unicodedata, unicodedata.ucd_3_2_0:
        h.update(repr([u.normalize(f, s) for f in ('NFC', 'NFD', 'NFKC', 'NFKD')]).encode())
print(h.hexdigest())

for u in unicodedata, unicodedata.ucd_3_2_0:
    for f in u.category, u.decimal, u.digit, u.numeric, u.name, u.bidirectional, u.combining, u.mirrored, u.east_asian_width, u.decomposition:
        for a in (1,), ('ab',), ('',), ('\uffff',), ('a', 'b', 'c'):
            attempt(f, *a)
    for name in 'space', b'SPACE', 'NULL', 'NEW LINE', 'LATIN SMALL LETTER R WITH TILDE', 'GREEK SMALL LETTER HETA', 'HANGUL SYLLABLE GA', 'CJK UNIFIED IDEOGRAPH-4E00', 'SHUM', 'x' * 300, 1, '':
        attempt(u.lookup, name)
    for c in 'a\u0371\uac00\u4e00\x00\ue000\U0001fae0\U0001fae8':
        attempt(u.name, c)
    attempt(u.normalize, 'XX', 'b'); attempt(u.normalize, 'XX', ''); attempt(u.normalize, 1, 'b'); attempt(u.normalize, 'NFC', b'b'); attempt(u.is_normalized, 'NFC', None)
    print(u.unidata_version)
attempt(unicodedata.UCD)
attempt(eval, r'"\N{NULL}\N{lf}\N{LATIN SMALL LETTER R WITH TILDE}"')

for s in 'ΑΣ', 'Σ', 'ΑΣΒ', 'Α\u0301Σ', 'ΑΣ\u0301', "Α'Σ'", 'ΑΣ Σ', 'ΑΣΣ':
    print(ascii((s.lower(), s.swapcase(), s.title(), s.capitalize(), s.casefold())))
for s in 'bücher.de', 'faß.de', 'ΒΌΛΟΣ.com', 'a..b', '.', 'a' * 64, 'königsgäßchen.example', '日本語。jp', 'xn--bcher-kva.de', 'XN--BCHER-KVA', '\u200f', 'a\u06dd', 'ab\u0627c':
    attempt(s.encode, 'idna')
    attempt(lambda: s.encode('idna').decode('idna'))
    attempt(encodings.idna.nameprep, s)
for s in b'xn--bcher-kva.de', b'xn--', b'xn--a', b'\xff.de', b'xn--99999999':
    attempt(s.decode, 'idna')
