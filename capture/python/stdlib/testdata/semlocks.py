# The semaphores and the shared memory on which multiprocessing stands, in one process.
import _multiprocessing, _posixshmem, os, mmap, threading, sys
from _multiprocessing import SemLock

def t(f, *a, **k):
    try:
        print(f(*a, **k))
    except BaseException as e:
        print(type(e).__name__, e)

name = '/wh-test-%d' % os.getpid()
s = SemLock(1, 2, 2, name, False)
print(s.kind, s.maxvalue, s.name == name, s._count(), s._is_mine(), s._get_value(), s._is_zero(), s.SEM_VALUE_MAX)
t(SemLock, 1, 1, 1, name, True)
other = SemLock._rebuild(0, 1, 2, name)
print(s.acquire(), other._get_value(), other.acquire(), s._is_zero(), s.acquire(False), s.acquire(True, 0.05), s.acquire(block=True, timeout=-1), s._count(), other._count())
t(other.release); t(s.release); t(s.release); t(s._after_fork); print(s._count())
t(_multiprocessing.sem_unlink, name); t(_multiprocessing.sem_unlink, name)
r = SemLock(0, 1, 1, name, True)
print(r.name, r.acquire(), r.acquire(), r._count(), r._is_mine())
out = []
def other_thread():
    out.append((r.acquire(False), r.acquire(timeout=0.01), r._is_mine()))
    try: r.release()
    except AssertionError as e: out.append(str(e))
th = threading.Thread(target=other_thread); th.start(); th.join()
print(out); t(r.release); t(r.release); t(r.release)
with r as x: print(x, r._count())
print(r._count())
th = threading.Thread(target=lambda: (r.acquire(), out.append('got'), r.release()))
with r:
    th.start()
th.join(); print(out[-1])
t(SemLock, 5, 1, 1, name, True); t(SemLock); t(SemLock, 1, 1, 1, 5, True); t(setattr, r, 'kind', 1); t(r.acquire, 'a', 'b')
fd = _posixshmem.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
os.ftruncate(fd, 100)
try: _posixshmem.shm_open(name, flags=os.O_CREAT | os.O_EXCL)
except OSError as e: print(type(e).__name__, e.errno, e.filename == name)
with mmap.mmap(fd, 100) as m: m[:3] = b'abc'
g = _posixshmem.shm_open(name, os.O_RDONLY); print(os.read(g, 3), os.get_inheritable(g)); os.close(g); os.close(fd)
t(_posixshmem.shm_unlink, name)
try: _posixshmem.shm_unlink(name)
except OSError as e: print(type(e).__name__, e.errno, e.filename == name)
