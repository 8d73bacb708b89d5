# Memory and files in place.
import mmap, tempfile, os

def t(f, *a, **k):
    try:
        print(f(*a, **k))
    except BaseException as e:
        print(type(e).__name__, e)

print(sorted((k, v) for k, v in vars(mmap).items() if k.isupper()))
m = mmap.mmap(-1, 4096)
print(m); t(m.read_byte); t(m.write_byte, 'x'); t(m.write, 'x'); t(m.seek, -1); t(m.seek, 5000); t(m.seek, 0, 5); t(m.find, 'x'); t(m.move, 0, 0, 5000); t(m.resize, -1)
t(m.flush, 1, 2); t(m.flush, 0, 5000); t(m.flush); t(m.__getitem__, 5000); t(m.__setitem__, 0, 256); t(m.__setitem__, 0, 'a'); t(m.__setitem__, slice(0, 2), b'abc'); t(m.__setitem__, 5000, 1)
t(m.__delitem__, 0); t(m.__getitem__, 'a'); t(m.read, 'x'); t(m.write, b'x' * 5000); t(m.write_byte, 256); t(m.write_byte, -1); t(m.madvise, 99); t(m.madvise, 4, 3, 9); t(m.madvise, 4, 5000); t(m.madvise, 4, 0, -1); t(m.size); t(len, m); t(m.tell)
t(m.seek, 0, 2); t(m.read_byte); t(m.write_byte, 1); t(m.read, 5)
t(m.resize, 8192); t(len, m); t(repr, m)
v = memoryview(m); t(m.close); t(m.resize, 4096); v[0] = 7; t(m.__getitem__, 0); v.release(); del v
t(m.__setitem__, 0, -1); t(m.__setitem__, 0, None); t(m.__setitem__, slice(0, 2), 5)
m.close()
for f in m.read, lambda: repr(m), lambda: len(m), m.close, lambda: m.closed, m.__enter__, lambda: m[0], lambda: m.find(b'x'), m.size, lambda: list(m):
    t(f)
r = mmap.mmap(-1, 10, access=mmap.ACCESS_READ)
print(r); t(r.write, b'a'); t(r.__setitem__, 0, 1); t(r.resize, 5); t(r.move, 0, 1, 1); t(memoryview(r).__setitem__, 0, 1); t(r.write_byte, 1)
t(mmap.mmap); t(mmap.mmap, -1, -1); t(mmap.mmap, -1, 0); t(mmap.mmap, -1, 10, access=9); t(mmap.mmap, -1, 10, access=1, prot=1); t(mmap.mmap, -1, 10, offset=-1); t(mmap.mmap, 99, 10)
t(mmap.mmap, -1, 'a'); t(mmap.mmap, -1, 10, offset=5)
f = tempfile.TemporaryFile(); f.write(b'hello world\nabc\n'); f.flush()
t(mmap.mmap, f.fileno(), 100); t(mmap.mmap, f.fileno(), 0, offset=4096)
q = mmap.mmap(f.fileno(), 0)
print(q, q[:], q.readline(), q.read(2), q.tell(), q.find(b'o'), q.rfind(b'o'), q.find(b'o', -14), q.find(b'o', 0, 3), q.rfind(b'o', 0, 8), list(q)[:3], b'lo' in q, b'l' in q, 104 in q)
e = tempfile.TemporaryFile(); t(mmap.mmap, e.fileno(), 0)
t(lambda: q + q); t(lambda: q == q); t(bytes, q)
t(q.readline); t(q.readline); t(q.seek, -3, 2); t(q.read); t(q.read, -1); t(lambda: q[::2]); t(lambda: q[::-1]); t(q.__setitem__, slice(0, 4, 2), b'XY'); t(lambda: q[:])
q.seek(0); q.write(b'J'); q.move(5, 0, 3); q.flush(); print(os.pread(f.fileno(), 99, 0))
q.resize(20); print(q.size(), os.fstat(f.fileno()).st_size, q[-5:])
p = mmap.mmap(f.fileno(), 5, access=mmap.ACCESS_COPY); p[0] = 65; print(p, p[:], os.pread(f.fileno(), 5, 0)); t(p.resize, 3); t(p.flush)
class Sub(mmap.mmap):
    def twice(self): return len(self) * 2
with Sub(-1, 100) as s:
    s[:5] = b'abcde'
    print(s.twice(), s[:5], bytes(memoryview(s)[1:3]))
print(s.closed)
