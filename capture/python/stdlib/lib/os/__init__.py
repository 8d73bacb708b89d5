"""Operating system interface."""
import sys
import posix as _p
from posix import (getcwd, chdir, mkdir, remove, rmdir, listdir, lstat as _lstat, stat as _stat, readlink, rename, symlink, chmod, access, utime,
                   getpid, getppid, getuid, cpu_count, getlogin, urandom, _exit, abort, kill, strerror)
from . import path

name = 'posix'
sep = '/'
altsep = None
extsep = '.'
pathsep = ':'
linesep = '\n'
curdir = '.'
pardir = '..'
defpath = '/bin:/usr/bin'
devnull = '/dev/null'
F_OK, R_OK, W_OK, X_OK = 0, 4, 2, 1
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
EX_OK = 0
O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND = 0, 1, 2, 64, 128, 512, 1024
error = OSError
unlink = remove
replace = rename


class stat_result(tuple):
    st_mode = property(lambda s: s[0])
    st_ino = property(lambda s: s[1])
    st_dev = property(lambda s: s[2])
    st_nlink = property(lambda s: s[3])
    st_uid = property(lambda s: s[4])
    st_gid = property(lambda s: s[5])
    st_size = property(lambda s: s[6])
    st_atime = property(lambda s: s[7])
    st_mtime = property(lambda s: s[8])
    st_ctime = property(lambda s: s[9])
    st_mtime_ns = property(lambda s: int(s[8] * 1e9))


def stat(path, *, dir_fd=None, follow_symlinks=True):
    return stat_result(_stat(path) if follow_symlinks else _lstat(path))


def lstat(path, *, dir_fd=None):
    return stat_result(_lstat(path))


def fspath(p):
    if isinstance(p, (str, bytes)):
        return p
    f = getattr(type(p), '__fspath__', None)
    if f is None:
        raise TypeError("expected str, bytes or os.PathLike object, not " + type(p).__name__)
    return f(p)


class PathLike:
    @classmethod
    def __class_getitem__(cls, item):
        return cls


class _Environ:
    def __init__(self, data):
        self._data = data

    def _check(self, v):
        if not isinstance(v, str):
            raise TypeError("str expected, not %s" % type(v).__name__)
        return v

    def __getitem__(self, k):
        try:
            return self._data[self._check(k)]
        except KeyError:
            raise KeyError(k) from None

    def __setitem__(self, k, v):
        self._data[self._check(k)] = self._check(v)
        _p.putenv(k, v)

    def __delitem__(self, k):
        try:
            del self._data[k]
        except KeyError:
            raise KeyError(k) from None
        _p.unsetenv(k)

    def __iter__(self): return iter(list(self._data))
    def __len__(self): return len(self._data)
    def __contains__(self, k): return k in self._data
    def keys(self): return self._data.keys()
    def values(self): return self._data.values()
    def items(self): return self._data.items()
    def copy(self): return dict(self._data)
    def get(self, k, default=None): return self._data.get(k, default)
    def __repr__(self): return 'environ(' + repr(self._data) + ')'
    def __eq__(self, o): return self._data == (o._data if isinstance(o, _Environ) else o)
    def __or__(self, o): return {**self._data, **o}

    def setdefault(self, k, v=None):
        if k not in self:
            self[k] = v
        return self[k]

    def pop(self, k, *d):
        if k in self._data:
            v = self._data[k]
            del self[k]
            return v
        if d:
            return d[0]
        raise KeyError(k)

    def update(self, other=(), **kw):
        for k, v in dict(other, **kw).items():
            self[k] = v

    def clear(self):
        for k in list(self):
            del self[k]


environ = _Environ(_p.environ)


def getenv(key, default=None):
    return environ.get(key, default)


def putenv(k, v): environ[k] = v
def unsetenv(k): environ.pop(k, None)


def makedirs(name, mode=0o777, exist_ok=False):
    name = fspath(name)
    head, tail = path.split(name)
    if not tail:
        head, tail = path.split(head)
    if head and tail and not path.exists(head):
        makedirs(head, exist_ok=True)
        if tail == '.':
            return
    try:
        mkdir(name, mode)
    except OSError:
        if not exist_ok or not path.isdir(name):
            raise


def removedirs(name):
    rmdir(name)
    head, tail = path.split(name)
    while head and tail:
        try:
            rmdir(head)
        except OSError:
            break
        head, tail = path.split(head)


class DirEntry:
    def __init__(self, d, n):
        self.name, self.path = n, path.join(d, n)

    def is_dir(self, *, follow_symlinks=True): return path.isdir(self.path)
    def is_file(self, *, follow_symlinks=True): return path.isfile(self.path)
    def is_symlink(self): return path.islink(self.path)
    def stat(self, *, follow_symlinks=True): return stat(self.path, follow_symlinks=follow_symlinks)
    def __fspath__(self): return self.path
    def __repr__(self): return "<DirEntry %r>" % self.name


class scandir:
    def __init__(self, p='.'):
        self._it = iter([DirEntry(fspath(p), n) for n in listdir(p)])

    def __iter__(self): return self
    def __next__(self): return next(self._it)
    def __enter__(self): return self
    def __exit__(self, *a): pass
    def close(self): pass


def walk(top, topdown=True, onerror=None, followlinks=False):
    top = fspath(top)
    try:
        names = listdir(top)
    except OSError as e:
        if onerror is not None:
            onerror(e)
        return
    dirs = [n for n in names if path.isdir(path.join(top, n))]
    files = [n for n in names if not path.isdir(path.join(top, n))]
    if topdown:
        yield top, dirs, files
    for d in dirs:
        p = path.join(top, d)
        if followlinks or not path.islink(p):
            yield from walk(p, topdown, onerror, followlinks)
    if not topdown:
        yield top, dirs, files


class terminal_size(tuple):
    columns = property(lambda s: s[0])
    lines = property(lambda s: s[1])


def get_terminal_size(fd=1): return terminal_size((80, 24))
def system(cmd): return _p.run(['/bin/sh', '-c', cmd])[0] << 8
def sched_getaffinity(pid): return set(range(cpu_count()))
def umask(n): return 0o22
def isatty(fd): return False
def fsencode(s): return s.encode() if isinstance(s, str) else s
def fsdecode(s): return s.decode() if isinstance(s, bytes) else s
def getpgid(pid): return pid
def register_at_fork(**kw): pass


def uname():
    import types
    return types.SimpleNamespace(sysname='Linux', nodename='localhost', release='0', version='0', machine='x86_64')


sys.modules['os.path'] = path
