"""Processes: what Linux tells of them, what it holds them to, and how they end."""
import contextlib
import ctypes
import fcntl
import os
import resource
import select
import signal
import traceback


def prctl(option, value):
    with contextlib.suppress(Exception):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def resident(pid):
    """Bytes of memory that a process holds; 0 where that cannot be told."""
    try:
        with open("/proc/%d/statm" % pid) as f:
            return int(f.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def descendants(root):
    """The processes below root, from /proc; empty where there is none."""
    below = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as f:
                text = f.read()
        except OSError:
            continue
        below.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(name))
    found, todo = [], [root]
    while todo:
        for pid in below.get(todo.pop(), []):
            found.append(pid)
            todo.append(pid)
    return found


def kill(pid):
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def limit(limits):
    """What the kernel itself holds a child to."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limits.get("cpu"):
        cpu = int(limits["cpu"]) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    if limits.get("memory"):
        with open("/proc/self/statm") as f:
            size = int(f.read().split()[0]) * resource.getpagesize()
        size += int(limits["memory"])
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


@contextlib.contextmanager
def hung_up(fd, end):
    """Calls end() when nobody holds the other end of fd any more, in the midst of a body that does not read from it."""
    poll = select.poll()
    poll.register(fd, select.POLLRDHUP)

    def look(*_):
        if poll.poll(0):
            end()

    signal.signal(signal.SIGIO, look)
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_ASYNC)
    try:
        look()  # it may have been before this
        yield
    finally:
        fcntl.fcntl(fd, fcntl.F_SETFL, flags)
        signal.signal(signal.SIGIO, signal.SIG_IGN)


def background(server, f):
    """Runs f in a process beside; its exit status is 0 for a true result."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            server.leave()
            code = 0 if f() else 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    server.helpers.add(pid)
    return pid


def finished(server, pid):
    try:
        return os.waitpid(pid, 0)[1]
    except OSError:
        return 1
    finally:
        server.helpers.discard(pid)
