import os
import random as _r

tempdir = None
_rng = _r.Random()


def gettempdir(): return tempdir or os.environ.get('TMPDIR') or '/tmp'


def gettempprefix(): return 'tmp'


def _name(): return ''.join(_rng.choices('abcdefghijklmnopqrstuvwxyz0123456789_', k=8))


def mkdtemp(suffix=None, prefix=None, dir=None):
    while True:
        p = os.path.join(dir or gettempdir(), (prefix or 'tmp') + _name() + (suffix or ''))
        try:
            os.mkdir(p, 0o700)
            return p
        except FileExistsError:
            pass


def mkstemp(suffix=None, prefix=None, dir=None, text=False):
    f = NamedTemporaryFile(suffix=suffix, prefix=prefix, dir=dir, delete=False)
    return f.file.fileno(), f.name


def mktemp(suffix='', prefix='tmp', dir=None): return os.path.join(dir or gettempdir(), prefix + _name() + suffix)


class TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None, ignore_cleanup_errors=False, *, delete=True):
        self.name = mkdtemp(suffix, prefix, dir)

    def __enter__(self): return self.name
    def __exit__(self, *a): self.cleanup()
    def __repr__(self): return "<TemporaryDirectory %r>" % self.name

    def cleanup(self):
        import shutil
        shutil.rmtree(self.name, ignore_errors=True)


class _TemporaryFileWrapper:
    def __init__(self, file, name, delete):
        self.file, self.name, self.delete = file, name, delete

    def __getattr__(self, n): return getattr(self.__dict__['file'], n)
    def __enter__(self): return self
    def __exit__(self, *a): self.close()
    def __iter__(self): return iter(self.file)

    def close(self):
        self.file.close()
        if self.delete and os.path.exists(self.name):
            os.unlink(self.name)


def NamedTemporaryFile(mode='w+b', buffering=-1, encoding=None, newline=None, suffix=None, prefix=None, dir=None, delete=True, *, errors=None):
    p = mktemp(suffix or '', prefix or 'tmp', dir)
    open(p, 'x').close()
    return _TemporaryFileWrapper(open(p, mode.replace('w+', 'r+').replace('w', 'r+')), p, delete)


TemporaryFile = NamedTemporaryFile
SpooledTemporaryFile = NamedTemporaryFile
