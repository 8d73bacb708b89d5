"""Dates, times and what lies between them."""
__name__ = "datetime"  # of which these classes are a part
import time as _clock
from _whittle import native as _native

MINYEAR, MAXYEAR = 1, 9999
_DIM = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
_MONTHS = ['', 'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']
_DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
_SECOND, _DAY = 10**6, 86400 * 10**6


def _leap(y): return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
def _dim(y, m): return 29 if m == 2 and _leap(y) else _DIM[m]
def _before(y): y -= 1; return y * 365 + y // 4 - y // 100 + y // 400
def _ord(y, m, d): return _before(y) + sum(_dim(y, i) for i in range(1, m)) + d


def _from_ord(n):
    if not 1 <= n <= 3652059:
        raise OverflowError("date value out of range")
    y = max(1, n * 400 // 146097)
    while y < MAXYEAR and _before(y + 1) < n:
        y += 1
    while _before(y) >= n:
        y -= 1
    n -= _before(y)
    m = 1
    while n > _dim(y, m):
        n -= _dim(y, m)
        m += 1
    return y, m, n


def _int(v, what='an integer'):
    try:
        return v.__index__()
    except AttributeError:
        raise TypeError(f"'{type(v).__name__}' object cannot be interpreted as an integer") from None


def _check_date(y, m, d):
    y, m, d = _int(y), _int(m), _int(d)
    if not MINYEAR <= y <= MAXYEAR:
        raise ValueError(f'year {y} is out of range')
    if not 1 <= m <= 12:
        raise ValueError('month must be in 1..12')
    if not 1 <= d <= _dim(y, m):
        raise ValueError('day is out of range for month')
    return y, m, d


def _check_time(h, m, s, us, fold):
    h, m, s, us = _int(h), _int(m), _int(s), _int(us)
    for v, n, name in ((h, 24, 'hour'), (m, 60, 'minute'), (s, 60, 'second'), (us, 1000000, 'microsecond')):
        if not 0 <= v < n:
            raise ValueError(f'{name} must be in 0..{n - 1}')
    if fold not in (0, 1):
        raise ValueError('fold must be either 0 or 1')
    return h, m, s, us


def _half_even(n, d):
    q, r = divmod(n, d)
    return q + (2 * r > d or 2 * r == d and q % 2)


@_native
class timedelta:
    __slots__ = ('_us', '_hash')

    def __new__(cls, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        us = 0
        rest = 0.0
        for v, unit, name in ((days, _DAY, 'days'), (seconds, _SECOND, 'seconds'), (microseconds, 1, 'microseconds'), (milliseconds, 1000, 'milliseconds'),
                              (minutes, 60 * _SECOND, 'minutes'), (hours, 3600 * _SECOND, 'hours'), (weeks, 7 * _DAY, 'weeks')):
            if isinstance(v, int):
                us += v * unit
            elif isinstance(v, float):
                n, d = v.as_integer_ratio()
                q, r = divmod(n * unit, d)
                us += q
                rest += r / d
            else:
                raise TypeError(f"unsupported type for timedelta {name} component: {type(v).__name__}")
        if rest:
            whole = round(rest)
            if abs(rest - int(rest)) == 0.5:
                whole = int(rest) + (us + int(rest)) % 2
            us += whole
        return cls._of(us)

    @classmethod
    def _of(cls, us):
        days = us // _DAY
        if not -999999999 <= days <= 999999999:
            if abs(days) > 2**31:
                raise OverflowError("Python int too large to convert to C int")
            raise OverflowError(f"days={days}; must have magnitude <= 999999999")
        self = object.__new__(cls)
        self._us = us
        return self

    days = property(lambda s: s._us // _DAY)
    seconds = property(lambda s: s._us // _SECOND % 86400)
    microseconds = property(lambda s: s._us % _SECOND)
    def total_seconds(self): return self._us / 10**6
    def __add__(self, o): return timedelta._of(self._us + o._us) if isinstance(o, timedelta) else NotImplemented
    __radd__ = __add__
    def __sub__(self, o): return timedelta._of(self._us - o._us) if isinstance(o, timedelta) else NotImplemented
    def __rsub__(self, o): return timedelta._of(o._us - self._us) if isinstance(o, timedelta) else NotImplemented
    def __neg__(self): return timedelta._of(-self._us)
    def __pos__(self): return self
    def __abs__(self): return timedelta._of(abs(self._us))

    def __mul__(self, o):
        if isinstance(o, int):
            return timedelta._of(self._us * o)
        if isinstance(o, float):
            n, d = o.as_integer_ratio()
            return timedelta._of(_half_even(self._us * n, d))
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, o):
        if isinstance(o, timedelta):
            return self._us / o._us
        if isinstance(o, int):
            if o < 0:
                return timedelta._of(_half_even(-self._us, -o))
            return timedelta._of(_half_even(self._us, o))
        if isinstance(o, float):
            n, d = o.as_integer_ratio()
            if n < 0:
                n, d = -n, -d
            return timedelta._of(_half_even(self._us * d, n))
        return NotImplemented

    def __floordiv__(self, o):
        if isinstance(o, timedelta):
            return self._us // o._us
        return timedelta._of(self._us // o) if isinstance(o, int) else NotImplemented

    def __mod__(self, o): return timedelta._of(self._us % o._us) if isinstance(o, timedelta) else NotImplemented

    def __divmod__(self, o):
        if not isinstance(o, timedelta):
            return NotImplemented
        q, r = divmod(self._us, o._us)
        return q, timedelta._of(r)

    def __eq__(self, o): return self._us == o._us if isinstance(o, timedelta) else NotImplemented
    def __lt__(self, o): return self._us < o._us if isinstance(o, timedelta) else NotImplemented
    def __le__(self, o): return self._us <= o._us if isinstance(o, timedelta) else NotImplemented
    def __gt__(self, o): return self._us > o._us if isinstance(o, timedelta) else NotImplemented
    def __ge__(self, o): return self._us >= o._us if isinstance(o, timedelta) else NotImplemented
    def __bool__(self): return self._us != 0
    def __hash__(self): return hash((self.days, self.seconds, self.microseconds))
    def __reduce__(self): return type(self), (self.days, self.seconds, self.microseconds)

    def __str__(self):
        s = self.seconds
        r = '%d:%02d:%02d' % (s // 3600, s // 60 % 60, s % 60)
        if self.days:
            r = '%d day%s, ' % (self.days, '' if abs(self.days) == 1 else 's') + r
        return r + ('.%06d' % self.microseconds if self.microseconds else '')

    def __repr__(self):
        a = [f'{n}={getattr(self, n)}' for n in ('days', 'seconds', 'microseconds') if getattr(self, n)]
        return '%s.%s(%s)' % (type(self).__module__, type(self).__qualname__, ', '.join(a) or '0')


timedelta.min, timedelta.max, timedelta.resolution = timedelta(-999999999), timedelta._of(10**9 * _DAY - 1), timedelta(microseconds=1)


@_native
class tzinfo:
    def tzname(self, dt): raise NotImplementedError("a tzinfo subclass must implement tzname()")
    def utcoffset(self, dt): raise NotImplementedError("a tzinfo subclass must implement utcoffset()")
    def dst(self, dt): raise NotImplementedError("a tzinfo subclass must implement dst()")

    def fromutc(self, dt):
        off = dt.utcoffset()
        if off is None:
            raise ValueError("fromutc: non-None utcoffset() result required")
        dst = dt.dst()
        if dst is None:
            raise ValueError("fromutc: non-None dst() result required")
        dt += off - dst
        return dt + dt.dst()


def _offset(d, sep=':'):
    us = d._us
    sign, us = ('-', -us) if us < 0 else ('+', us)
    s, us = divmod(us, _SECOND)
    r = '%s%02d%s%02d' % (sign, s // 3600, sep, s // 60 % 60)
    if s % 60 or us:
        r += '%s%02d' % (sep, s % 60)
    return r + ('.%06d' % us if us else '')


@_native
class timezone(tzinfo):
    def __init__(self, offset, name=None):
        if not isinstance(offset, timedelta):
            raise TypeError(f"timezone() argument 1 must be datetime.timedelta, not {type(offset).__name__}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"timezone() argument 2 must be str, not {type(name).__name__}")
        if abs(offset._us) >= _DAY:
            raise ValueError("offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24), not " + repr(offset) + ".")
        self._o, self._n = offset, name

    def utcoffset(self, dt): return self._o
    def dst(self, dt): return None
    def fromutc(self, dt): return dt + self._o
    def __eq__(self, o): return self._o == o._o if isinstance(o, timezone) else NotImplemented
    def __hash__(self): return hash(self._o)

    def tzname(self, dt):
        if self._n is not None:
            return self._n
        return 'UTC' + _offset(self._o) if self._o else 'UTC'

    def __str__(self): return self.tzname(None)

    def __repr__(self):
        if self is timezone.utc:
            return 'datetime.timezone.utc'
        return f'datetime.timezone({self._o!r}{"" if self._n is None else ", " + repr(self._n)})'

    def __reduce__(self): return timezone, (self._o,) if self._n is None else (self._o, self._n)


timezone.utc = UTC = timezone(timedelta(0))
timezone.min, timezone.max = timezone(timedelta(hours=-23, minutes=-59)), timezone(timedelta(hours=23, minutes=59))


def _strftime(o, fmt):
    d = o if isinstance(o, date) else date(1900, 1, 1)
    t = o if isinstance(o, (time, datetime)) else time()
    day = d.toordinal() - _before(d.year)
    wd = d.weekday()
    out = []
    i = 0
    while i < len(fmt):
        c = fmt[i]
        i += 1
        if c != '%' or i >= len(fmt):
            out.append(c)
            continue
        c = fmt[i]
        i += 1
        if c == 'Y':
            r = '%d' % d.year
        elif c == 'G':
            r = '%d' % d.isocalendar()[0]
        elif c in 'mdHMSyjUWVuwI':
            v, n = {'m': (d.month, 2), 'd': (d.day, 2), 'H': (t.hour, 2), 'M': (t.minute, 2), 'S': (t.second, 2), 'y': (d.year % 100, 2), 'j': (day, 3),
                    'U': ((day + 6 - (wd + 1) % 7) // 7, 2), 'W': ((day + 6 - wd) // 7, 2), 'V': (d.isocalendar()[1], 2), 'u': (wd + 1, 1),
                    'w': ((wd + 1) % 7, 1), 'I': (t.hour % 12 or 12, 2)}[c]
            r = '%0*d' % (n, v)
        elif c in 'ek':
            r = '%2d' % (d.day if c == 'e' else t.hour)
        elif c == 'f':
            r = '%06d' % t.microsecond
        elif c in 'aA':
            r = _DAYS[wd] if c == 'A' else _DAYS[wd][:3]
        elif c in 'bBh':
            r = _MONTHS[d.month] if c == 'B' else _MONTHS[d.month][:3]
        elif c == 'p':
            r = 'AM' if t.hour < 12 else 'PM'
        elif c == 'C':
            r = '%02d' % (d.year // 100)
        elif c in 'cDFTRrxX':
            r = _strftime(o, {'c': '%a %b %e %H:%M:%S %Y', 'D': '%m/%d/%y', 'F': '%Y-%m-%d', 'T': '%H:%M:%S', 'R': '%H:%M', 'r': '%I:%M:%S %p',
                              'x': '%m/%d/%y', 'X': '%H:%M:%S'}[c])
        elif c == 's':
            r = '%d' % o.timestamp()
        elif c in 'zZ':
            off = o.utcoffset() if hasattr(o, 'utcoffset') else None
            r = '' if off is None else _offset(off, '') if c == 'z' else o.tzname() or ''
        elif c in 'nt%':
            r = {'n': '\n', 't': '\t', '%': '%'}[c]
        else:
            r = '%' + c
        out.append(r)
    return ''.join(out)


class IsoCalendarDate(tuple):
    year = property(lambda s: s[0])
    week = property(lambda s: s[1])
    weekday = property(lambda s: s[2])
    def __repr__(self): return 'datetime.IsoCalendarDate(year=%d, week=%d, weekday=%d)' % self
    def __reduce__(self): return tuple, (tuple(self),)


_missing = object()


def _wants(cls, name, pos, v):
    if v is _missing:
        raise TypeError(f"function missing required argument '{name}' (pos {pos})")


@_native
class date:
    __slots__ = ('_year', '_month', '_day')

    def __new__(cls, year=_missing, month=_missing, day=_missing):
        for name, pos, v in (('year', 1, year), ('month', 2, month), ('day', 3, day)):
            _wants(cls, name, pos, v)
        self = object.__new__(cls)
        self._year, self._month, self._day = _check_date(year, month, day)
        return self

    year = property(lambda s: s._year)
    month = property(lambda s: s._month)
    day = property(lambda s: s._day)

    @classmethod
    def today(cls): return cls.fromtimestamp(_clock.time())
    @classmethod
    def fromordinal(cls, n): return cls(*_from_ord(n))
    @classmethod
    def fromtimestamp(cls, t): return cls(*_clock.localtime(t)[:3])

    @classmethod
    def fromisoformat(cls, s):
        if not isinstance(s, str):
            raise TypeError('fromisoformat: argument must be str')
        r = _iso_date(s)
        if r is None:
            raise ValueError(f'Invalid isoformat string: {s!r}')
        return cls(*r)

    @classmethod
    def fromisocalendar(cls, year, week, day):
        first = _ord(year, 1, 4)
        monday = first - (first + 6) % 7
        weeks = 53 if (_ord(year, 12, 28) - monday) // 7 == 52 else 52
        if not 1 <= week <= weeks:
            raise ValueError(f'Invalid week: {week}')
        if not 1 <= day <= 7:
            raise ValueError(f'Invalid weekday: {day} (range is [1, 7])')
        return cls.fromordinal(monday + 7 * (week - 1) + day - 1)

    def toordinal(self): return _ord(self._year, self._month, self._day)
    def weekday(self): return (self.toordinal() + 6) % 7
    def isoweekday(self): return self.toordinal() % 7 or 7

    def isocalendar(self):
        n = self.toordinal()
        thursday = n - (n + 6) % 7 + 3
        y = _from_ord(thursday)[0]
        return IsoCalendarDate((y, (thursday - _before(y) - 1) // 7 + 1, (n + 6) % 7 + 1))

    def isoformat(self): return '%04d-%02d-%02d' % (self._year, self._month, self._day)
    def __str__(self): return self.isoformat()
    def __repr__(self): return '%s.%s(%d, %d, %d)' % (type(self).__module__, type(self).__qualname__, self._year, self._month, self._day)
    def ctime(self): return _strftime(self, '%a %b %e 00:00:00 %Y')
    def _key(self): return self._year, self._month, self._day

    def timetuple(self):
        return _clock.struct_time((self._year, self._month, self._day, 0, 0, 0, self.weekday(), self.toordinal() - _before(self._year), -1))

    def strftime(self, format): return _strftime(self, format)
    def __format__(self, f): return self.strftime(f) if f else str(self)

    def replace(self, year=None, month=None, day=None):
        return type(self)(self._year if year is None else year, self._month if month is None else month, self._day if day is None else day)

    def _other(self, o): return isinstance(o, date) and not isinstance(o, datetime)
    def __eq__(self, o): return self._key() == o._key() if self._other(o) else NotImplemented
    def __lt__(self, o): return self._key() < o._key() if self._other(o) else NotImplemented
    def __le__(self, o): return self._key() <= o._key() if self._other(o) else NotImplemented
    def __gt__(self, o): return self._key() > o._key() if self._other(o) else NotImplemented
    def __ge__(self, o): return self._key() >= o._key() if self._other(o) else NotImplemented
    def __hash__(self): return hash(self._key())
    def __reduce__(self): return type(self), self._key()

    def __add__(self, o):
        return type(self).fromordinal(self.toordinal() + o.days) if isinstance(o, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, o):
        if isinstance(o, timedelta):
            return type(self).fromordinal(self.toordinal() - o.days)
        if isinstance(o, date):
            return timedelta(self.toordinal() - o.toordinal())
        return NotImplemented


def _digits(s, *ns):
    return all(len(s[a:b]) == b - a and s[a:b].isascii() and s[a:b].isdigit() for a, b in ns)


def _iso_date(s):
    """(year, month, day) of an ISO date, or None."""
    if len(s) == 10 and s[4] == s[7] == '-' and _digits(s, (0, 4), (5, 7), (8, 10)):
        return int(s[:4]), int(s[5:7]), int(s[8:])
    if len(s) == 8 and _digits(s, (0, 8)):
        return int(s[:4]), int(s[4:6]), int(s[6:])
    t = s.replace('-', '')
    if t[4:5] == 'W' and len(t) in (7, 8) and _digits(t, (0, 4), (5, len(t))):
        d = date.fromisocalendar(int(t[:4]), int(t[5:7]), int(t[7:] or 1))
        return d.year, d.month, d.day
    return None


def _iso_time(s):
    """(hour, minute, second, microsecond, tzinfo) of an ISO time, or None."""
    tz = None
    for i, c in enumerate(s):
        if c in '+-Z':
            zone, s = s[i:], s[:i]
            if zone == 'Z':
                tz = UTC
            elif zone[0] == 'Z':
                return None
            else:
                r = _iso_time(zone[1:])
                if r is None or r[4] is not None:
                    return None
                d = timedelta(hours=r[0], minutes=r[1], seconds=r[2], microseconds=r[3])
                d = -d if zone[0] == '-' else d
                tz = timezone(d) if d else UTC
            break
    us = 0
    for c in '.,':
        if c in s:
            s, f = s.split(c, 1)
            if not f or not (f.isascii() and f.isdigit()) or len(s.replace(':', '')) != 6:
                return None
            us = int(f[:6].ljust(6, '0'))
    parts = s.split(':') if ':' in s else [s[i:i + 2] for i in range(0, len(s), 2)]
    if not 1 <= len(parts) <= 3 or not all(len(p) == 2 and _digits(p, (0, 2)) for p in parts):
        return None
    h, m, sec = [int(p) for p in parts] + [0] * (3 - len(parts))
    return h, m, sec, us, tz


def _iso_clock(o, timespec):
    h, m, s, us = o.hour, o.minute, o.second, o.microsecond
    if timespec == 'auto':
        timespec = 'microseconds' if us else 'seconds'
    forms = {'hours': '%02d' % h, 'minutes': '%02d:%02d' % (h, m), 'seconds': '%02d:%02d:%02d' % (h, m, s),
             'milliseconds': '%02d:%02d:%02d.%03d' % (h, m, s, us // 1000), 'microseconds': '%02d:%02d:%02d.%06d' % (h, m, s, us)}
    if timespec not in forms:
        raise ValueError('Unknown timespec value')
    off = o.utcoffset()
    return forms[timespec] + ('' if off is None else _offset(off))


def _zone(tz):
    if tz is not None and not isinstance(tz, tzinfo):
        raise TypeError(f"tzinfo argument must be None or of a tzinfo subclass, not type '{type(tz).__name__}'")
    return tz


def _ordering(name):
    """A comparison of times, with a zone or without."""
    def compare(self, o):
        if not isinstance(o, time if isinstance(self, time) else datetime):
            if isinstance(self, datetime) and isinstance(o, date) and name not in ('__eq__', '__ne__'):
                raise TypeError(f"can't compare {type(self).__module__}.{type(self).__qualname__} to {type(o).__module__}.{type(o).__qualname__}")
            return NotImplemented
        a, b = self.utcoffset(), o.utcoffset()
        if (a is None) != (b is None):
            if name == '__eq__':
                return False
            raise TypeError(f"can't compare offset-naive and offset-aware {'times' if isinstance(self, time) else 'datetimes'}")
        x, y = self._micros(), o._micros()
        if a is not None:
            x, y = x - a._us, y - b._us
        return getattr(x, name)(y)
    compare.__name__ = name
    return compare


@_native
class time:
    __slots__ = ('_hour', '_minute', '_second', '_micro', '_tz', '_fold')

    def __new__(cls, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        self = object.__new__(cls)
        self._hour, self._minute, self._second, self._micro = _check_time(hour, minute, second, microsecond, fold)
        self._tz, self._fold = _zone(tzinfo), fold
        return self

    hour = property(lambda s: s._hour)
    minute = property(lambda s: s._minute)
    second = property(lambda s: s._second)
    microsecond = property(lambda s: s._micro)
    tzinfo = property(lambda s: s._tz)
    fold = property(lambda s: s._fold)

    @classmethod
    def fromisoformat(cls, s):
        r = _iso_time(s.removeprefix('T'))
        if r is None:
            raise ValueError(f'Invalid isoformat string: {s!r}')
        return cls(*r)

    def utcoffset(self): return None if self._tz is None else self._tz.utcoffset(None)
    def tzname(self): return None if self._tz is None else self._tz.tzname(None)
    def dst(self): return None if self._tz is None else self._tz.dst(None)
    def isoformat(self, timespec='auto'): return _iso_clock(self, timespec)
    def __str__(self): return self.isoformat()
    def strftime(self, format): return _strftime(self, format)
    def __format__(self, f): return self.strftime(f) if f else str(self)
    def _micros(self): return ((self._hour * 60 + self._minute) * 60 + self._second) * _SECOND + self._micro
    def __hash__(self): return hash(self._micros() - (self.utcoffset() or timedelta())._us)
    def __bool__(self): return True
    __eq__, __lt__, __le__, __gt__, __ge__ = map(_ordering, ('__eq__', '__lt__', '__le__', '__gt__', '__ge__'))

    def replace(self, hour=None, minute=None, second=None, microsecond=None, tzinfo=True, *, fold=None):
        return type(self)(*(a if b is None else b for a, b in ((self._hour, hour), (self._minute, minute), (self._second, second), (self._micro, microsecond))),
                          self._tz if tzinfo is True else tzinfo, fold=self._fold if fold is None else fold)

    def __repr__(self):
        a = [self._hour, self._minute] + ([self._second] if self._second or self._micro else []) + ([self._micro] if self._micro else [])
        r = ', '.join(map(str, a)) + (f', tzinfo={self._tz!r}' if self._tz is not None else '') + (', fold=1' if self._fold else '')
        return f'{type(self).__module__}.{type(self).__qualname__}({r})'

    def __reduce__(self): return type(self), (self._hour, self._minute, self._second, self._micro, self._tz)


time.min, time.max, time.resolution = time(), time(23, 59, 59, 999999), timedelta(microseconds=1)


@_native
class datetime(date):
    __slots__ = ('_hour', '_minute', '_second', '_micro', '_tz', '_fold')

    def __new__(cls, year=_missing, month=_missing, day=_missing, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        for name, pos, v in (('year', 1, year), ('month', 2, month), ('day', 3, day)):
            _wants(cls, name, pos, v)
        self = object.__new__(cls)
        self._year, self._month, self._day = _check_date(year, month, day)
        self._hour, self._minute, self._second, self._micro = _check_time(hour, minute, second, microsecond, fold)
        self._tz, self._fold = _zone(tzinfo), fold
        return self

    hour = property(lambda s: s._hour)
    minute = property(lambda s: s._minute)
    second = property(lambda s: s._second)
    microsecond = property(lambda s: s._micro)
    tzinfo = property(lambda s: s._tz)
    fold = property(lambda s: s._fold)

    @classmethod
    def _at(cls, us, tz=None):
        """The time some microseconds after the last day before year 1."""
        days, us = divmod(us, _DAY)
        s, us = divmod(us, _SECOND)
        return cls(*_from_ord(days), s // 3600, s // 60 % 60, s % 60, us, tz)

    @classmethod
    def now(cls, tz=None): return cls.fromtimestamp(_clock.time(), tz)
    @classmethod
    def today(cls): return cls.now()
    @classmethod
    def utcnow(cls): return cls.utcfromtimestamp(_clock.time())

    @classmethod
    def utcfromtimestamp(cls, t):
        n, d = float(t).as_integer_ratio()
        return cls._at(719163 * _DAY + _half_even(n * 10**6, d))

    @classmethod
    def fromtimestamp(cls, t, tz=None):
        if tz is not None:
            return _zone(tz).fromutc(cls.utcfromtimestamp(t).replace(tzinfo=tz))
        u = cls.utcfromtimestamp(t)
        return u + _local_offset(t)

    @classmethod
    def combine(cls, date, time, tzinfo=True):
        return cls(date.year, date.month, date.day, time.hour, time.minute, time.second, time.microsecond, time.tzinfo if tzinfo is True else tzinfo, fold=time.fold)

    @classmethod
    def fromisoformat(cls, s):
        if not isinstance(s, str):
            raise TypeError('fromisoformat: argument must be str')
        for n in (10, 8, 7):
            d = _iso_date(s[:n])
            if d is not None:
                t = (0, 0, 0, 0, None) if len(s) == n else _iso_time(s[n + 1:]) if not s[n].isdigit() else None
                if t is not None:
                    return cls(*d, *t)
        raise ValueError(f'Invalid isoformat string: {s!r}')

    @classmethod
    def strptime(cls, text, format):
        return cls(*_strptime(text, format))

    def utcoffset(self): return None if self._tz is None else self._tz.utcoffset(self)
    def tzname(self): return None if self._tz is None else self._tz.tzname(self)
    def dst(self): return None if self._tz is None else self._tz.dst(self)
    def date(self): return date(self._year, self._month, self._day)
    def time(self): return time(self._hour, self._minute, self._second, self._micro, fold=self._fold)
    def timetz(self): return time(self._hour, self._minute, self._second, self._micro, self._tz, fold=self._fold)
    def isoformat(self, sep='T', timespec='auto'): return date.isoformat(self) + sep + _iso_clock(self, timespec)
    def __str__(self): return self.isoformat(' ')
    def ctime(self): return _strftime(self, '%a %b %e %H:%M:%S %Y')
    def _micros(self): return (self.toordinal() * 86400 + (self._hour * 60 + self._minute) * 60 + self._second) * _SECOND + self._micro

    def timetuple(self):
        dst = self.dst()
        return _clock.struct_time((self._year, self._month, self._day, self._hour, self._minute, self._second, self.weekday(),
                                   self.toordinal() - _before(self._year), -1 if dst is None else int(bool(dst))))

    def utctimetuple(self):
        u = self if self._tz is None else self.replace(tzinfo=None) - self.utcoffset()
        return _clock.struct_time(tuple(u.timetuple())[:8] + (0,))

    def timestamp(self):
        off = self.utcoffset()
        us = self._micros() - 719163 * _DAY
        if off is None:
            us -= _local_offset(us / 10**6)._us
        else:
            us -= off._us
        return us / 10**6

    def astimezone(self, tz=None):
        off = self.utcoffset()
        if off is None:
            off = _local_offset(self.timestamp())
        if tz is None:
            tz = timezone(_local_offset(self.timestamp()), _clock.tzname[0])
        if tz is self._tz:
            return self
        return _zone(tz).fromutc((self.replace(tzinfo=None) - off).replace(tzinfo=tz))

    def replace(self, year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None, tzinfo=True, *, fold=None):
        own = (self._year, self._month, self._day, self._hour, self._minute, self._second, self._micro)
        new = (year, month, day, hour, minute, second, microsecond)
        return type(self)(*(a if b is None else b for a, b in zip(own, new)), self._tz if tzinfo is True else tzinfo, fold=self._fold if fold is None else fold)

    __eq__, __lt__, __le__, __gt__, __ge__ = map(_ordering, ('__eq__', '__lt__', '__le__', '__gt__', '__ge__'))
    def __hash__(self): return hash(self._micros() - (self.utcoffset() or timedelta())._us)

    def __add__(self, o):
        return type(self)._at(self._micros() + o._us, self._tz) if isinstance(o, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, o):
        if isinstance(o, timedelta):
            return type(self)._at(self._micros() - o._us, self._tz)
        if not isinstance(o, datetime):
            return NotImplemented
        a, b = self.utcoffset(), o.utcoffset()
        if (a is None) != (b is None):
            raise TypeError("can't subtract offset-naive and offset-aware datetimes")
        us = self._micros() - o._micros()
        return timedelta._of(us if a is None else us - a._us + b._us)

    def __repr__(self):
        a = [self._year, self._month, self._day, self._hour, self._minute] + ([self._second] if self._second or self._micro else []) + ([self._micro] if self._micro else [])
        r = ', '.join(map(str, a)) + (f', tzinfo={self._tz!r}' if self._tz is not None else '') + (', fold=1' if self._fold else '')
        return f'{type(self).__module__}.{type(self).__qualname__}({r})'

    def __reduce__(self):
        return type(self), (self._year, self._month, self._day, self._hour, self._minute, self._second, self._micro, self._tz)


def _local_offset(t):
    l = _clock.localtime(t)
    g = _clock.gmtime(t)
    return timedelta(date(*l[:3]).toordinal() - date(*g[:3]).toordinal(), (l[3] - g[3]) * 3600 + (l[4] - g[4]) * 60 + l[5] - g[5])


def _strptime(text, format):
    import re
    names = {'d': r'(?P<d>3[01]|[12]\d|0[1-9]|[1-9]| [1-9])', 'm': r'(?P<m>1[0-2]|0[1-9]|[1-9])', 'Y': r'(?P<Y>\d\d\d\d)', 'y': r'(?P<y>\d\d)',
             'H': r'(?P<H>2[0-3]|[01]\d|\d)', 'I': r'(?P<I>1[0-2]|0[1-9]|[1-9])', 'M': r'(?P<M>[0-5]\d|\d)', 'S': r'(?P<S>6[01]|[0-5]\d|\d)',
             'f': r'(?P<f>\d{1,6})', 'j': r'(?P<j>36[0-6]|3[0-5]\d|[12]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9])', 'p': r'(?P<p>am|pm)',
             'a': '(?P<a>' + '|'.join(d[:3] for d in _DAYS) + ')', 'A': '(?P<A>' + '|'.join(_DAYS) + ')',
             'b': '(?P<b>' + '|'.join(m[:3] for m in _MONTHS[1:]) + ')', 'B': '(?P<B>' + '|'.join(_MONTHS[1:]) + ')',
             'z': r'(?P<z>[+-]\d\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,6})?)?|(?-i:Z))', 'Z': r'(?P<Z>utc|gmt)', 'w': r'(?P<w>[0-6])', 'u': r'(?P<u>[1-7])',
             'U': r'(?P<U>5[0-3]|[0-4]\d|\d)', 'W': r'(?P<W>5[0-3]|[0-4]\d|\d)', '%': '%'}
    for k, v in (('c', '%a %b %d %H:%M:%S %Y'), ('x', '%m/%d/%y'), ('X', '%H:%M:%S')):
        format = format.replace('%' + k, v)
    pattern, i = '', 0
    while i < len(format):
        c = format[i]
        i += 1
        if c.isspace():
            while i < len(format) and format[i].isspace():
                i += 1
            pattern += r'\s+'
        elif c == '%':
            if i >= len(format):
                raise ValueError(f"stray %% in format '{format}'")
            if format[i] not in names:
                raise ValueError(f"'{format[i]}' is a bad directive in format '{format}'")
            pattern += names[format[i]]
            i += 1
        else:
            pattern += re.escape(c)
    m = re.match(pattern, text, re.I)
    if m is None:
        raise ValueError(f"time data {text!r} does not match format {format!r}")
    if m.end() != len(text):
        raise ValueError(f"unconverted data remains: {text[m.end():]}")
    g = m.groupdict()
    year = int(g['Y']) if 'Y' in g else 1900
    if 'y' in g:
        year = int(g['y'])
        year += 2000 if year <= 68 else 1900
    month, day = int(g.get('m', 1)), int(g.get('d', 1))
    for k, n in (('b', 3), ('B', 99)):
        if k in g:
            month = [x[:n].lower() for x in _MONTHS].index(g[k].lower())
    hour = int(g.get('H', 0))
    if 'I' in g:
        hour = int(g['I']) % 12 + (12 if g.get('p', '').lower() == 'pm' else 0)
    tz = None
    if 'z' in g:
        z = g['z']
        if z == 'Z':
            tz = UTC
        else:
            tz = timezone(_iso_offset(z))
    if 'j' in g and 'm' not in g and 'b' not in g and 'B' not in g:
        _, month, day = _from_ord(_before(year) + int(g['j']))
    return year, month, day, hour, int(g.get('M', 0)), int(g.get('S', 0)), int(g.get('f', '0').ljust(6, '0')), tz


def _iso_offset(z):
    h, m, s, us, _ = _iso_time(z[1:])
    d = timedelta(hours=h, minutes=m, seconds=s, microseconds=us)
    return -d if z[0] == '-' else d


date.min, date.max, date.resolution = date(1, 1, 1), date(9999, 12, 31), timedelta(1)
datetime.min, datetime.max, datetime.resolution = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), timedelta(microseconds=1)
