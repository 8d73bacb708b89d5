"""Dates and times, the common part."""
import time as _t

MINYEAR, MAXYEAR = 1, 9999
_DIM = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def _leap(y): return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
def _dim(y, m): return 29 if m == 2 and _leap(y) else _DIM[m]
def _before(y): y -= 1; return y * 365 + y // 4 - y // 100 + y // 400
def _ord(y, m, d): return _before(y) + sum(_dim(y, i) for i in range(1, m)) + d


def _from_ord(n):
    y = max(1, n * 400 // 146097)
    while _before(y + 1) < n:
        y += 1
    while _before(y) >= n:
        y -= 1
    n -= _before(y)
    m = 1
    while n > _dim(y, m):
        n -= _dim(y, m)
        m += 1
    return y, m, n


class timedelta:
    __slots__ = ('_us',)

    def __new__(cls, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        self = object.__new__(cls)
        self._us = round(((weeks * 7 + days) * 86400 + hours * 3600 + minutes * 60 + seconds) * 1000000 + milliseconds * 1000 + microseconds)
        return self

    @classmethod
    def _mk(cls, us): self = object.__new__(cls); self._us = us; return self
    days = property(lambda s: s._us // 86400000000)
    seconds = property(lambda s: s._us // 1000000 % 86400)
    microseconds = property(lambda s: s._us % 1000000)
    def total_seconds(self): return self._us / 1000000
    def __add__(self, o): return timedelta._mk(self._us + o._us) if isinstance(o, timedelta) else NotImplemented
    def __sub__(self, o): return timedelta._mk(self._us - o._us) if isinstance(o, timedelta) else NotImplemented
    def __neg__(self): return timedelta._mk(-self._us)
    def __abs__(self): return timedelta._mk(abs(self._us))
    def __mul__(self, o): return timedelta._mk(round(self._us * o)) if isinstance(o, (int, float)) else NotImplemented
    __rmul__ = __mul__
    def __truediv__(self, o): return self._us / o._us if isinstance(o, timedelta) else timedelta._mk(round(self._us / o))
    def __floordiv__(self, o): return self._us // o._us if isinstance(o, timedelta) else timedelta._mk(self._us // o)
    def __mod__(self, o): return timedelta._mk(self._us % o._us)
    def __eq__(self, o): return isinstance(o, timedelta) and self._us == o._us
    def __lt__(self, o): return self._us < o._us
    def __le__(self, o): return self._us <= o._us
    def __gt__(self, o): return self._us > o._us
    def __ge__(self, o): return self._us >= o._us
    def __bool__(self): return self._us != 0
    def __hash__(self): return hash(self._us)

    def __str__(self):
        s = self.seconds
        r = '%d:%02d:%02d' % (s // 3600, s // 60 % 60, s % 60)
        if self.days:
            r = '%d day%s, ' % (self.days, '' if abs(self.days) == 1 else 's') + r
        return r + ('.%06d' % self.microseconds if self.microseconds else '')

    def __repr__(self):
        a = [f'{n}={getattr(self, n)}' for n in ('days', 'seconds', 'microseconds') if getattr(self, n)]
        return 'datetime.timedelta(%s)' % (', '.join(a) or '0')


class tzinfo:
    def utcoffset(self, dt): raise NotImplementedError
    def tzname(self, dt): raise NotImplementedError
    def dst(self, dt): return None


class timezone(tzinfo):
    def __init__(self, offset, name=None): self._o, self._n = offset, name
    def utcoffset(self, dt): return self._o
    def dst(self, dt): return None
    def __eq__(self, o): return isinstance(o, timezone) and self._o == o._o
    def __hash__(self): return hash(self._o)

    def tzname(self, dt):
        if self._n:
            return self._n
        return 'UTC' if not self._o else 'UTC' + _off(self._o)

    def __repr__(self): return 'datetime.timezone.utc' if self is timezone.utc else 'datetime.timezone(%r)' % self._o
    __str__ = lambda self: self.tzname(None)


def _off(d):
    s = d.total_seconds()
    sign, s = ('-', -s) if s < 0 else ('+', s)
    return '%s%02d:%02d' % (sign, s // 3600, s // 60 % 60)


timezone.utc = timezone(timedelta(0))
UTC = timezone.utc


class date:
    def __new__(cls, year, month, day):
        if not 1 <= year <= 9999:
            raise ValueError('year %i is out of range' % year)
        if not 1 <= month <= 12:
            raise ValueError('month must be in 1..12')
        if not 1 <= day <= _dim(year, month):
            raise ValueError('day is out of range for month')
        self = object.__new__(cls)
        self.year, self.month, self.day = year, month, day
        return self

    @classmethod
    def today(cls): return cls(*_t.localtime()[:3])
    @classmethod
    def fromordinal(cls, n): return cls(*_from_ord(n))
    @classmethod
    def fromtimestamp(cls, t): return cls(*_t.localtime(t)[:3])
    @classmethod
    def fromisoformat(cls, s): return cls(int(s[:4]), int(s[5:7]), int(s[8:10]))
    def toordinal(self): return _ord(self.year, self.month, self.day)
    def weekday(self): return (self.toordinal() + 6) % 7
    def isoweekday(self): return self.toordinal() % 7 or 7
    def isoformat(self): return '%04d-%02d-%02d' % (self.year, self.month, self.day)
    __str__ = isoformat
    def __repr__(self): return 'datetime.date(%d, %d, %d)' % (self.year, self.month, self.day)
    def _key(self): return (self.year, self.month, self.day)
    def timetuple(self): return _t.struct_time((self.year, self.month, self.day, 0, 0, 0, self.weekday(), self.toordinal() - _before(self.year), -1))
    def strftime(self, f): return _t.strftime(f, self.timetuple())
    def __format__(self, f): return self.strftime(f) if f else str(self)
    def replace(self, year=None, month=None, day=None): return type(self)(year or self.year, month or self.month, day or self.day)
    def __eq__(self, o): return type(o) is type(self) and self._key() == o._key()
    def __lt__(self, o): return self._key() < o._key()
    def __le__(self, o): return self._key() <= o._key()
    def __gt__(self, o): return self._key() > o._key()
    def __ge__(self, o): return self._key() >= o._key()
    def __hash__(self): return hash(self._key())
    def __add__(self, o): return date.fromordinal(self.toordinal() + o.days) if isinstance(o, timedelta) else NotImplemented
    __radd__ = __add__

    def __sub__(self, o):
        if isinstance(o, timedelta):
            return self + -o
        return timedelta(self.toordinal() - o.toordinal())


class time:
    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        self.hour, self.minute, self.second, self.microsecond, self.tzinfo = hour, minute, second, microsecond, tzinfo

    def isoformat(self, timespec='auto'): return '%02d:%02d:%02d' % (self.hour, self.minute, self.second) + ('.%06d' % self.microsecond if self.microsecond else '')
    __str__ = isoformat
    def __repr__(self): return 'datetime.time(%s)' % ', '.join(map(str, [self.hour, self.minute] + ([self.second] if self.second or self.microsecond else []) + ([self.microsecond] if self.microsecond else [])))
    def _key(self): return (self.hour, self.minute, self.second, self.microsecond)
    def __eq__(self, o): return isinstance(o, time) and self._key() == o._key()
    def __lt__(self, o): return self._key() < o._key()
    def __hash__(self): return hash(self._key())


class datetime(date):
    def __new__(cls, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        self = date.__new__(cls, year, month, day)
        if not 0 <= hour <= 23:
            raise ValueError('hour must be in 0..23')
        if not 0 <= minute <= 59:
            raise ValueError('minute must be in 0..59')
        if not 0 <= second <= 59:
            raise ValueError('second must be in 0..59')
        self.hour, self.minute, self.second, self.microsecond, self.tzinfo = hour, minute, second, microsecond, tzinfo
        return self

    @classmethod
    def now(cls, tz=None): return cls.fromtimestamp(_t.time(), tz)
    @classmethod
    def utcnow(cls): return cls.utcfromtimestamp(_t.time())
    today = now

    @classmethod
    def fromtimestamp(cls, t, tz=None):
        us = round(t * 1000000)
        s, us = divmod(us, 1000000)
        if tz is not None:
            d = cls(*_t.gmtime(s)[:6], us, tz)
            return d + tz.utcoffset(d)
        return cls(*_t.localtime(s)[:6], us)

    @classmethod
    def utcfromtimestamp(cls, t):
        s, us = divmod(round(t * 1000000), 1000000)
        return cls(*_t.gmtime(s)[:6], us)

    @classmethod
    def combine(cls, d, t, tzinfo=None): return cls(d.year, d.month, d.day, t.hour, t.minute, t.second, t.microsecond, tzinfo or t.tzinfo)

    @classmethod
    def fromisoformat(cls, s):
        d, t = s[:10], s[11:]
        tz = None
        for i, c in enumerate(t):
            if c in '+-Z':
                if c == 'Z':
                    tz = timezone.utc
                else:
                    h, m = int(t[i + 1:i + 3]), int(t[i + 4:i + 6] or 0)
                    tz = timezone(timedelta(hours=h, minutes=m) * (1 if c == '+' else -1))
                t = t[:i]
                break
        hms, _, f = t.partition('.')
        p = [int(x) for x in hms.split(':') if x]
        return cls(int(d[:4]), int(d[5:7]), int(d[8:10]), *(p + [0] * (3 - len(p))), int((f + '000000')[:6]) if f else 0, tz)

    @classmethod
    def strptime(cls, s, fmt):
        import re
        pats = {'Y': r'(?P<Y>\d{4})', 'm': r'(?P<m>\d{1,2})', 'd': r'(?P<d>\d{1,2})', 'H': r'(?P<H>\d{1,2})', 'M': r'(?P<M>\d{1,2})', 'S': r'(?P<S>\d{1,2})',
                'f': r'(?P<f>\d{1,6})', 'y': r'(?P<y>\d{2})', 'b': r'(?P<b>[A-Za-z]{3})'}
        rx = re.sub(r'%(.)', lambda m: pats.get(m.group(1), re.escape(m.group(1))), fmt)
        m = re.fullmatch(rx, s)
        if m is None:
            raise ValueError("time data %r does not match format %r" % (s, fmt))
        g = {'Y': '1900', 'm': '1', 'd': '1', 'H': '0', 'M': '0', 'S': '0', 'f': '0', **m.groupdict()}
        if 'y' in g:
            g['Y'] = str(2000 + int(g['y']) if int(g['y']) < 69 else 1900 + int(g['y']))
        if 'b' in g:
            g['m'] = str('jan feb mar apr may jun jul aug sep oct nov dec'.split().index(g['b'].lower()) + 1)
        return cls(int(g['Y']), int(g['m']), int(g['d']), int(g['H']), int(g['M']), int(g['S']), int((g['f'] + '000000')[:6]) if g['f'] != '0' else 0)

    def date(self): return globals()['date'](self.year, self.month, self.day)
    def time(self): return globals()['time'](self.hour, self.minute, self.second, self.microsecond)

    def timestamp(self):
        if self.tzinfo is not None:
            return (self - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds()
        return _t.mktime(self.timetuple()) + self.microsecond / 1e6

    def timetuple(self): return _t.struct_time((self.year, self.month, self.day, self.hour, self.minute, self.second, self.weekday(), self.toordinal() - _before(self.year), -1))
    def utcoffset(self): return None if self.tzinfo is None else self.tzinfo.utcoffset(self)

    def isoformat(self, sep='T', timespec='auto'):
        s = date.isoformat(self) + sep + '%02d:%02d:%02d' % (self.hour, self.minute, self.second)
        if timespec == 'seconds':
            pass
        elif timespec == 'milliseconds':
            s += '.%03d' % (self.microsecond // 1000)
        elif self.microsecond or timespec == 'microseconds':
            s += '.%06d' % self.microsecond
        return s + (_off(self.utcoffset()) if self.tzinfo is not None else '')

    def __str__(self): return self.isoformat(' ')

    def __repr__(self):
        a = [self.year, self.month, self.day, self.hour, self.minute]
        if self.second or self.microsecond:
            a.append(self.second)
        if self.microsecond:
            a.append(self.microsecond)
        s = ', '.join(map(str, a))
        return 'datetime.datetime(%s%s)' % (s, ', tzinfo=%r' % self.tzinfo if self.tzinfo is not None else '')

    def strftime(self, f):
        return _t.strftime(f.replace('%f', '%06d' % self.microsecond).replace('%z', _off(self.utcoffset()).replace(':', '') if self.tzinfo else ''), self.timetuple())

    def replace(self, **kw):
        a = {n: getattr(self, n) for n in ('year', 'month', 'day', 'hour', 'minute', 'second', 'microsecond', 'tzinfo')}
        a.update(kw)
        return type(self)(**a)

    def astimezone(self, tz=None):
        tz = tz or timezone.utc
        off = self.utcoffset() or timedelta(0)
        r = (self.replace(tzinfo=None) - off) + tz.utcoffset(self)
        return r.replace(tzinfo=tz)

    def _key(self):
        return (self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond)

    def _us(self): return ((self.toordinal() * 24 + self.hour) * 60 + self.minute) * 60000000 + self.second * 1000000 + self.microsecond

    def __add__(self, o):
        if not isinstance(o, timedelta):
            return NotImplemented
        us = self._us() + o._us
        d, us = divmod(us, 86400000000)
        y, m, dd = _from_ord(d)
        s, us = divmod(us, 1000000)
        return type(self)(y, m, dd, s // 3600, s // 60 % 60, s % 60, us, self.tzinfo)

    __radd__ = __add__

    def __sub__(self, o):
        if isinstance(o, timedelta):
            return self + -o
        off = (self.utcoffset() or timedelta(0)) - (o.utcoffset() or timedelta(0))
        return timedelta._mk(self._us() - o._us()) - off


for _c, _lo, _hi in ((date, date(1, 1, 1), date(9999, 12, 31)), (datetime, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999))):
    _c.min, _c.max = _lo, _hi
datetime_CAPI = None
