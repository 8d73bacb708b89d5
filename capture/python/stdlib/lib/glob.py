import os
import re
import fnmatch


def has_magic(s): return any(c in s for c in '*?[')


def iglob(pathname, *, root_dir=None, recursive=False, include_hidden=False):
    import pathlib
    pathname = os.fspath(pathname)
    if not has_magic(pathname):
        if os.path.lexists(pathname):
            yield pathname
        return
    absolute = pathname.startswith('/')
    base = pathlib.Path('/' if absolute else root_dir or '.')
    for p in base.glob(pathname.lstrip('/')):
        s = str(p)
        yield s if absolute or not root_dir else os.path.relpath(s, root_dir)


def glob(pathname, **kw): return list(iglob(pathname, **kw))
def escape(s): return re.sub('([*?[])', r'[\1]', s)
