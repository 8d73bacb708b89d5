import os
import posix as _p


class Error(OSError): pass
class SameFileError(Error): pass


def copyfile(src, dst, *, follow_symlinks=True):
    _p.copyfile(src, dst)
    return dst


def copymode(src, dst, **k): os.chmod(dst, os.stat(src).st_mode & 0o7777)
def copystat(src, dst, **k): copymode(src, dst)


def copy(src, dst, *, follow_symlinks=True):
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(src))
    copyfile(src, dst)
    copymode(src, dst)
    return dst


copy2 = copy


def copyfileobj(a, b, length=0): b.write(a.read())


def copytree(src, dst, symlinks=False, ignore=None, copy_function=copy2, ignore_dangling_symlinks=False, dirs_exist_ok=False):
    names = os.listdir(src)
    skip = ignore(os.fspath(src), names) if ignore else ()
    os.makedirs(dst, exist_ok=dirs_exist_ok)
    for n in names:
        if n in skip:
            continue
        a, b = os.path.join(src, n), os.path.join(dst, n)
        if os.path.isdir(a):
            copytree(a, b, symlinks, ignore, copy_function, dirs_exist_ok=dirs_exist_ok)
        else:
            copy_function(a, b)
    return dst


def rmtree(path, ignore_errors=False, onerror=None, **k):
    try:
        _p.rmtree(path)
    except OSError:
        if not ignore_errors:
            raise


def move(src, dst, copy_function=copy2):
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(os.fspath(src).rstrip('/')))
    try:
        os.rename(src, dst)
    except OSError:
        if os.path.isdir(src):
            copytree(src, dst)
            rmtree(src)
        else:
            copy(src, dst)
            os.unlink(src)
    return dst


def which(cmd, mode=1, path=None):
    if '/' in cmd:
        return cmd if os.path.isfile(cmd) and os.access(cmd, 1) else None
    for d in (path or os.environ.get('PATH', os.defpath)).split(':'):
        p = os.path.join(d, cmd)
        if os.path.isfile(p) and os.access(p, 1):
            return p
    return None


def ignore_patterns(*ps):
    import fnmatch
    return lambda d, names: {n for n in names if any(fnmatch.fnmatch(n, p) for p in ps)}


def get_terminal_size(fallback=(80, 24)): return os.terminal_size(fallback)
def disk_usage(path): return (0, 0, 0)
