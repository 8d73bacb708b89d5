import _whittle
cache = {}


def getlines(filename, module_globals=None):
    if filename in cache and isinstance(cache[filename], tuple) and len(cache[filename]) > 2:
        return cache[filename][2]
    t = _whittle.source_text(filename)
    if t is None and module_globals:
        t = _of_loader(module_globals)
    return t.splitlines(True) if t else []


def _of_loader(module_globals):
    """The source that a module's loader gives."""
    spec = module_globals.get('__spec__')
    name = getattr(spec, 'name', None) or module_globals.get('__name__')
    loader = getattr(spec, 'loader', None) or module_globals.get('__loader__')
    get = getattr(loader, 'get_source', None)
    if not name or not get:
        return None
    try:
        return get(name)
    except (ImportError, OSError):
        return None


def getline(filename, lineno, module_globals=None):
    l = getlines(filename, module_globals)
    return l[lineno - 1] if 1 <= lineno <= len(l) else ''


def checkcache(filename=None): pass
def clearcache(): cache.clear()
def lazycache(filename, module_globals): return False
