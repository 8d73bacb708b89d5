"""Paths, POSIX flavour."""
import posix as _p

sep = '/'
curdir, pardir, extsep, altsep, pathsep, defpath, devnull = '.', '..', '.', None, ':', '/bin:/usr/bin', '/dev/null'


def _s(p):
    if isinstance(p, (str, bytes)):
        return p
    f = getattr(type(p), '__fspath__', None)
    if f is None:
        raise TypeError("expected str, bytes or os.PathLike object, not " + type(p).__name__)
    return f(p)


def join(a, *p):
    path = _s(a)
    for b in map(_s, p):
        if b.startswith('/'):
            path = b
        elif not path or path.endswith('/'):
            path += b
        else:
            path += '/' + b
    return path


def split(p):
    p = _s(p)
    i = p.rfind('/') + 1
    head, tail = p[:i], p[i:]
    if head and head != '/' * len(head):
        head = head.rstrip('/')
    return head, tail


def basename(p):
    p = _s(p)
    return p[p.rfind('/') + 1:]


def dirname(p): return split(p)[0]


def splitext(p):
    p = _s(p)
    i = p.rfind('.')
    s = p.rfind('/')
    if i > s:
        j = s + 1
        while j < i:
            if p[j] != '.':
                return p[:i], p[i:]
            j += 1
    return p, ''


def splitdrive(p): return '', _s(p)
def isabs(p): return _s(p).startswith('/')


def _mode(p, f=_p.stat):
    try:
        return f(p)[0]
    except (OSError, ValueError):
        return None


def exists(p): return _mode(p) is not None
def lexists(p): return _mode(p, _p.lstat) is not None


def isdir(p):
    m = _mode(p)
    return m is not None and m & 0o170000 == 0o040000


def isfile(p):
    m = _mode(p)
    return m is not None and m & 0o170000 == 0o100000


def islink(p):
    m = _mode(p, _p.lstat)
    return m is not None and m & 0o170000 == 0o120000


def ismount(p): return _s(p) == '/'
def getsize(p): return _p.stat(p)[6]
def getatime(p): return _p.stat(p)[7]
def getmtime(p): return _p.stat(p)[8]
def getctime(p): return _p.stat(p)[9]


def normpath(p):
    p = _s(p)
    if p == '':
        return '.'
    initial = '/' if p.startswith('/') else ''
    if p.startswith('//') and not p.startswith('///'):
        initial = '//'
    out = []
    for c in p.split('/'):
        if c in ('', '.'):
            continue
        if c != '..' or (not initial and not out) or (out and out[-1] == '..'):
            out.append(c)
        elif out:
            out.pop()
    return initial + '/'.join(out) or '.'


def abspath(p):
    p = _s(p)
    return normpath(p if isabs(p) else join(_p.getcwd(), p))


def realpath(p, *, strict=False): return _p.realpath(_s(p))


def relpath(p, start='.'):
    a = [x for x in abspath(start).split('/') if x]
    b = [x for x in abspath(p).split('/') if x]
    i = 0
    while i < len(a) and i < len(b) and a[i] == b[i]:
        i += 1
    return join(*(['..'] * (len(a) - i) + b[i:])) if len(a) - i + len(b) - i else '.'


def commonprefix(m):
    if not m:
        return ''
    s1, s2 = min(m), max(m)
    for i, c in enumerate(s1):
        if c != s2[i]:
            return s1[:i]
    return s1


def commonpath(paths):
    parts = [p.split('/') for p in map(_s, paths)]
    return '/'.join(commonprefix(parts))


def expanduser(p):
    p = _s(p)
    if not p.startswith('~'):
        return p
    home = _p.environ.get('HOME', '/')
    i = p.find('/')
    if i < 0:
        i = len(p)
    return (home.rstrip('/') + p[i:]) or '/' if i == 1 else p


def expandvars(p):
    import re
    return re.sub(r'\$(\w+|\{[^}]*\})', lambda m: _p.environ.get(m.group(1).strip('{}'), m.group(0)), _s(p))


def samefile(a, b): return _p.stat(a)[1:3] == _p.stat(b)[1:3]
def normcase(p): return _s(p)
