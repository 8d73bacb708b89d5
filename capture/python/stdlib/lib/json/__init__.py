"""JSON."""
import _json


class JSONDecodeError(ValueError):
    __module__ = 'json.decoder'

    def __init__(self, msg, doc, pos):
        lineno = doc.count('\n', 0, pos) + 1
        colno = pos - doc.rfind('\n', 0, pos)
        ValueError.__init__(self, '%s: line %d column %d (char %d)' % (msg, lineno, colno, pos))
        self.msg, self.doc, self.pos, self.lineno, self.colno = msg, doc, pos, lineno, colno

    def __reduce__(self): return self.__class__, (self.msg, self.doc, self.pos)


class JSONEncoder:
    item_separator = ', '
    key_separator = ': '

    def __init__(self, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, sort_keys=False, indent=None, separators=None, default=None):
        self.skipkeys, self.ensure_ascii, self.check_circular, self.allow_nan = skipkeys, ensure_ascii, check_circular, allow_nan
        self.sort_keys, self.indent = sort_keys, indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ','
        if default is not None:
            self.default = default

    def default(self, o):
        raise TypeError(f'Object of type {o.__class__.__name__} is not JSON serializable')

    def encode(self, o): return ''.join(self.iterencode(o))

    def iterencode(self, o, _one_shot=False):
        out = []
        self._write(o, out, 0, {})
        return out

    def _float(self, f):
        if f != f:
            t = 'NaN'
        elif f == float('inf'):
            t = 'Infinity'
        elif f == float('-inf'):
            t = '-Infinity'
        else:
            return float.__repr__(f)
        if not self.allow_nan:
            raise ValueError("Out of range float values are not JSON compliant: " + repr(f))
        return t

    def _write(self, o, out, level, seen):
        if isinstance(o, str):
            out.append(_json.encode_string(str(o) if type(o) is str else str.__str__(o), self.ensure_ascii))
        elif o is None:
            out.append('null')
        elif o is True:
            out.append('true')
        elif o is False:
            out.append('false')
        elif isinstance(o, int):
            out.append(int.__repr__(o))
        elif isinstance(o, float):
            out.append(self._float(o))
        elif isinstance(o, (list, tuple, dict)):
            if self.check_circular:
                if id(o) in seen:
                    raise ValueError("Circular reference detected")
                seen[id(o)] = o
            isdict = isinstance(o, dict)
            op, cl = ('{', '}') if isdict else ('[', ']')
            if not o:
                out.append(op + cl)
            else:
                out.append(op)
                nl = ''
                sep = self.item_separator
                if self.indent is not None:
                    ind = ' ' * self.indent if isinstance(self.indent, int) else self.indent
                    nl = '\n' + ind * (level + 1)
                    sep += nl
                    out.append(nl)
                first = True
                if isdict:
                    for k, v in (sorted(o.items()) if self.sort_keys else o.items()):
                        if isinstance(k, str):
                            pass
                        elif k is None or k is True or k is False:
                            k = {None: 'null', True: 'true', False: 'false'}[k]
                        elif isinstance(k, int):
                            k = int.__repr__(k)
                        elif isinstance(k, float):
                            k = self._float(k)
                        elif self.skipkeys:
                            continue
                        else:
                            raise TypeError(f'keys must be str, int, float, bool or None, not {k.__class__.__name__}')
                        if not first:
                            out.append(sep)
                        first = False
                        out.append(_json.encode_string(k, self.ensure_ascii))
                        out.append(self.key_separator)
                        self._write(v, out, level + 1, seen)
                else:
                    for v in o:
                        if not first:
                            out.append(sep)
                        first = False
                        self._write(v, out, level + 1, seen)
                if self.indent is not None:
                    out.append('\n' + ind * level)
                out.append(cl)
            if self.check_circular:
                del seen[id(o)]
        else:
            if self.check_circular:
                if id(o) in seen:
                    raise ValueError("Circular reference detected")
                seen[id(o)] = o
            self._write(self.default(o), out, level, seen)
            seen.pop(id(o), None)


class JSONDecoder:
    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, strict=True, object_pairs_hook=None):
        self._args = (object_hook, object_pairs_hook, parse_float, parse_int, parse_constant, JSONDecodeError)

    def decode(self, s):
        v, end = _json.decode(s, *self._args, 0)
        rest = s.encode()[end:].decode()
        if rest.strip(' \t\n\r'):
            raise JSONDecodeError("Extra data", s, len(s) - len(rest.lstrip(' \t\n\r')))
        return v

    def raw_decode(self, s, idx=0):
        v, end = _json.decode(s, *self._args, len(s[:idx].encode()))
        return v, len(s.encode()[:end].decode())


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None, default=None,
          sort_keys=False, **kw):
    return (cls or JSONEncoder)(skipkeys=skipkeys, ensure_ascii=ensure_ascii, check_circular=check_circular, allow_nan=allow_nan, indent=indent,
                                separators=separators, default=default, sort_keys=sort_keys, **kw).encode(obj)


def dump(obj, fp, **kw): fp.write(dumps(obj, **kw))


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, object_pairs_hook=None, **kw):
    if isinstance(s, (bytes, bytearray)):
        s = s.decode()
    elif not isinstance(s, str):
        raise TypeError(f'the JSON object must be str, bytes or bytearray, not {s.__class__.__name__}')
    return (cls or JSONDecoder)(object_hook=object_hook, parse_float=parse_float, parse_int=parse_int, parse_constant=parse_constant,
                                object_pairs_hook=object_pairs_hook, **kw).decode(s)


def load(fp, **kw): return loads(fp.read(), **kw)
