import re as _re
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
    idpattern = r'[_a-zA-Z][_a-zA-Z0-9]*'

    def __init__(self, template): self.template = template

    def _sub(self, m, safe):
        def f(k):
            if k.group(1) is not None:
                return self.delimiter
            name = k.group(2) or k.group(3)
            if name is not None:
                if safe and name not in m:
                    return k.group()
                return str(m[name])
            if safe:
                return k.group()
            i = k.start()
            line = self.template[:i].count('\n') + 1
            raise ValueError('Invalid placeholder in string: line %d, col %d' % (line, i - self.template.rfind('\n', 0, i)))
        d = _re.escape(self.delimiter)
        return _re.sub(d + r'(?:(' + d + ')|(' + self.idpattern + r')|\{(' + self.idpattern + r')\}|)', f, self.template)

    def substitute(self, mapping={}, /, **kw): return self._sub({**mapping, **kw}, False)
    def safe_substitute(self, mapping={}, /, **kw): return self._sub({**mapping, **kw}, True)


class Formatter:
    def format(self, s, /, *args, **kw): return self.vformat(s, args, kw)
    def vformat(self, s, args, kw): return s.format(*args, **kw)
