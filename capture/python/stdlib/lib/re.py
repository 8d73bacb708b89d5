"""Regular expressions."""
from _whittle import native as _native
import _re
import enum
from operator import index as _op_index


class error(Exception):
    __module__ = 're'

    def __init__(self, msg, pattern=None, pos=None):
        self.msg, self.pattern, self.pos = msg, pattern, pos
        self.lineno = self.colno = None
        if pattern is not None and pos is not None:
            nl = '\n' if isinstance(pattern, str) else b'\n'
            msg += f' at position {pos}'
            self.lineno = pattern.count(nl, 0, pos) + 1
            self.colno = pos - pattern.rfind(nl, 0, pos)
            if nl in pattern:
                msg += f' (line {self.lineno}, column {self.colno})'
        super().__init__(msg)


class RegexFlag(enum.IntFlag):
    NOFLAG = 0
    IGNORECASE = I = 2
    LOCALE = L = 4
    MULTILINE = M = 8
    DOTALL = S = 16
    UNICODE = U = 32
    VERBOSE = X = 64
    DEBUG = 128
    ASCII = A = 256
    __str__ = object.__str__

    def __repr__(self):
        names = [f're.{f.name}' for f in _bits if self._value_ & f._value_]
        rest = self._value_ & ~sum(f._value_ for f in _bits)
        if rest:
            names.append(hex(rest))
        return '|'.join(names) or 're.NOFLAG'


_bits = [RegexFlag.IGNORECASE, RegexFlag.LOCALE, RegexFlag.MULTILINE, RegexFlag.DOTALL, RegexFlag.UNICODE, RegexFlag.VERBOSE, RegexFlag.DEBUG, RegexFlag.ASCII]


NOFLAG, I, L, M, S, U, X, A = (RegexFlag.NOFLAG, RegexFlag.IGNORECASE, RegexFlag.LOCALE, RegexFlag.MULTILINE, RegexFlag.DOTALL, RegexFlag.UNICODE,
                               RegexFlag.VERBOSE, RegexFlag.ASCII)
IGNORECASE, LOCALE, MULTILINE, DOTALL, UNICODE, VERBOSE, ASCII, DEBUG = I, L, M, S, U, X, A, RegexFlag.DEBUG


def _index(g):
    try:
        return _op_index(g)
    except TypeError:
        raise IndexError('no such group') from None


@_native
class Match:
    def __init__(self, re, string, pos, endpos, spans):
        self.re, self.string, self.pos, self.endpos, self._spans = re, string, pos, endpos, spans

    def _index(self, g):
        if isinstance(g, str):
            try:
                return self.re.groupindex[g]
            except KeyError:
                raise IndexError('no such group') from None
        g = g if type(g) is int else _index(g)
        if g < 0 or g > self.re.groups:
            raise IndexError('no such group')
        return g

    def span(self, g=0):
        i = self._index(g)
        return self._spans[2 * i], self._spans[2 * i + 1]

    def start(self, g=0): return self.span(g)[0]
    def end(self, g=0): return self.span(g)[1]

    def _one(self, g, default=None):
        a, b = self.span(g)
        return default if a < 0 else self.string[a:b]

    def group(self, *gs):
        if not gs:
            return self._one(0)
        if len(gs) == 1:
            return self._one(gs[0])
        return tuple(self._one(g) for g in gs)

    def __getitem__(self, g): return self._one(g)
    def groups(self, default=None): return tuple(self._one(i, default) for i in range(1, self.re.groups + 1))
    def groupdict(self, default=None): return {n: self._one(i, default) for n, i in self.re.groupindex.items()}
    def expand(self, template): return _expand(template, self)

    @property
    def lastindex(self):
        best, end = None, -1
        for i in range(1, self.re.groups + 1):
            if self._spans[2 * i] >= 0 and self._spans[2 * i + 1] > end:
                best, end = i, self._spans[2 * i + 1]
        return best

    @property
    def lastgroup(self):
        i = self.lastindex
        for n, k in self.re.groupindex.items():
            if k == i:
                return n
        return None

    @property
    def regs(self): return tuple(self.span(i) for i in range(self.re.groups + 1))

    def __copy__(self): return self
    def __deepcopy__(self, memo): return self
    def __repr__(self): return f'<re.Match object; span={self.span()!r}, match={self.group()!r}>'
    def __bool__(self): return True


