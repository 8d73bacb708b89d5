"""Writes tables.bin: what the CPython that runs this knows of each character.

Everything is a number in base 128, the low digits first, and the whole is compressed by zlib. signed numbers have their sign in the lowest bit.
ucd.go reads the same things in the same order. Names beyond a character's own (aliases, sequences) cannot be asked for one by one; the candidates
come from a list of Unicode's own, of which those are kept that CPython knows.
"""
import glob
import re
import sys
import unicodedata
import zlib

old = unicodedata.ucd_3_2_0
CHARS = [chr(c) for c in range(sys.maxunicode + 1)]

out = bytearray()


def number(n):
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)


def signed(n):
    number(n << 1 if n >= 0 else (-n << 1) - 1)


def text(s):
    b = s.encode('utf-8', 'surrogatepass')
    number(len(b))
    out.extend(b)


def texts(l):
    number(len(l))
    for s in l:
        text(s)


class Index:
    """The distinct things of a kind, in the order in which they come up."""

    def __init__(self):
        self.of = {}

    def __call__(self, x):
        return self.of.setdefault(x, len(self.of))


categories, classes, widths, numerics, tags, records = (Index() for _ in range(6))
categories('Cn'), classes(''), widths('N'), numerics(None), tags('')


def delta(c, mapped):
    return ord(mapped) - ord(c) if len(mapped) == 1 else 0


def excluded(c):
    """A composite that normalisation takes apart and does not put together again."""
    d = unicodedata.decomposition(c)
    return bool(d) and d[0] != '<' and unicodedata.normalize('NFC', c) != c


def flags(c, u):
    return sum(1 << i for i, on in enumerate((
        u.mirrored(c), c.isalpha(), c.isprintable(), c.isspace(), c.isidentifier(), ('a' + c).isidentifier(), c.islower(), c.isupper(),
        (c + 'a').title()[-1] == 'a',  # it has a case
        not (c + 'Σ').lower().endswith('ς') and ('A' + c + 'Σ').lower().endswith('ς'),  # it is passed over when a word's end is looked for
        excluded(c))) if on)


def record(c, u):
    n = u.numeric(c, None)
    return (categories(u.category(c)), classes(u.bidirectional(c)), widths(u.east_asian_width(c)), u.combining(c), u.decimal(c, -1) + 1, u.digit(c, -1) + 1,
            numerics(None if n is None else repr(n)), flags(c, u), delta(c, c.lower()), delta(c, c.upper()), delta(c, c.title()), delta(c, c.casefold()))


def runs(u):
    l = []
    for c in CHARS:
        i = records(record(c, u))
        if l and l[-1][1] == i:
            l[-1][0] += 1
        else:
            l.append([1, i])
    return l


def mappings(pairs):
    """Pairs of a character and the text that it becomes, in the order of the characters."""
    last = 0
    pairs = list(pairs)
    number(len(pairs))
    for c, s in pairs:
        number(ord(c) - last)
        last = ord(c)
        text(s)


def decompositions():
    l = []
    for c in CHARS:
        d = unicodedata.decomposition(c).split()
        if d:
            tag = d.pop(0) if d[0][0] == '<' else ''
            l.append((c, tags(tag), ''.join(chr(int(x, 16)) for x in d)))
    return l


def corrections():
    """What Unicode 3.2 took other characters apart to."""
    for c in CHARS:
        if old.category(c) != 'Cn' and old.normalize('NFD', c) != unicodedata.normalize('NFD', c):
            yield c, old.normalize('NFD', c)


def other_names():
    found = {}
    for f in glob.glob('/usr/share/perl/5*/unicore/Name.pl'):
        for name in re.findall(r'^[0-9A-F ]+\n([^\n]+)$', open(f).read(), re.M):
            try:
                s = unicodedata.lookup(name)
            except KeyError:
                continue
            if len(s) > 1 or unicodedata.name(s, None) != name:
                found[name] = s
    return found


now, before, parts, names = runs(unicodedata), runs(old), decompositions(), other_names()
text(unicodedata.unidata_version)
for l in (categories, classes, widths):
    texts(list(l.of))
texts([n or '' for n in numerics.of])
texts(list(tags.of))
number(len(records.of))
for r in records.of:
    for n in r[:8]:
        number(n)
    for n in r[8:]:
        signed(n)
for l in (now, before):
    for n, i in l:
        number(n)
        number(i)
for f in (str.lower, str.upper, str.title, str.casefold):
    mappings((c, f(c)) for c in CHARS if len(f(c)) > 1)
number(len(parts))
last = 0
for c, tag, s in parts:
    number(ord(c) - last)
    last = ord(c)
    number(tag)
    text(s)
mappings(corrections())
number(len(names))
for name in sorted(names):
    text(name)
    text(names[name])
with open('tables.bin', 'wb') as f:
    f.write(zlib.compress(bytes(out), 9))
print(len(records.of), 'records,', len(now), 'and', len(before), 'runs,', len(names), 'names')
