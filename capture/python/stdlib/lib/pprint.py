"""Values printed over several lines."""
import collections as _collections
import dataclasses as _dataclasses
import re as _re
import types as _types


class _Key:
    """Orders what has no order: by type, then by address."""
    def __init__(self, o): self.o = o

    def __lt__(self, other):
        try:
            return self.o < other.o
        except TypeError:
            return (str(type(self.o)), id(self.o)) < (str(type(other.o)), id(other.o))


def _pair(t): return _Key(t[0]), _Key(t[1])


def _recursion(o): return f'<Recursion on {type(o).__name__} with id={id(o)}>'


class PrettyPrinter:
    def __init__(self, indent=1, width=80, depth=None, stream=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
        indent, width = int(indent), int(width)
        if indent < 0:
            raise ValueError('indent must be >= 0')
        if depth is not None and depth <= 0:
            raise ValueError('depth must be > 0')
        if not width:
            raise ValueError('width must be != 0')
        self._indent, self._width, self._depth, self._stream = indent, width, depth, stream
        self._compact, self._sort, self._underscores = bool(compact), sort_dicts, underscore_numbers

    def pprint(self, object): print(self.pformat(object), file=self._stream)

    def pformat(self, object):
        out = []
        self._readable = True
        self._write(object, out.append, 0, 0, {}, 0)
        return ''.join(out)

    def isreadable(self, object):
        _, readable, recursive = self.format(object, {}, 0, 0)
        return readable and not recursive

    def isrecursive(self, object): return self.format(object, {}, 0, 0)[2]
    def format(self, object, context, maxlevels, level): return self._plain(object, context, maxlevels or None, level)

    def _items(self, d): return sorted(d.items(), key=_pair) if self._sort else list(d.items())

    def _plain(self, o, context, depth, level):
        """(one line, readable, recursive)"""
        t = type(o)
        r = t.__repr__
        if t is int and self._underscores:
            return f'{o:_d}', True, False
        if isinstance(o, (dict, list, tuple)) and r in (dict.__repr__, list.__repr__, tuple.__repr__):
            mapping = r is dict.__repr__
            left, right = '{}' if mapping else '[]' if r is list.__repr__ else '()'
            if not o:
                return left + right, True, False
            if depth and level >= depth:
                return (left + '...' + right if r is not tuple.__repr__ or len(o) != 1 else '(...,)'), False, id(o) in context
            if id(o) in context:
                return _recursion(o), False, True
            context[id(o)] = 1
            readable, recursive, parts = True, False, []

            def one(v):
                nonlocal readable, recursive
                s, a, b = self.format(v, context, depth or 0, level + 1)
                readable, recursive = readable and a, recursive or b
                return s
            for v in self._items(o) if mapping else o:
                parts.append(f'{one(v[0])}: {one(v[1])}' if mapping else one(v))
            del context[id(o)]
            text = ', '.join(parts)
            if r is tuple.__repr__ and len(o) == 1:
                text += ','
            return left + text + right, readable, recursive
        s = repr(o)
        return s, bool(s) and not s.startswith('<'), False

    def _repr(self, o, context, level):
        s, readable, recursive = self.format(o, dict(context), self._depth or 0, level)
        self._readable = self._readable and readable and not recursive
        return s

    def _write(self, o, w, indent, allowance, context, level):
        if id(o) in context:
            w(_recursion(o))
            return
        s = self._repr(o, context, level)
        if len(s) > self._width - indent - allowance:
            f = self._writer(o)
            if f is not None:
                context[id(o)] = 1
                f(o, w, indent, allowance, context, level + 1)
                del context[id(o)]
                return
        w(s)

    def _writer(self, o):
        t = type(o)
        r = t.__repr__
        for kind, f in ((dict, self._dict), (_collections.OrderedDict, self._ordered), (list, self._list), (tuple, self._tuple), (set, self._set),
                        (frozenset, self._set), (str, self._str), (bytes, self._bytes), (bytearray, self._bytearray), (_types.MappingProxyType, self._proxy),
                        (_types.SimpleNamespace, self._namespace), (_collections.defaultdict, self._default), (_collections.Counter, self._counter),
                        (_collections.ChainMap, self._chain), (_collections.deque, self._deque), (_collections.UserDict, self._user), (_collections.UserList, self._user)):
            if r is kind.__repr__ and isinstance(o, kind):
                return f
        if _dataclasses.is_dataclass(o) and not isinstance(o, type) and o.__dataclass_params__.repr and getattr(r, '__globals__', {}).get('__name__') == 'dataclasses':
            return self._dataclass
        return None

    def _dict(self, o, w, indent, allowance, context, level):
        w('{')
        if self._indent > 1:
            w(' ' * (self._indent - 1))
        if o:
            self._pairs(self._items(o), w, indent, allowance + 1, context, level)
        w('}')

    def _pairs(self, items, w, indent, allowance, context, level):
        indent += self._indent
        for i, (k, v) in enumerate(items):
            last = i == len(items) - 1
            s = self._repr(k, context, level)
            w(s + ': ')
            self._write(v, w, indent + len(s) + 2, allowance if last else 1, context, level)
            if not last:
                w(',\n' + ' ' * indent)

    def _ordered(self, o, w, indent, allowance, context, level):
        name = type(o).__name__
        if not o:
            w(repr(o))
            return
        w(name + '(')
        self._list(list(o.items()), w, indent + len(name) + 1, allowance + 1, context, level)
        w(')')

    def _list(self, o, w, indent, allowance, context, level):
        w('[')
        self._elements(o, w, indent, allowance + 1, context, level)
        w(']')

    def _tuple(self, o, w, indent, allowance, context, level):
        w('(')
        end = ',)' if len(o) == 1 else ')'
        self._elements(o, w, indent, allowance + len(end), context, level)
        w(end)

    def _set(self, o, w, indent, allowance, context, level):
        if not o:
            w(repr(o))
            return
        if type(o) is set:
            w('{')
            end = '}'
        else:
            name = type(o).__name__
            w(name + '({')
            end = '})'
            indent += len(name) + 1
        self._elements(sorted(o, key=_Key), w, indent, allowance + len(end), context, level)
        w(end)

    def _elements(self, items, w, indent, allowance, context, level):
        indent += self._indent
        if self._indent > 1:
            w(' ' * (self._indent - 1))
        glue = ''
        between = ',\n' + ' ' * indent
        room = width = self._width - indent + 1
        items = list(items)
        for i, v in enumerate(items):
            last = i == len(items) - 1
            if last:
                width -= allowance
                room -= allowance
            if self._compact:
                s = self._repr(v, context, level)
                n = len(s) + 2
                if room < n:
                    room = width
                    if glue:
                        glue = between
                if room >= n:
                    room -= n
                    w(glue + s)
                    glue = ', '
                    continue
            w(glue)
            glue = between
            self._write(v, w, indent, allowance if last else 1, context, level)

    def _str(self, o, w, indent, allowance, context, level):
        if not o:
            w(repr(o))
            return
        chunks = []
        lines = o.splitlines(True)
        if level == 1:
            indent += 1
            allowance += 1
        room = most = self._width - indent
        s = ''
        for i, line in enumerate(lines):
            s = repr(line)
            if i == len(lines) - 1:
                most -= allowance
            if len(s) <= most:
                chunks.append(s)
                continue
            parts = _re.findall(r'\S*\s*', line)
            parts.pop()
            width, cur = room, ''
            for j, part in enumerate(parts):
                if j == len(parts) - 1 and i == len(lines) - 1:
                    width -= allowance
                if len(repr(cur + part)) > width:
                    if cur:
                        chunks.append(repr(cur))
                    cur = part
                else:
                    cur += part
            if cur:
                chunks.append(repr(cur))
        if len(chunks) == 1:
            w(s)
            return
        w(('(' if level == 1 else '') + ('\n' + ' ' * indent).join(chunks) + (')' if level == 1 else ''))

    def _bytes(self, o, w, indent, allowance, context, level):
        if len(o) <= 4:
            w(repr(o))
            return
        brackets = level == 1
        if brackets:
            indent += 1
            allowance += 1
            w('(')
        glue = ''
        for s in _bytes_lines(o, self._width - indent, allowance):
            w(glue + s)
            glue = '\n' + ' ' * indent
        if brackets:
            w(')')

    def _bytearray(self, o, w, indent, allowance, context, level):
        w('bytearray(')
        self._bytes(bytes(o), w, indent + 10, allowance + 1, context, level + 1)
        w(')')

    def _proxy(self, o, w, indent, allowance, context, level):
        w('mappingproxy(')
        self._write(o.copy(), w, indent + 13, allowance + 1, context, level)
        w(')')

    def _fields(self, name, items, w, indent, allowance, context, level):
        w(name + '(')
        for i, (k, v) in enumerate(items):
            last = i == len(items) - 1
            w(k + '=')
            if id(v) in context:
                w('...')
            else:
                self._write(v, w, indent + len(name) + 1 + len(k) + 1, allowance if last else 1, context, level)
            if not last:
                w(',\n' + ' ' * (indent + len(name) + 1))
        w(')')

    def _namespace(self, o, w, indent, allowance, context, level):
        name = 'namespace' if type(o) is _types.SimpleNamespace else type(o).__name__
        self._fields(name, list(o.__dict__.items()), w, indent, allowance, context, level)

    def _dataclass(self, o, w, indent, allowance, context, level):
        self._fields(type(o).__name__, [(f.name, getattr(o, f.name)) for f in _dataclasses.fields(o) if f.repr], w, indent, allowance, context, level)

    def _default(self, o, w, indent, allowance, context, level):
        if not o:
            w(repr(o))
            return
        factory = self._repr(o.default_factory, context, level)
        name = type(o).__name__
        indent += len(name) + 1
        w(f'{name}({factory},\n' + ' ' * indent)
        self._dict(o, w, indent, allowance + 1, context, level)
        w(')')

    def _counter(self, o, w, indent, allowance, context, level):
        if not o:
            w(repr(o))
            return
        name = type(o).__name__
        w(name + '({')
        if self._indent > 1:
            w(' ' * (self._indent - 1))
        self._pairs(o.most_common(), w, indent + len(name) + 1, allowance + 2, context, level)
        w('})')

    def _chain(self, o, w, indent, allowance, context, level):
        name = type(o).__name__
        w(name + '(')
        indent += len(name) + 1
        for i, m in enumerate(o.maps):
            last = i == len(o.maps) - 1
            self._write(m, w, indent, allowance + 1 if last else 1, context, level)
            w(')' if last else ',\n' + ' ' * indent)

    def _deque(self, o, w, indent, allowance, context, level):
        if not o:
            w(repr(o))
            return
        name = type(o).__name__
        w(name + '(')
        indent += len(name) + 1
        w('[')
        if o.maxlen is None:
            self._elements(o, w, indent, allowance + 2, context, level)
            w('])')
        else:
            self._elements(o, w, indent, 2, context, level)
            w('],\n' + ' ' * indent + f'maxlen={self._repr(o.maxlen, context, level)})')

    def _user(self, o, w, indent, allowance, context, level): self._write(o.data, w, indent, allowance, context, level - 1)


def _bytes_lines(o, width, allowance):
    cur = b''
    last = len(o) // 4 * 4
    for i in range(0, len(o), 4):
        part = o[i:i + 4]
        if i == last:
            width -= allowance
        if len(repr(cur + part)) > width:
            if cur:
                yield repr(cur)
            cur = part
        else:
            cur += part
    if cur:
        yield repr(cur)


def pprint(object, stream=None, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    PrettyPrinter(indent, width, depth, stream, compact=compact, sort_dicts=sort_dicts, underscore_numbers=underscore_numbers).pprint(object)


def pformat(object, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    return PrettyPrinter(indent, width, depth, compact=compact, sort_dicts=sort_dicts, underscore_numbers=underscore_numbers).pformat(object)


def pp(object, *args, sort_dicts=False, **kwargs): pprint(object, *args, sort_dicts=sort_dicts, **kwargs)
def saferepr(object): return PrettyPrinter()._plain(object, {}, None, 0)[0]
def isreadable(object): return PrettyPrinter().isreadable(object)
def isrecursive(object): return PrettyPrinter().isrecursive(object)
