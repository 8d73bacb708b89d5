"""Comma-separated values."""
from _whittle import native as _native
from io import StringIO

QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = range(4)
__version__ = '1.0'


class Error(Exception):
    __module__ = '_csv'


_limit = 131072


@_native
def field_size_limit(new=None):
    global _limit
    old = _limit
    if new is not None:
        if not isinstance(new, int):
            raise TypeError("limit must be an integer")
        _limit = new
    return old


_NAMES = ('delimiter', 'doublequote', 'escapechar', 'lineterminator', 'quotechar', 'quoting', 'skipinitialspace', 'strict')
_DEFAULT = dict(delimiter=',', doublequote=True, escapechar=None, lineterminator='\r\n', quotechar='"', quoting=QUOTE_MINIMAL, skipinitialspace=False, strict=False)


class Dialect:
    delimiter = quotechar = escapechar = doublequote = skipinitialspace = lineterminator = quoting = None

    def __init__(self):
        try:
            _Dialect(self, {})
        except TypeError as e:
            raise Error(str(e)) from None


@_native
class _Dialect:
    """A dialect whose parts have been checked."""
    def __init__(self, base, over):
        if isinstance(base, str):
            base = get_dialect(base)
        v = dict(_DEFAULT)
        for n in _NAMES:
            got = getattr(base, n, None) if base is not None else None
            if got is not None or n == 'quotechar' and base is not None and hasattr(base, n):
                v[n] = got
        for n, x in over.items():
            if n not in _NAMES:
                raise TypeError(f"'{n}' is an invalid keyword argument for this function")
            v[n] = x
        for n in ('delimiter', 'quotechar', 'escapechar'):
            x = v[n]
            if x is None and n != 'delimiter':
                continue
            if not isinstance(x, str):
                raise TypeError(f'"{n}" must be string, not {type(x).__name__}' if n == 'delimiter' else f'"{n}" must be string or None, not {type(x).__name__}')
            if len(x) != 1:
                raise TypeError(f'"{n}" must be a 1-character string')
        if not isinstance(v['quoting'], int):
            raise TypeError('"quoting" must be an integer')
        if not 0 <= v['quoting'] <= 3:
            raise TypeError('bad "quoting" value')
        if 'quotechar' in over and over['quotechar'] is None and 'quoting' not in over:
            v['quoting'] = QUOTE_NONE
        if v['quoting'] != QUOTE_NONE and v['quotechar'] is None:
            raise TypeError('quotechar must be set if quoting enabled')
        if not isinstance(v['lineterminator'], str):
            raise TypeError('"lineterminator" must be a string')
        for n in ('doublequote', 'skipinitialspace', 'strict'):
            v[n] = bool(v[n])
        self.__dict__.update(v)


class excel(Dialect):
    delimiter, quotechar, doublequote, skipinitialspace, lineterminator, quoting = ',', '"', True, False, '\r\n', QUOTE_MINIMAL


class excel_tab(excel):
    delimiter = '\t'


class unix_dialect(Dialect):
    delimiter, quotechar, doublequote, skipinitialspace, lineterminator, quoting = ',', '"', True, False, '\n', QUOTE_ALL


_dialects = {}


@_native
def register_dialect(name, dialect=None, **fmtparams):
    if not isinstance(name, str):
        raise TypeError("dialect name must be a string")
    _dialects[name] = _Dialect(dialect, fmtparams)


@_native
def unregister_dialect(name):
    if _dialects.pop(name, None) is None:
        raise Error("unknown dialect")


@_native
def get_dialect(name):
    if name not in _dialects:
        raise Error("unknown dialect")
    return _dialects[name]


def list_dialects(): return list(_dialects)


register_dialect('excel', excel)
register_dialect('excel-tab', excel_tab)
register_dialect('unix', unix_dialect)


@_native
class _Reader:
    def __init__(self, lines, dialect, params):
        self._lines, self.dialect, self.line_num = iter(lines), _Dialect(dialect, params), 0

    def __iter__(self): return self

    def __next__(self):
        d = self.dialect
        row, field = [], []
        state, numeric = 'start', False

        def save():
            nonlocal numeric
            s = ''.join(field)
            field.clear()
            row.append(float(s) if numeric else s)
            numeric = False

        def add(c):
            if len(field) >= _limit:
                raise Error(f'field larger than field limit ({_limit})')
            field.append(c)

        while True:
            try:
                line = next(self._lines)
            except StopIteration:
                if field or state == 'quoted':
                    if d.strict:
                        raise Error('unexpected end of data') from None
                    save()
                    return row
                raise
            if not isinstance(line, str):
                raise Error(f'iterator should return strings, not {type(line).__name__} (the file should be opened in text mode)')
            self.line_num += 1
            for c in line + '\0':
                end = c == '\0'
                nl = c in '\n\r'
                if state == 'eol':
                    if not nl and not end:
                        raise Error("new-line character seen in unquoted field - do you need to open the file in universal-newline mode?")
                    continue
                if state == 'escape':
                    if end:
                        c = '\n'
                    add(c)
                    state = 'field'
                    continue
                if state == 'quoted-escape':
                    add('\n' if end else c)
                    state = 'quoted'
                    continue
                if state == 'quoted':
                    if end:
                        pass
                    elif c == d.escapechar:
                        state = 'quoted-escape'
                    elif c == d.quotechar and d.quoting != QUOTE_NONE:
                        state = 'quote' if d.doublequote else 'field'
                    else:
                        add(c)
                    continue
                if state == 'quote':
                    if d.quoting != QUOTE_NONE and c == d.quotechar:
                        add(c)
                        state = 'quoted'
                        continue
                    if c == d.delimiter:
                        save()
                        state = 'next'
                    elif nl or end:
                        save()
                        state = 'eol' if nl else 'start'
                    elif not d.strict:
                        add(c)
                        state = 'field'
                    else:
                        raise Error(f"'{d.delimiter}' expected after '{d.quotechar}'")
                    continue
                if state in ('start', 'next'):
                    if state == 'start' and (end or nl):
                        if nl:
                            state = 'eol'
                        continue
                    if nl or end:
                        save()
                        state = 'eol' if nl else 'start'
                    elif c == d.quotechar and d.quoting != QUOTE_NONE:
                        state = 'quoted'
                    elif c == d.escapechar:
                        state = 'escape'
                    elif c == ' ' and d.skipinitialspace:
                        state = 'next'
                    elif c == d.delimiter:
                        save()
                        state = 'next'
                    else:
                        numeric = d.quoting == QUOTE_NONNUMERIC
                        add(c)
                        state = 'field'
                    continue
                if nl or end: # in a field
                    save()
                    state = 'eol' if nl else 'start'
                elif c == d.escapechar:
                    state = 'escape'
                elif c == d.delimiter:
                    save()
                    state = 'next'
                else:
                    add(c)
            if state in ('start', 'eol'):
                return row


