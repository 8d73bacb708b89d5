"""Printing of tracebacks."""
import sys
import _whittle


class FrameSummary:
    def __init__(self, filename, lineno, name, *, lookup_line=True, locals=None, line=None, end_lineno=None, colno=None, end_colno=None, **kw):
        self.filename, self.lineno, self.name, self._line, self.locals = filename, lineno, name, line, locals
        self.end_lineno, self.colno, self.end_colno = end_lineno, colno, end_colno

    @property
    def line(self):
        if self._line is None:
            self._line = _line(self.filename, self.lineno)
        return self._line.strip()

    def __iter__(self): return iter([self.filename, self.lineno, self.name, self.line])
    def __getitem__(self, i): return (self.filename, self.lineno, self.name, self.line)[i]
    def __len__(self): return 4
    def __repr__(self): return "<FrameSummary file {0.filename}, line {0.lineno} in {0.name}>".format(self)
    def __eq__(self, o): return isinstance(o, FrameSummary) and tuple(self) == tuple(o)


def _line(filename, lineno):
    t = _whittle.source_text(filename)
    if t is None or lineno is None:
        return ''
    lines = t.split('\n')
    return lines[lineno - 1] if 0 < lineno <= len(lines) else ''


class StackSummary(list):
    @classmethod
    def extract(cls, gen, *, limit=None, lookup_lines=True, capture_locals=False):
        return cls(FrameSummary(f.f_code.co_filename, n, f.f_code.co_name) for f, n in gen)

    @classmethod
    def from_list(cls, l): return cls(f if isinstance(f, FrameSummary) else FrameSummary(*f[:3], line=f[3]) for f in l)

    def format(self):
        out = []
        for f in self:
            s = '  File "{}", line {}, in {}\n'.format(f.filename, f.lineno, f.name)
            if f.line:
                s += '    {}\n'.format(f.line)
            out.append(s)
        return out


def walk_tb(tb):
    while tb is not None:
        yield tb.tb_frame, tb.tb_lineno
        tb = tb.tb_next


def walk_stack(f):
    if f is None:
        f = sys._getframe(1).f_back
    while f is not None:
        yield f, f.f_lineno
        f = f.f_back


def extract_tb(tb, limit=None):
    s = StackSummary()
    while tb is not None:
        code = tb.tb_frame.f_code
        positions = list(code.co_positions())
        _, end_lineno, colno, end_colno = positions[tb.tb_lasti // 2] if 0 <= tb.tb_lasti // 2 < len(positions) else (None,) * 4
        s.append(FrameSummary(code.co_filename, tb.tb_lineno, code.co_name, end_lineno=end_lineno, colno=colno, end_colno=end_colno))
        tb = tb.tb_next
    return s if limit is None else StackSummary(s[:limit] if limit >= 0 else s[limit:])


def extract_stack(f=None, limit=None):
    if f is None:
        f = sys._getframe(1)
    s = StackSummary.extract(walk_stack(f))
    s.reverse()
    return s if limit is None else StackSummary(s[-limit:] if limit >= 0 else s[:-limit])


def format_list(l): return StackSummary.from_list(l).format()
def format_tb(tb, limit=None): return [x for x in _split(_whittle.format_tb(tb))] if tb is not None else []


def _split(text):
    out = []
    for line in text.splitlines(True):
        if line.startswith('  File ') or line.startswith('  [') or not out:
            out.append(line)
        else:
            out[-1] += line
    return out


def format_stack(f=None, limit=None): return extract_stack(f if f is not None else sys._getframe(1), limit).format()


def _exc(exc, value, tb):
    if value is None and isinstance(exc, BaseException):
        return exc
    return value


_sentinel = object()


def format_exception(exc, /, value=_sentinel, tb=_sentinel, limit=None, chain=True):
    e = exc if value is _sentinel else value
    if e is None:
        return ["NoneType: None\n"]
    text = _whittle.format_exception(e, chain)
    out = []
    for line in text.splitlines(True):
        if not out or not line.startswith('    '):
            out.append(line)
        else:
            out[-1] += line
    return out


def format_exception_only(exc, /, value=_sentinel):
    e = exc if value is _sentinel else value
    return _whittle.format_exception_only(e).splitlines(True) if e is not None else ["NoneType: None\n"]


def print_exception(exc, /, value=_sentinel, tb=_sentinel, limit=None, file=None, chain=True):
    (file or sys.stderr).write(''.join(format_exception(exc, value, tb, limit, chain)))


def print_exc(limit=None, file=None, chain=True): print_exception(sys.exc_info()[1], file=file, chain=chain)
def format_exc(limit=None, chain=True): return ''.join(format_exception(sys.exc_info()[1], chain=chain))


def print_tb(tb, limit=None, file=None): (file or sys.stderr).write(''.join(format_tb(tb, limit)))
def print_stack(f=None, limit=None, file=None): (file or sys.stderr).write(''.join(format_stack(f if f is not None else sys._getframe(1), limit)))
def print_last(*a): pass
def clear_frames(tb): pass


class TracebackException:
    def __init__(self, exc_type, exc_value, exc_traceback, **kw):
        self.exc_type, self._value, self.stack = exc_type, exc_value, extract_tb(exc_traceback)
        self.__cause__, self.__context__ = exc_value.__cause__, exc_value.__context__
        self._str = str(exc_value)

    @classmethod
    def from_exception(cls, exc, **kw): return cls(type(exc), exc, exc.__traceback__)

    def format(self, *, chain=True): yield from format_exception(self._value, chain=chain)
    def format_exception_only(self): yield from format_exception_only(self._value)
    def __str__(self): return self._str
