"""Regular expressions."""
import _re
import enum


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        self.msg, self.pattern, self.pos = msg, pattern, pos
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


NOFLAG, I, L, M, S, U, X, A = (RegexFlag.NOFLAG, RegexFlag.IGNORECASE, RegexFlag.LOCALE, RegexFlag.MULTILINE, RegexFlag.DOTALL, RegexFlag.UNICODE,
                               RegexFlag.VERBOSE, RegexFlag.ASCII)
IGNORECASE, LOCALE, MULTILINE, DOTALL, UNICODE, VERBOSE, ASCII, DEBUG = I, L, M, S, U, X, A, RegexFlag.DEBUG


class Match:
    def __init__(self, re, string, pos, endpos, spans):
        self.re, self.string, self.pos, self.endpos, self._spans = re, string, pos, endpos, spans

    def _index(self, g):
        if isinstance(g, str):
            try:
                return self.re.groupindex[g]
            except KeyError:
                raise IndexError('no such group') from None
        if not isinstance(g, int) or g < 0 or g > self.re.groups:
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

    def __repr__(self): return f'<re.Match object; span={self.span()!r}, match={self.group()!r}>'
    def __bool__(self): return True


def _expand(template, m):
    if '\\' not in template:
        return template
    out = []
    i = 0
    esc = {'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '\\': '\\'}
    while i < len(template):
        c = template[i]
        if c != '\\' or i + 1 >= len(template):
            out.append(c)
            i += 1
            continue
        c = template[i + 1]
        if c == 'g' and template[i + 2:i + 3] == '<':
            j = template.index('>', i)
            name = template[i + 3:j]
            out.append(m._one(int(name) if name.isdigit() else name, '') or '')
            i = j + 1
        elif c.isdigit() and c != '0':
            j = i + 2
            if template[j:j + 1].isdigit() and int(template[i + 1:j + 1]) <= m.re.groups:
                j += 1
            try:
                out.append(m._one(int(template[i + 1:j]), '') or '')
            except IndexError:
                raise error(f'invalid group reference {template[i + 1:j]}') from None
            i = j
        elif c == '0':
            out.append('\0')
            i += 2
        elif c in esc:
            out.append(esc[c])
            i += 2
        elif c.isalpha():
            raise error(f'bad escape \\{c}')
        else:
            out.append('\\' + c)
            i += 2
    return ''.join(out)


class Pattern:
    def __init__(self, pattern, flags=0):
        self.pattern = pattern
        self._bytes = isinstance(pattern, bytes)
        p = pattern.decode('latin-1') if self._bytes else pattern
        if not isinstance(p, str):
            raise TypeError("first argument must be string or compiled pattern")
        try:
            self._h, self.groups, names = _re.compile(p, int(flags))
        except ValueError as e:
            raise error(str(e), pattern) from None
        self.groupindex = {n: i + 1 for i, n in enumerate(names) if n is not None}
        self.flags = int(flags) | (0 if self._bytes else 32)

    def _run(self, string, pos, endpos, mode):
        if self._bytes != isinstance(string, (bytes, bytearray)):
            if not isinstance(string, (str, bytes, bytearray)):
                raise TypeError(f"expected string or bytes-like object, got '{type(string).__name__}'")
            raise TypeError("cannot use a %s pattern on a %s-like object" % (('bytes', 'string') if self._bytes else ('string', 'bytes')))
        text = string.decode('latin-1') if self._bytes else string
        r = _re.search(self._h, text, pos, -1 if endpos is None else endpos, mode)
        return None if r is None else Match(self, string, pos, len(string) if endpos is None else endpos, r)

    def search(self, string, pos=0, endpos=None): return self._run(string, pos, endpos, 0)
    def match(self, string, pos=0, endpos=None): return self._run(string, pos, endpos, 1)
    def fullmatch(self, string, pos=0, endpos=None): return self._run(string, pos, endpos, 2)

    def finditer(self, string, pos=0, endpos=None):
        n = len(string) if endpos is None else endpos
        last = -1
        while pos <= n:
            m = self._run(string, pos, endpos, 0)
            if m is None:
                return
            a, b = m.span()
            if a == b and a == last:
                pos += 1
                m = self._run(string, pos, endpos, 0) if pos <= n else None
                if m is None:
                    return
                a, b = m.span()
            yield m
            last = b if a == b else -1
            pos = b

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
        for m in self.finditer(string):
            if count and n >= count:
                break
            a, b = m.span()
            out.append(string[at:a])
            out.append(repl(m) if callable(repl) else (_expand(repl, m) if not self._bytes else repl))
            at = b
            n += 1
        out.append(string[at:])
        return string[:0].join(out), n

    def sub(self, repl, string, count=0): return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        out, at, n = [], 0, 0
        for m in self.finditer(string):
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