@_native
class _Writer:
    def __init__(self, f, dialect, params):
        if not callable(getattr(f, 'write', None)):
            raise TypeError('argument 1 must have a "write" method')
        self._write, self.dialect = f.write, _Dialect(dialect, params)

    def _field(self, v, alone):
        d = self.dialect
        number = isinstance(v, (int, float))
        s = '' if v is None else v if isinstance(v, str) else repr(v) if isinstance(v, float) else str(v)
        quote = d.quoting == QUOTE_ALL or d.quoting == QUOTE_NONNUMERIC and not number
        out = []
        for c in s:
            if c in (d.delimiter, d.escapechar, d.quotechar) or c in '\n\r' or c in d.lineterminator:
                escape = d.quoting == QUOTE_NONE
                if not escape:
                    if c == d.quotechar:
                        if d.doublequote:
                            out.append(c)
                        else:
                            escape = True
                    elif c == d.escapechar:
                        escape = True
                    if not escape:
                        quote = True
                if escape:
                    if not d.escapechar:
                        raise Error('need to escape, but no escapechar set')
                    out.append(d.escapechar)
            out.append(c)
        if not s and alone:
            if d.quoting == QUOTE_NONE:
                raise Error('single empty field record must be quoted')
            quote = True
        s = ''.join(out)
        return d.quotechar + s + d.quotechar if quote else s

    def writerow(self, row):
        try:
            row = list(row)
        except TypeError:
            raise Error(f'iterable expected, not {type(row).__name__}') from None
        return self._write(self.dialect.delimiter.join(self._field(v, len(row) == 1) for v in row) + self.dialect.lineterminator)

    def writerows(self, rows):
        for r in rows:
            self.writerow(r)


@_native
def reader(csvfile, dialect='excel', **fmtparams): return _Reader(csvfile, dialect, fmtparams)
@_native
def writer(csvfile, dialect='excel', **fmtparams): return _Writer(csvfile, dialect, fmtparams)


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None, dialect='excel', *args, **kwds):
        if fieldnames is not None and iter(fieldnames) is fieldnames:
            fieldnames = list(fieldnames)
        self._fieldnames, self.restkey, self.restval, self.dialect = fieldnames, restkey, restval, dialect
        self.reader, self.line_num = reader(f, dialect, *args, **kwds), 0

    def __iter__(self): return self

    @property
    def fieldnames(self):
        if self._fieldnames is None:
            try:
                self._fieldnames = next(self.reader)
            except StopIteration:
                pass
        self.line_num = self.reader.line_num
        return self._fieldnames

    @fieldnames.setter
    def fieldnames(self, value): self._fieldnames = value

    def __next__(self):
        if self.line_num == 0:
            self.fieldnames
        row = next(self.reader)
        self.line_num = self.reader.line_num
        while row == []:
            row = next(self.reader)
        names = self.fieldnames
        d = dict(zip(names, row))
        if len(row) > len(names):
            d[self.restkey] = row[len(names):]
        for n in names[len(row):]:
            d[n] = self.restval
        return d


class DictWriter:
    def __init__(self, f, fieldnames, restval='', extrasaction='raise', dialect='excel', *args, **kwds):
        self.fieldnames, self.restval = fieldnames, restval
        if extrasaction.lower() not in ('raise', 'ignore'):
            raise ValueError(f"extrasaction ({extrasaction}) must be 'raise' or 'ignore'")
        self.extrasaction = extrasaction
        self.writer = writer(f, dialect, *args, **kwds)

    def writeheader(self): return self.writerow(dict(zip(self.fieldnames, self.fieldnames)))

    def _row(self, d):
        if self.extrasaction == 'raise':
            wrong = d.keys() - self.fieldnames
            if wrong:
                raise ValueError('dict contains fields not in fieldnames: ' + ', '.join(repr(x) for x in wrong))
        return (d.get(k, self.restval) for k in self.fieldnames)

    def writerow(self, rowdict): return self.writer.writerow(self._row(rowdict))
    def writerows(self, rowdicts): return self.writer.writerows(map(self._row, rowdicts))
