"""Constants, templates and formatting."""
import re as _re
import _string
whitespace = ' \t\n\r\v\f'
ascii_lowercase = 'abcdefghijklmnopqrstuvwxyz'
ascii_uppercase = ascii_lowercase.upper()
ascii_letters = ascii_lowercase + ascii_uppercase
digits = '0123456789'
hexdigits = digits + 'abcdef' + 'ABCDEF'
octdigits = '01234567'
punctuation = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None): return (sep or ' ').join(w.capitalize() for w in s.split(sep))


class Template:
    delimiter = '$'
    idpattern = r'(?a:[_a-z][_a-z0-9]*)'
    braceidpattern = None
    flags = _re.IGNORECASE

    def __init_subclass__(cls):
        super().__init_subclass__()
        if 'pattern' in cls.__dict__:
            pattern = cls.pattern
        else:
            d, i = _re.escape(cls.delimiter), cls.idpattern
            b = cls.braceidpattern or i
            pattern = fr'{d}(?:(?P<escaped>{d})|(?P<named>{i})|{{(?P<braced>{b})}}|(?P<invalid>))'
        cls.pattern = _re.compile(pattern, cls.flags | _re.VERBOSE)

    def __init__(self, template): self.template = template

    def _invalid(self, m):
        i = m.start('invalid')
        lines = self.template[:i].splitlines(keepends=True)
        if not lines:
            col, line = 1, 1
        else:
            col, line = i - len(''.join(lines[:-1])), len(lines)
        raise ValueError('Invalid placeholder in string: line %d, col %d' % (line, col))

    def _fill(self, mapping, safe):
        def one(m):
            name = m['named'] or m['braced']
            if name is not None:
                if safe and name not in mapping:
                    return m.group()
                return str(mapping[name])
            if m['escaped'] is not None:
                return self.delimiter
            if safe:
                return m.group()
            self._invalid(m)
        return self.pattern.sub(one, self.template)

    def substitute(self, mapping={}, /, **kw): return self._fill({**mapping, **kw} if kw else mapping, False)
    def safe_substitute(self, mapping={}, /, **kw): return self._fill({**mapping, **kw} if kw else mapping, True)

    def is_valid(self):
        return not any(m['invalid'] is not None and m['named'] is None and m['braced'] is None and m['escaped'] is None for m in self.pattern.finditer(self.template))

    def get_identifiers(self):
        ids = []
        for m in self.pattern.finditer(self.template):
            name = m['named'] or m['braced']
            if name is not None and name not in ids:
                ids.append(name)
        return ids


Template.__init_subclass__.__func__(Template)


class Formatter:
    def format(self, format_string, /, *args, **kwargs): return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string, args, kwargs):
        used = set()
        text, _ = self._vformat(format_string, args, kwargs, used, 2)
        self.check_unused_args(used, args, kwargs)
        return text

    def _vformat(self, s, args, kwargs, used, depth, auto=0):
        if depth < 0:
            raise ValueError('Max string recursion exceeded')
        out = []
        for text, field, spec, conv in self.parse(s):
            out.append(text)
            if field is None:
                continue
            if field == '' or field[0] in '.[':
                if auto is False:
                    raise ValueError('cannot switch from manual field specification to automatic field numbering')
                field = str(auto) + field
                auto += 1
            elif field.isdigit():
                if auto:
                    raise ValueError('cannot switch from manual field specification to automatic field numbering')
                auto = False
            v, key = self.get_field(field, args, kwargs)
            used.add(key)
            v = self.convert_field(v, conv)
            spec, auto = self._vformat(spec, args, kwargs, used, depth - 1, auto)
            out.append(self.format_field(v, spec))
        return ''.join(out), auto

    def get_value(self, key, args, kwargs): return args[key] if isinstance(key, int) else kwargs[key]
    def check_unused_args(self, used_args, args, kwargs): pass
    def format_field(self, value, format_spec): return format(value, format_spec)

    def convert_field(self, value, conversion):
        if conversion is None:
            return value
        if conversion in ('s', 'r', 'a'):
            return {'s': str, 'r': repr, 'a': ascii}[conversion](value)
        raise ValueError(f"Unknown conversion specifier {conversion!s}")

    def parse(self, format_string): return _string.formatter_parser(format_string)

    def get_field(self, field_name, args, kwargs):
        first, rest = _string.formatter_field_name_split(field_name)
        v = self.get_value(first, args, kwargs)
        for is_attr, k in rest:
            v = getattr(v, k) if is_attr else v[k]
        return v, first
