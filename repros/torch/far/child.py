"""One job in a process of its own."""
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

from .fresh import fresh
from .marks import Page
from .outcome import STAGES
from .process import PR_SET_PDEATHSIG, kill, limit, prctl
from .spent import Spent, time_compiler
from .wire import pack, unpack, write_all

GROWTH = 64 << 20  # bytes in a second; a hang takes none
IDLE = 10  # how nice a job is that takes what others leave of the processors


def settle_in(output):
    """In a child: it leads a process group of its own, and prints to the file output."""
    os.setpgid(0, 0)
    for fd in (1, 2):
        os.dup2(output, fd)
    sys.stdout = sys.stderr = open(1, "w", buffering=1, errors="replace", closefd=False)


def be_fresh(fds):
    """In a Python of the nursery: it waits for its orders."""
    orders, answers, output = fds
    try:
        settle_in(output)
        fresh(orders, answers)
    except BaseException:
        traceback.print_exc()


class Child:
    """One job in a process of its own."""

    def __init__(self, server, job):
        self.job, self.marks, self.buffer = job, [], bytearray()
        self.began = self.since = time.monotonic()
        self.times = {}
        self.spent = Spent()
        self.known = None  # after how many seconds it was known how the job ends; what follows only says where
        self.compiling = None  # since when it compiles something, None: it does not
        self.peak = 0
        self.heights = []  # (time, peak) of the last second
        self.page = Page()  # where it was last
        self.steps = set()  # that it came to
        self.choices = []  # that it was asked about
        self.output = tempfile.TemporaryFile(dir=server.tmp)
        self.pid = self.pipe = self.orders = self.home = None

    def grows(self):
        """Whether it takes more and more memory: then the memory's limit is to end it, for the same reason every time."""
        now = time.monotonic()
        self.heights.append((now, self.peak))
        while now - self.heights[0][0] > 1:
            del self.heights[0]
        return self.peak - self.heights[0][1] > GROWTH

    def compiles(self, begins):
        """Notes that compiling begins or ends. What is compiled while the graph runs, a second graph or the backward, is none of the run's time."""
        now = time.monotonic()
        if not begins and self.compiling is not None and self.stage() == "run":
            self.since += now - max(self.since, self.compiling)
        self.compiling = now if begins else None

    def fork(self, server, work):
        """Starts a child that does work(job, mark); mark.compiling(begins) says when it compiles, mark.known() that it is known how it
        ends; mark.compilers(begins) when compilers run for it; mark.build(wish) waits for a library of the pool: False where there will be none;
        mark.page is for marks of where it is, mark.step(name) says that it comes to a step, and mark.end(result) ends it."""
        replies, self.orders = os.pipe()

        def run(fd):
            os.close(self.orders)
            server.leave()
            limit(self.job.get("limits") or {})
            if self.job.get("idle"):
                os.nice(IDLE)
            nonce = self.job.get("nonce")

            def say(**message):
                write_all(fd, pack({"nonce": nonce, **message}))

            def mark(name):
                say(mark=name)
            mark.compiling = lambda begins: say(compiling=begins)
            mark.compilers = lambda begins: say(compilers=begins)
            mark.known = lambda: say(known=True)

            def build(wish):
                say(build=wish, compilers=True)
                built = receive(replies)["built"]
                say(compilers=False)
                return built
            mark.build = build
            time_compiler(say)
            mark.page = self.page
            mark.choice = lambda choice: say(choice=choice)
            mark.step = lambda name: say(step=name)

            def end(result):
                say(result=result)
                sys.stdout.flush()
                os._exit(0)
            mark.end = end
            say(result=work(self.job, mark))

        self.start(run)
        os.close(replies)
        return self

    def go_on(self, built, waited):
        """Ends its wait for a library. That is none of the time that its stage may take."""
        self.since += waited
        if self.compiling is not None:
            self.compiling += waited
        with contextlib.suppress(OSError):  # it died meanwhile
            write_all(self.orders, pack({"built": built}))

    def wait_for_orders(self, server, nursery):
        """Starts a Python that ran nothing before, which gets its job later: see order. The nursery forks it; where that is None it is a new one. An
        OSError says that there is none to be had."""
        r, self.orders = os.pipe()
        if nursery is None:
            def run(fd):
                for keep in (r, fd):
                    os.set_inheritable(keep, True)
                os.execv(sys.executable, [sys.executable, server.source, "fresh", str(r), str(fd)])

            self.start(run)
            os.close(r)
            return
        self.pipe, w = os.pipe()
        try:
            self.pid = nursery.fork(r, w, self.output.fileno())
        finally:
            os.close(r)
            os.close(w)

    def order(self, job):
        self.job, self.home = job, job["home"]
        self.began = self.since = time.monotonic()
        self.spent = Spent()
        write_all(self.orders, pack(job))
        os.close(self.orders)
        self.orders = None

    def start(self, run):
        r, w = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                os.close(r)
                settle_in(self.output.fileno())
                run(w)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(w)
        with contextlib.suppress(OSError):
            os.setpgid(self.pid, self.pid)
        self.pipe = r

    def stage(self):
        return STAGES[min(len(self.marks), 4)]

    def tail(self, most=16384):
        """The end, and where that is long the beginning, of what the child printed."""
        size = os.fstat(self.output.fileno()).st_size
        if size <= most:
            return os.pread(self.output.fileno(), most, 0).decode(errors="replace")
        head = os.pread(self.output.fileno(), 4096, 0)
        return (head + b"\n...\n" + os.pread(self.output.fileno(), most - 4096, size - most + 4096)).decode(errors="replace")

    def end(self):
        """Kills what is left of the job. Nothing is waited for: see gone. What it started in other groups comes to the far side when it is gone."""
        if self.pid is not None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            kill(self.pid)
        for fd in (self.pipe, self.orders):
            if fd is not None:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self.pipe = self.orders = None
        self.output.close()

    def gone(self, wait=False):
        """Whether its first process, which was killed, is gone, and with it what it had on disk: until then it may have written there."""
        if self.pid is not None:
            with contextlib.suppress(OSError):
                if not os.waitpid(self.pid, 0 if wait else os.WNOHANG)[0]:
                    return False
            self.pid = None
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)
        return True


def receive(fd):
    """The next message from a pipe."""
    buffer = bytearray()
    while True:
        buffer += os.read(fd, 1 << 16) or sys.exit(1)
        message = unpack(buffer)
        if message is not None:
            return message
