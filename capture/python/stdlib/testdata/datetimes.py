import bz2, lzma
from datetime import *

def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, e)

d, t = date(2020, 2, 29), time(1, 2, 3, 4, fold=1)
m = datetime(2020, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=-3, minutes=-30), "X"))
for x in (d, t, m, timedelta(-1, 5, 7), timezone.utc, timezone.min, date.max, datetime.min, time.max, timedelta.resolution):
    print(repr(x), x, x.__reduce__())
for f in (
    lambda: m + timedelta(microseconds=1), lambda: m - timedelta(weeks=52), lambda: m - datetime(1, 1, 1, tzinfo=timezone.utc), lambda: d - date.min,
    lambda: m.astimezone(timezone.utc), lambda: m.utctimetuple(), lambda: m.timetuple(), lambda: m.isocalendar(), lambda: m.timestamp(), lambda: m.isoformat(" ", "milliseconds"),
    lambda: m.strftime("%Y %j %U %z %Z %f %%"), lambda: f"{d:%d/%m}", lambda: t.replace(hour=5), lambda: d.replace(day=30), lambda: m.timetz(), lambda: m.ctime(),
    lambda: timedelta(days=0.5, hours=1.25), lambda: timedelta(1) / 7, lambda: timedelta(1) // timedelta(0, 7), lambda: divmod(timedelta(-1), timedelta(0, 7)),
    lambda: timedelta(1) * 0.3, lambda: timedelta(0.5 / 86400e6), lambda: timedelta(1) / 0, lambda: timedelta(1) / timedelta(0), lambda: timedelta(days=10**9), lambda: timedelta("1"),
    lambda: -timedelta.max, lambda: date.max + timedelta(1), lambda: date(2020), lambda: date(2021, 2, 29), lambda: date(0, 1, 1), lambda: time(24), lambda: time(0, fold=2),
    lambda: datetime(2020, 1, 1, tzinfo=1), lambda: datetime(2020, 1, 1, 1.5), lambda: d < 1, lambda: m < datetime.min, lambda: m == datetime.min, lambda: m < d, lambda: m == d,
    lambda: datetime.min - m, lambda: date.fromordinal(0), lambda: date.fromisocalendar(2020, 54, 1), lambda: date.fromisocalendar(2020, 1, 8), lambda: date.fromisocalendar(0, 1, 1),
    lambda: datetime.combine(d, t), lambda: datetime.combine(t, d), lambda: datetime.utcfromtimestamp(1e9 + 0.0000005), lambda: datetime.fromtimestamp(1e9, timezone.utc),
    lambda: datetime.utcfromtimestamp(1e14), lambda: datetime.utcfromtimestamp(float("nan")), lambda: timezone(1), lambda: timezone(timedelta(1)), lambda: timezone(timedelta(0)) is timezone.utc,
    lambda: tzinfo().utcoffset(None), lambda: timezone.utc.tzname(1), lambda: timezone.utc.fromutc(d), lambda: datetime.strptime("2020-02-03", "%Y-%m-%d"), lambda: datetime.strptime(1, ""),
    lambda: m.isoformat(timespec="x"), lambda: m.isoformat("ab"), lambda: date.fromisoformat(1),
):
    show(f)
for s in ("2020-01-02", "20200102", "2020-W01-2", "2020W012", "2020-W01", "2020-1-2", "2020-W54", "2020-13-01"):
    show(lambda: date.fromisoformat(s))
for s in ("01", "0102", "01:02", "01:02:03.5", "01:02:03,1234567", "T010203Z", "01:02+01", "01:02-01:30:15.25", "01:0203", "1", "01:02:", "01:02x"):
    show(lambda: time.fromisoformat(s))
for s in ("2020-01-02T03", "2020-01-02 03:04:05.678+09:00", "20200102T030405Z", "2020-W01-2T03", "2020W0123", "2020-01-02T", "x"):
    show(lambda: datetime.fromisoformat(s))

class D(datetime):
    pass

x = D(2020, 1, 1)
print(type(x + timedelta(1)).__name__, type(x.replace(day=2)).__name__, type(D.fromisoformat("2020-01-01")).__name__, repr(x), hash(x) == hash(datetime(2020, 1, 1)))

for data in (b"", b"x" * 1000, bytes(range(256)) * 50):
    print(bz2.decompress(bz2.compress(data)) == data, lzma.decompress(lzma.compress(data)) == data, lzma.decompress(lzma.compress(data, lzma.FORMAT_ALONE)) == data)
chain = [{"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 1}]
data = bytes(range(256)) * 9 + b"\xe8\1\0\0\0" * 99
print(lzma.decompress(lzma.compress(data, lzma.FORMAT_RAW, filters=chain), lzma.FORMAT_RAW, filters=chain) == data)
for f in (lambda: bz2.decompress(b"abcdefgh"), lambda: lzma.decompress(b"abcdefghijklmnop"), lambda: bz2.compress(b"", 10), lambda: lzma.compress(b"", check=3), lambda: lzma.compress(b"", 9)):
    show(f)
for enc in ("shift_jis", "euc_jp", "iso2022_jp_2", "gb18030", "hz", "big5", "euc_kr", "cp949", "johab", "euc_jis_2004", "iso2022_kr"):
    show(lambda: "aあ漢z".encode(enc, "replace"))
    show(lambda: "aあ漢z".encode(enc, "xmlcharrefreplace").decode(enc))
    show(lambda: b"a\xff".decode(enc))
    show(lambda: b"a\x81".decode(enc, "replace"))
    show(lambda: "a\ud800".encode(enc))
