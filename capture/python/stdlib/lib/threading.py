"""One thread: start() runs the target to its end."""


class Lock:
    def __init__(self): self._l = False

    def acquire(self, blocking=True, timeout=-1):
        if self._l:
            if not blocking or timeout >= 0:
                return False
            raise RuntimeError('deadlock: the lock is held and there is one thread only')
        self._l = True
        return True

    def release(self):
        if not self._l:
            raise RuntimeError('release unlocked lock')
        self._l = False

    def locked(self): return self._l
    def __enter__(self): return self.acquire()
    def __exit__(self, *a): self.release()


class RLock:
    def __init__(self): self._n = 0

    def acquire(self, blocking=True, timeout=-1):
        self._n += 1
        return True

    def release(self):
        if self._n == 0:
            raise RuntimeError('cannot release un-acquired lock')
        self._n -= 1

    def __enter__(self): return self.acquire()
    def __exit__(self, *a): self.release()


class local:
    """Attributes of which every thread has its own."""
    def __new__(cls, *args, **kw):
        self = object.__new__(cls)
        object.__setattr__(self, '_local', ({}, args, kw))
        return self

    def __getattribute__(self, name):
        dicts, args, kw = object.__getattribute__(self, '_local')
        who = current_thread()
        if who not in dicts:
            dicts[who] = {'_local': (dicts, args, kw)}
            if len(dicts) > 1:
                own = dicts[who]
                object.__setattr__(self, '__dict__', own)
                type(self).__init__(self, *args, **kw)
        object.__setattr__(self, '__dict__', dicts[who])
        return object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        self.__dict__
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self.__dict__
        object.__delattr__(self, name)


class Event:
    def __init__(self): self._f = False
    def is_set(self): return self._f
    isSet = is_set
    def set(self): self._f = True
    def clear(self): self._f = False
    def wait(self, timeout=None): return self._f


class Condition:
    def __init__(self, lock=None): self._lock = lock or RLock()
    def __enter__(self): return self._lock.__enter__()
    def __exit__(self, *a): return self._lock.__exit__(*a)
    def acquire(self, *a): return self._lock.acquire(*a)
    def release(self): self._lock.release()
    def wait(self, timeout=None): return timeout is None # nobody else runs: what is waited for does not come
    def wait_for(self, predicate, timeout=None): return predicate()
    def notify(self, n=1): pass
    def notify_all(self): pass


class Semaphore:
    def __init__(self, value=1): self._v = value

    def acquire(self, blocking=True, timeout=None):
        if self._v > 0:
            self._v -= 1
            return True
        return False

    def release(self, n=1): self._v += n
    def __enter__(self): return self.acquire()
    def __exit__(self, *a): self.release()


class BoundedSemaphore(Semaphore):
    def __init__(self, value=1):
        super().__init__(value)
        self._initial_value = value

    def release(self, n=1):
        if self._v + n > self._initial_value:
            raise ValueError("Semaphore released too many times")
        super().release(n)


_count = 0


class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        global _count
        _count += 1
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self.name, self.daemon, self.ident, self._started = name or f'Thread-{_count}', bool(daemon), None, False
        self.native_id = None

    def start(self):
        if self._started:
            raise RuntimeError('threads can only be started once')
        self._started = True
        self.ident = 1 + _count
        _running.append(self)
        try:
            self.run()
        except SystemExit:
            pass
        except BaseException:
            import traceback, sys
            sys.stderr.write(f'Exception in thread {self.name}:\n')
            traceback.print_exc()
        finally:
            _running.remove(self)

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def join(self, timeout=None): pass
    def is_alive(self): return self in _running
    def getName(self): return self.name
    def setName(self, n): self.name = n


class Timer(Thread):
    def __init__(self, interval, function, args=None, kwargs=None): super().__init__(target=function, args=args or (), kwargs=kwargs)
    def cancel(self): self._target = None


class _Main(Thread):
    def __init__(self):
        super().__init__(name='MainThread')
        self.ident = self.native_id = 1

    def is_alive(self): return True


_main = _Main()
_running = [_main] # a thread runs when it is started, to its end; the last is the one that runs now


def current_thread(): return _running[-1]
currentThread = current_thread
def main_thread(): return _main
def get_ident(): return _running[-1].ident
def get_native_id(): return 1
def active_count(): return len(_running)
def enumerate(): return list(_running)
def stack_size(n=0): return 0
def settrace(f): pass
def setprofile(f): pass


TIMEOUT_MAX = 1e9
ThreadError = RuntimeError
excepthook = None
