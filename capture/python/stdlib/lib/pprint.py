def pformat(o, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    return _fmt(o, 0, 0, width, sort_dicts, indent)


def _key(k): return (str(type(k)), k) if not isinstance(k, (int, float, str)) else ('', k) if isinstance(k, str) else (' ', k)


def _fmt(o, ind, extra, width, sort, indent):
    r = _repr(o, sort)
    if len(r) <= width - ind - extra:
        return r
    if type(o) is dict and o:
        items = list(o.items())
        if sort:
            try:
                items.sort()
            except TypeError:
                items.sort(key=lambda i: _key(i[0]))
        parts = []
        for i, (k, v) in enumerate(items):
            ks = _repr(k, sort)
            parts.append(ks + ': ' + _fmt(v, ind + indent + len(ks) + 2, extra + 1 if i == len(items) - 1 else 1, width, sort, indent))
        return '{' + ' ' * (indent - 1) + (',\n' + ' ' * (ind + indent)).join(parts) + '}'
    if type(o) in (list, tuple, set, frozenset) and o:
        op, cl = {list: '[]', tuple: '()', set: '{}'}.get(type(o), ('frozenset({', '})'))
        items = sorted(o, key=_key) if isinstance(o, (set, frozenset)) else list(o)
        if type(o) is tuple and len(o) == 1:
            cl = ',)'
        parts = [_fmt(v, ind + (len(op) - 1) + indent, extra + 1 if i == len(items) - 1 else 1, width, sort, indent) for i, v in enumerate(items)]
        return op + ' ' * (indent - 1) + (',\n' + ' ' * (ind + (len(op) - 1) + indent)).join(parts) + cl
    if type(o) is str and len(o) > 1:
        words = []
        cur = ''
        for w in _split(o):
            if cur and len(repr(cur + w)) > width - ind - extra - (2 if ind == 0 else 0):
                words.append(repr(cur))
                cur = w
            else:
                cur += w
        words.append(repr(cur))
        if len(words) == 1:
            return words[0]
        if ind == 0:
            return '(' + '\n '.join(words) + ')'
        return ('\n' + ' ' * ind).join(words)
    return r


def _split(s):
    import re
    return re.findall(r'\S*\s*', s)[:-1] or [s]


def _repr(o, sort):
    if type(o) is dict and o:
        items = list(o.items())
        if sort:
            try:
                items.sort()
            except TypeError:
                items.sort(key=lambda i: _key(i[0]))
        return '{' + ', '.join(_repr(k, sort) + ': ' + _repr(v, sort) for k, v in items) + '}'
    if type(o) is list:
        return '[' + ', '.join(_repr(v, sort) for v in o) + ']'
    if type(o) is tuple:
        return '(' + ', '.join(_repr(v, sort) for v in o) + (',)' if len(o) == 1 else ')')
    return repr(o)


def pprint(o, stream=None, indent=1, width=80, depth=None, **kw): print(pformat(o, indent, width, depth, **kw), file=stream)


def pp(o, *a, sort_dicts=False, **kw): pprint(o, *a, sort_dicts=sort_dicts, **kw)
def isreadable(o): return True
def isrecursive(o): return False
def saferepr(o): return _repr(o, True)


class PrettyPrinter:
    def __init__(self, indent=1, width=80, depth=None, stream=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
        self._a, self._s, self._sort = (indent, width, depth), stream, sort_dicts

    def pprint(self, o): pprint(o, self._s, *self._a, sort_dicts=self._sort)
    def pformat(self, o): return pformat(o, *self._a, sort_dicts=self._sort)
