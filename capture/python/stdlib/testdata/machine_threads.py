import queue, signal, threading, time
from concurrent.futures import ThreadPoolExecutor

n, lock, seen = 0, threading.Lock(), []


def count():
    global n
    for _ in range(1000):
        with lock:
            n += 1


threads = [threading.Thread(target=count, name=f't{i}') for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(n, [t.name for t in threads], [t.is_alive() for t in threads], threading.active_count())
q = queue.Queue(2)


def produce():
    for i in range(5): q.put(i)
    q.put(None)


threading.Thread(target=produce).start()
while (x := q.get()) is not None: seen.append(x)
print(seen)
e = threading.Event()
threading.Timer(0.01, e.set).start()
print(e.wait(5), lock.acquire(timeout=0.01), lock.acquire(blocking=False), lock.locked())
lock.release()
r = threading.RLock()
with r, r: print(r._is_owned())
try: r.release()
except RuntimeError as x: print(x)
c, got = threading.Condition(), []


def wait():
    with c:
        c.wait_for(lambda: got)
        got.append('woken')


w = threading.Thread(target=wait)
w.start()
with c:
    got.append('told')
    c.notify_all()
w.join()
print(got)
local = threading.local()
local.x = 'main'
t = threading.Thread(target=lambda: seen.append(hasattr(local, 'x')))
t.start(), t.join()
print(seen[-1], local.x, local.__dict__)
with ThreadPoolExecutor(3) as pool:
    print(list(pool.map(lambda x: x * x, range(6))), pool.submit(divmod, 7, 2).result())
    print(repr(pool.submit(lambda: 1 / 0).exception()))
b = threading.Barrier(2)
t = threading.Thread(target=b.wait)
t.start()
print(b.wait() in (0, 1), b.broken)
t.join()
try: threading.Thread.start(t)
except RuntimeError as x: print(x)
caught = []
signal.signal(signal.SIGUSR1, lambda s, f: caught.append((signal.Signals(s).name, f is not None)))
signal.raise_signal(signal.SIGUSR1)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.signal(signal.SIGALRM, lambda *a: caught.append('alarm'))
end = time.monotonic() + 5
while len(caught) < 2 and time.monotonic() < end: time.sleep(0.005)
print(caught, signal.strsignal(9), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
