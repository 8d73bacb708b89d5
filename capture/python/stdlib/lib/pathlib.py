"""Object-oriented paths."""
import os
import fnmatch as _fn


class PurePath:
    def __new__(cls, *args):
        self = object.__new__(cls)
        s = os.path.join('', *[os.fspath(a) for a in args]) if args else ''
        root = '/' if s.startswith('/') else ''
        self._parts = tuple(p for p in s.split('/') if p and p != '.')
        self._root = root
        self._str = root + '/'.join(self._parts) or '.'
        return self

    def __init__(self, *args): pass
    def __fspath__(self): return self._str
    def __str__(self): return self._str
    def __repr__(self): return f"{self.__class__.__name__}({self._str!r})"
    def __hash__(self): return hash(self._str)
    def __eq__(self, o): return isinstance(o, PurePath) and self._str == o._str
    def __lt__(self, o): return self._parts < o._parts if isinstance(o, PurePath) else NotImplemented
    def __le__(self, o): return self._parts <= o._parts if isinstance(o, PurePath) else NotImplemented
    def __gt__(self, o): return self._parts > o._parts if isinstance(o, PurePath) else NotImplemented
    def __ge__(self, o): return self._parts >= o._parts if isinstance(o, PurePath) else NotImplemented
    def __truediv__(self, o):
        try:
            return type(self)(self, o)
        except TypeError:
            return NotImplemented

    def __rtruediv__(self, o): return type(self)(o, self)
    def __reduce__(self): return type(self), (self._str,)
    def joinpath(self, *o): return type(self)(self, *o)
    def as_posix(self): return self._str
    def as_uri(self): return 'file://' + self._str
    parts = property(lambda s: ((s._root,) if s._root else ()) + s._parts)
    root = anchor = property(lambda s: s._root)
    drive = property(lambda s: '')
    name = property(lambda s: s._parts[-1] if s._parts else '')

    @property
    def suffix(self):
        n = self.name
        i = n.rfind('.')
        return n[i:] if 0 < i < len(n) - 1 else ''

    @property
    def suffixes(self):
        n = self.name
        return [] if n.endswith('.') else ['.' + s for s in n.lstrip('.').split('.')[1:]]

    @property
    def stem(self):
        n = self.name
        i = n.rfind('.')
        return n[:i] if 0 < i < len(n) - 1 else n

    @property
    def parent(self):
        if not self._parts:
            return self
        return type(self)(self._root + '/'.join(self._parts[:-1]) or '.')

    @property
    def parents(self):
        out, p = [], self
        while p.parent != p:
            p = p.parent
            out.append(p)
        return out

    def with_name(self, name):
        if not self.name:
            raise ValueError("%r has an empty name" % (self,))
        return self.parent / name

    def with_stem(self, stem): return self.with_name(stem + self.suffix)
    def with_suffix(self, suffix): return self.with_name(self.stem + suffix)
    def is_absolute(self): return bool(self._root)
    def match(self, pattern): return _fn.fnmatch(self.name, pattern.rpartition('/')[2])

    def relative_to(self, *other):
        o = type(self)(*other)
        n = len(o._parts)
        if self._root != o._root or self._parts[:n] != o._parts:
            raise ValueError("{!r} is not in the subpath of {!r} OR one path is relative and the other is absolute.".format(str(self), str(o)))
        return type(self)('/'.join(self._parts[n:]))

    def is_relative_to(self, *other):
        try:
            self.relative_to(*other)
            return True
        except ValueError:
            return False


class PurePosixPath(PurePath):
    pass


class Path(PurePath):
    def __new__(cls, *args):
        return PurePath.__new__(PosixPath if cls is Path else cls, *args)

    @classmethod
    def cwd(cls): return cls(os.getcwd())
    @classmethod
    def home(cls): return cls(os.path.expanduser('~'))
    def stat(self, *, follow_symlinks=True): return os.stat(self, follow_symlinks=follow_symlinks)
    def lstat(self): return os.lstat(self)
    def exists(self): return os.path.exists(self)
    def is_file(self): return os.path.isfile(self)
    def is_dir(self): return os.path.isdir(self)
    def is_symlink(self): return os.path.islink(self)
    def open(self, mode='r', buffering=-1, encoding=None, errors=None, newline=None): return open(self._str, mode, buffering, encoding, errors, newline)

    def read_text(self, encoding=None, errors=None):
        with self.open('r', encoding=encoding, errors=errors) as f:
            return f.read()

    def read_bytes(self):
        with self.open('rb') as f:
            return f.read()

    def write_text(self, data, encoding=None, errors=None, newline=None):
        if not isinstance(data, str):
            raise TypeError('data must be str, not %s' % data.__class__.__name__)
        with self.open('w', encoding=encoding) as f:
            return f.write(data)

    def write_bytes(self, data):
        with self.open('wb') as f:
            return f.write(data)

    def mkdir(self, mode=0o777, parents=False, exist_ok=False):
        try:
            os.mkdir(self, mode)
        except FileNotFoundError:
            if not parents or self.parent == self:
                raise
            self.parent.mkdir(parents=True, exist_ok=True)
            self.mkdir(mode, exist_ok=exist_ok)
        except OSError:
            if not exist_ok or not self.is_dir():
                raise

    def touch(self, mode=0o666, exist_ok=True):
        if not exist_ok and self.exists():
            raise FileExistsError(17, 'File exists', str(self))
        with self.open('a'):
            pass

    def unlink(self, missing_ok=False):
        try:
            os.unlink(self)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rmdir(self): os.rmdir(self)

    def rename(self, target):
        os.rename(self, target)
        return type(self)(target)

    replace = rename
    def symlink_to(self, target, target_is_directory=False): os.symlink(target, self)
    def readlink(self): return type(self)(os.readlink(self))
    def chmod(self, mode): os.chmod(self, mode)
    def resolve(self, strict=False): return type(self)(os.path.realpath(self))
    def absolute(self): return self if self.is_absolute() else type(self)(os.getcwd(), self)
    def expanduser(self): return type(self)(os.path.expanduser(self))
    def samefile(self, o): return os.path.samefile(self, o)

    def iterdir(self):
        for n in os.listdir(self):
            yield self / n

    def glob(self, pattern): yield from self._glob([p for p in pattern.split('/') if p])

    def rglob(self, pattern): yield from self._glob(['**'] + [p for p in pattern.split('/') if p])

    def _glob(self, parts):
        if not parts:
            yield self
            return
        p, rest = parts[0], parts[1:]
        if p == '**':
            seen = set()
            for x in self._glob(rest):
                if x not in seen:
                    seen.add(x)
                    yield x
            if self.is_dir():
                for c in sorted(self.iterdir()):
                    if c.is_dir() and not c.is_symlink():
                        for x in c._glob(parts):
                            if x not in seen:
                                seen.add(x)
                                yield x
                if not rest:
                    return
            return
        if not self.is_dir():
            return
        for n in sorted(os.listdir(self)):
            if _fn.fnmatchcase(n, p) and (not n.startswith('.') or p.startswith('.')):
                c = self / n
                if not rest or c.is_dir():
                    yield from c._glob(rest)


class PosixPath(Path, PurePosixPath):
    pass


class PureWindowsPath(PurePath):
    pass
