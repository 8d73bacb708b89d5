"""pprint, uuid, queues and what threads share. Every part runs alone."""
PARTS = r'''
import pprint
d = {"b": [1, 2, {"c": "x" * 30, "a": (1, 2)}], "a": {3, 1, 2}, "long": list(range(40)), "s": "word " * 30, "n": None, "t": (1,)}
pprint.pprint(d); pprint.pprint(d, width=40, compact=True); pprint.pprint(d, depth=1, indent=4); print(pprint.pformat([1, 2]), pprint.pformat({"z": 1, "a": 2}, sort_dicts=False), pprint.isreadable([1]), pprint.isrecursive([1]), pprint.saferepr({2: 1, 1: 2}))
l = [1]; l.append(l); print(pprint.pformat(l).split("id=")[0]); pprint.pp({"b": 1, "a": 2})
import collections, dataclasses, types
pprint.pprint(collections.OrderedDict(a=1, b="x" * 80)); pprint.pprint(collections.Counter("aab" * 10)); pprint.pprint(collections.defaultdict(list, {"k": ["v" * 40, "w" * 40]})); pprint.pprint(collections.deque(["q" * 40, "r" * 40]))
@dataclasses.dataclass
class P:
    name: str
    items: list
pprint.pprint(P("n" * 40, ["i" * 40])); pprint.pprint(types.SimpleNamespace(a="x" * 50, b="y" * 50)); pprint.pprint(b"bytes " * 20); pprint.pprint([("a" * 20, "b" * 20, "c" * 20, "d" * 20)])
---
import uuid
u = uuid.UUID("12345678-1234-5678-1234-567812345678")
print(u, repr(u), u.hex, u.int, u.bytes, u.urn, u.version, u.variant, u.fields, u.node, u.time_low, uuid.uuid5(uuid.NAMESPACE_DNS, "python.org"), uuid.uuid3(uuid.NAMESPACE_URL, "x"), uuid.UUID(int=5), uuid.UUID(bytes=b"\1" * 16), u == uuid.UUID(u.hex), hash(u) == hash(uuid.UUID(u.hex)), u < uuid.UUID(int=2**127), uuid.uuid4().version, uuid.UUID("{" + str(u) + "}"))
for f in (lambda: uuid.UUID("x"), lambda: uuid.UUID(), lambda: uuid.UUID(int=-1), lambda: uuid.UUID(bytes=b"a"), lambda: setattr(u, "int", 3)):
    try: f()
    except Exception as e: print(type(e).__name__, e)
---
import queue, threading
q = queue.Queue(2); q.put(1); q.put(2)
try: q.put(3, block=False)
except queue.Full as e: print("full", repr(e))
print(q.get(), q.get(), q.empty(), q.qsize(), q.full())
try: q.get_nowait()
except queue.Empty as e: print("empty")
try: q.get(timeout=0.01)
except queue.Empty as e: print("empty2")
p = queue.PriorityQueue(); [p.put(x) for x in (3, 1, 2)]; print([p.get() for _ in range(3)]); l = queue.LifoQueue(); l.put(1); l.put(2); print(l.get()); s = queue.SimpleQueue(); s.put(4); print(s.get(), s.qsize()); q.put(1); q.get(); q.task_done()
try:
    for _ in range(9): q.task_done()
except ValueError as e: print(e)
lk = threading.Lock(); print(lk.acquire(), lk.locked(), lk.acquire(False), lk.release(), lk.locked())
try: lk.release()
except RuntimeError as e: print(e)
r = threading.RLock()
with r:
    with r: print("re")
try: r.release()
except RuntimeError as e: print(e)
loc = threading.local(); loc.x = 1
def w(): print(hasattr(loc, "x")); loc.x = 2
t = threading.Thread(target=w, name="W"); t.start(); t.join(); print(loc.x, t.name, t.is_alive(), t.daemon, threading.current_thread().name, threading.main_thread() is threading.current_thread(), threading.active_count())
e = threading.Event(); print(e.is_set(), e.wait(0.01), e.set(), e.wait(), e.clear()); s = threading.Semaphore(1); print(s.acquire(), s.acquire(blocking=False), s.release()); b = threading.BoundedSemaphore(1)
try: b.release()
except ValueError as e: print(e)
c = threading.Condition()
with c: print(c.wait(0.01), c.notify_all())
class T(threading.Thread):
    def run(self): self.r = 5
t = T(daemon=True); t.start(); t.join(); print(t.r, t.daemon)
try: t.start()
except RuntimeError as e: print(e)
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as ex: print(list(ex.map(lambda x: x * 2, [1, 2])), ex.submit(pow, 2, 3).result(), ex.submit(lambda: 1 / 0).exception())
'''

for i, part in enumerate(PARTS.strip("\n").split("\n---\n")):
    print("##", i)
    try:
        exec(compile(part, "<part %d>" % i, "exec"), {"__name__": "__main__"})
    except BaseException as e:
        print("!!", type(e).__name__, e)
