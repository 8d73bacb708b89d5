import _whittle
cache = {}


def getlines(filename, module_globals=None):
    if filename in cache and isinstance(cache[filename], tuple) and len(cache[filename]) > 2:
        return cache[filename][2]
    t = _whittle.source_text(filename)
    return t.splitlines(True) if t else []


def getline(filename, lineno, module_globals=None):
    l = getlines(filename)
    return l[lineno - 1] if 1 <= lineno <= len(l) else ''


def checkcache(filename=None): pass
def clearcache(): cache.clear()
def lazycache(filename, module_globals): return False