_ESCAPES = {'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '\\': '\\'}


@_native
def _template(text, pattern):
    """A replacement as a list of strings and numbers of groups."""
    out, lit, i, n = [], [], 0, len(text)

    def wrong(msg, pos):
        return error(msg, text.encode('latin-1') if pattern._bytes else text, pos)

    def group(g, pos):
        if g > pattern.groups:
            raise wrong(f'invalid group reference {g}', pos)
        if lit:
            out.append(''.join(lit))
            lit.clear()
        out.append(g)

    while i < n:
        c = text[i]
        if c != '\\':
            lit.append(c)
            i += 1
            continue
        if i + 1 >= n:
            raise wrong('bad escape (end of pattern)', i)
        c = text[i + 1]
        if c == 'g':
            if text[i + 2:i + 3] != '<':
                raise wrong('missing <', i + 2)
            j = text.find('>', i + 3)
            if j < 0:
                raise wrong('missing group name' if i + 3 >= n else 'missing >, unterminated name', i + 3)
            name = text[i + 3:j]
            if not name:
                raise wrong('missing group name', i + 3)
            if name.isidentifier():
                if name not in pattern.groupindex:
                    raise IndexError(f'unknown group name {name!r}')
                g = pattern.groupindex[name]
            elif name.isdecimal() and name.isascii():
                g = int(name)
            else:
                raise wrong(f'bad character in group name {name!r}', i + 3)
            group(g, i + 3)
            i = j + 1
        elif c == '0':
            j = i + 2
            while j < min(n, i + 4) and text[j] in '01234567':
                j += 1
            lit.append(chr(int(text[i + 1:j], 8) & 255))
            i = j
        elif c in '123456789':
            j = i + 2
            if text[j:j + 1] and text[j] in '0123456789':
                j += 1
                if c in '1234567' and text[j - 1] in '01234567' and text[j:j + 1] and text[j] in '01234567':
                    v = int(text[i + 1:j + 1], 8)
                    if v > 0o377:
                        raise wrong(f'octal escape value {text[i:j + 1]} outside of range 0-0o377', i)
                    lit.append(chr(v))
                    i = j + 1
                    continue
            group(int(text[i + 1:j]), i + 1)
            i = j
        else:
            if c in _ESCAPES:
                lit.append(_ESCAPES[c])
            elif c.isascii() and c.isalpha():
                raise wrong(f'bad escape \\{c}', i)
            else:
                lit.append('\\' + c)
            i += 2
    if lit:
        out.append(''.join(lit))
    return out


@_native
def _expand(template, m):
    p = m.re
    text = template
    if p._bytes:
        text = bytes(template).decode('latin-1')
    if '\\' not in text:
        return template
    empty = m.string[:0]
    parts = [m._one(x, empty) if isinstance(x, int) else (x.encode('latin-1') if p._bytes else x) for x in _template(text, p)]
    return empty.join(parts)


@_native
class Pattern:
    def __init__(self, pattern, flags=0):
        self.pattern = pattern
        self._bytes = isinstance(pattern, bytes)
        p = pattern.decode('latin-1') if self._bytes else pattern
        if not isinstance(p, str):
            raise TypeError("first argument must be string or compiled pattern")
        flags = int(flags)
        if self._bytes:
            if flags & 32:
                raise ValueError("cannot use UNICODE flag with a bytes pattern")
            if flags & 4 and flags & 256:
                raise ValueError("ASCII and LOCALE flags are incompatible")
        elif flags & 4:
            raise ValueError("cannot use LOCALE flag with a str pattern")
        elif flags & 256 and flags & 32:
            raise ValueError("ASCII and UNICODE flags are incompatible")
        r = _re.compile(p, flags, self._bytes)
        if len(r) == 2:
            if r[1] == -2:
                raise OverflowError(r[0])
            if r[1] < 0:
                raise error(r[0])
            raise error(r[0], pattern, r[1])
        self._h, flags, names = r
        if not self._bytes and not flags & 256:
            flags |= 32
        self.flags = flags
        self.groups = len(names)
        self.groupindex = {n: i + 1 for i, n in enumerate(names) if n is not None}

    def _run(self, string, pos, endpos, mode):
        if self._bytes != isinstance(string, (bytes, bytearray)):
            if not isinstance(string, (str, bytes, bytearray)):
                raise TypeError(f"expected string or bytes-like object, got '{type(string).__name__}'")
            raise TypeError("cannot use a %s pattern on a %s-like object" % (('bytes', 'string') if self._bytes else ('string', 'bytes')))
        text = bytes(string).decode('latin-1') if self._bytes else string
        n = len(string)
        pos = max(0, min(pos, n))
        endpos = n if endpos is None else max(0, min(endpos, n))
        r = _re.search(self._h, text, pos, endpos, mode)
        return None if r is None else Match(self, string, pos, endpos, r)

    def search(self, string, pos=0, endpos=None): return self._run(string, pos, endpos, 0)
    def match(self, string, pos=0, endpos=None): return self._run(string, pos, endpos, 1)
    def fullmatch(self, string, pos=0, endpos=None): return self._run(string, pos, endpos, 2)
    def finditer(self, string, pos=0, endpos=None): return self._all(string, pos, endpos)

    def _all(self, string, pos=0, endpos=None):
        mode, first = 0, pos
        while True:
            m = self._run(string, pos, endpos, mode)
            if m is None:
                return
            a, b = m._spans[:2]
            m.pos = first
            yield m
            mode, pos = (3 if a == b else 0), b

    def findall(self, string, pos=0, endpos=None):
        out = []
        for m in self.finditer(string, pos, endpos):
            if self.groups == 0:
                out.append(m.group())
            elif self.groups == 1:
                out.append(m._one(1, m.string[:0]))
            else:
                out.append(m.groups(m.string[:0]))
        return out

    def subn(self, repl, string, count=0):
        out, at, n = [], 0, 0
        parts = None
        if not callable(repl):
            if isinstance(repl, str) == self._bytes:
                raise TypeError(f"sequence item 0: expected {'a bytes-like object, str' if self._bytes else 'str instance, bytes'} found")
            text = bytes(repl).decode('latin-1') if self._bytes else repl
            if '\\' in text:
                parts = [x.encode('latin-1') if self._bytes and isinstance(x, str) else x for x in _template(text, self)]
        empty = string[:0]
        for m in self._all(string):
            if count and n >= count:
                break
            a, b = m._spans[:2]
            out.append(string[at:a])
            if parts is not None:
                for x in parts:
                    out.append(m._one(x, empty) if isinstance(x, int) else x)
            else:
                out.append(repl(m) if callable(repl) else repl)
            at = b
            n += 1
        out.append(string[at:])
        return string[:0].join(out), n

    def sub(self, repl, string, count=0): return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        out, at, n = [], 0, 0
        for m in self._all(string):
            if maxsplit and n >= maxsplit:
                break
            a, b = m.span()
            out.append(string[at:a])
            out.extend(m.groups())
            at = b
            n += 1
        out.append(string[at:])
        return out

    def __repr__(self):
        f = self.flags & ~32
        names = [x for b, x in ((2, 're.IGNORECASE'), (8, 're.MULTILINE'), (16, 're.DOTALL'), (64, 're.VERBOSE'), (256, 're.ASCII')) if f & b]
        return f're.compile({self.pattern!r}{", " + "|".join(names) if names else ""})'

    def __eq__(self, o): return isinstance(o, Pattern) and (self.pattern, self.flags) == (o.pattern, o.flags)
    def __hash__(self): return hash((self.pattern, self.flags))
    def __reduce__(self): return compile, (self.pattern, self.flags & ~32)
    def __copy__(self): return self
    def __deepcopy__(self, memo): return self


_cache = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    key = (type(pattern), pattern, int(flags))
    p = _cache.get(key)
    if p is None:
        if len(_cache) > 512:
            _cache.clear()
        p = _cache[key] = Pattern(pattern, flags)
    return p


def search(pattern, string, flags=0): return compile(pattern, flags).search(string)
def match(pattern, string, flags=0): return compile(pattern, flags).match(string)
def fullmatch(pattern, string, flags=0): return compile(pattern, flags).fullmatch(string)
def findall(pattern, string, flags=0): return compile(pattern, flags).findall(string)
def finditer(pattern, string, flags=0): return compile(pattern, flags).finditer(string)
def sub(pattern, repl, string, count=0, flags=0): return compile(pattern, flags).sub(repl, string, count)
def subn(pattern, repl, string, count=0, flags=0): return compile(pattern, flags).subn(repl, string, count)
def split(pattern, string, maxsplit=0, flags=0): return compile(pattern, flags).split(string, maxsplit)
def purge(): _cache.clear()


_special = {c: '\\' + chr(c) for c in b'()[]{}?*+-|^$\\.&~# \t\n\r\v\f'}


def escape(pattern):
    if isinstance(pattern, str):
        return pattern.translate(_special)
    return pattern.decode('latin-1').translate(_special).encode('latin-1')
