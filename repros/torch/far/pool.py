"""Which of the children may work, and what they have compiled together.

A small kernel costs the start of the C++ compiler and the header that every kernel begins with, half a second, and next to nothing of its own. So a
child that needs a library asks for it and waits, and what has come together when nobody works any more is one compilation (see joined). Where
that fails each compiles for itself, as if it had never asked: what a compiler says of a kernel, it has said of that kernel alone.
"""
import collections
import contextlib
import os
import shlex
import signal
import threading
import time

from .joined import compile_joined, uses_vectors
from .process import background

PATIENCE = 0.5  # seconds after its beginning in which a job most often asks, if it does
LONGEST = 20  # seconds of one compilation for several: alone, each has limits of its own
WORTH_TWO = 4  # from how many kernels on two compilations at a time take less than one
WORTH_WAITING = 8  # and from how many on jobs that could run meanwhile wait for the second
MOST_FAILURES = 2  # of compilations for several; then each is for itself, as errors of the compiler are most likely what is looked for


class Pool:
    """Begins jobs while fewer than slots work, and compiles for children that wait."""

    def __init__(self, server):
        self.server, self.slots = server, 1
        self.todo = collections.deque()  # jobs, with what begins them
        self.begun = set()  # of jobs, by their texts
        self.requests = []
        self.builds = []
        self.failures = 0

    def later(self, job, begin):
        """Begins a job when it may. What it says of slots holds from now on."""
        self.slots = job.get("slots") or len(os.sched_getaffinity(0))
        self.todo.append((job, begin))
        self.turn()

    def forget(self, id):
        """Takes a job off that has not begun. False where there is none."""
        kept = [entry for entry in self.todo if entry[0]["id"] != id]
        found = len(kept) < len(self.todo)
        self.todo = collections.deque(kept)
        return found

    def request(self, child, wish):
        self.requests.append(Request(child, wish))

    def working(self):
        """The children that wait for no library; none of those that take only what others leave of the processors."""
        waiting = {r.child for r in self.requests}
        return [c for c in self.server.children.values() if c not in waiting and not c.job.get("idle")]

    def busy(self):
        return len(self.builds) + len(self.working())

    def expects(self):
        """Whether a job that has just begun may ask, too: a compilation that does not wait for it is for one kernel less, and on one core less."""
        now = time.monotonic()
        return any(c.job.get("op") == "run" and now - c.began < PATIENCE for c in self.working())

    def turn(self):
        """Does what can be done now."""
        alive = set(self.server.children.values())
        self.requests = [r for r in self.requests if r.child in alive]
        for build in self.builds:
            build.watch()
        open = [r for r in self.requests if not r.under_way]
        while self.busy() < self.slots:
            entry = self.next(bool(open))
            if entry is None:
                break
            self.begin(*entry)
        free = self.slots - self.busy()
        if open and free > 0 and not self.expects():
            self.compile(open, free)

    def next(self, waited):
        """The job that begins next; None for none. Where children wait for libraries, those that run again what has them come later."""
        for entry in self.todo:
            if not waited or hash(entry[0].get("text")) not in self.begun:
                return entry

    def begin(self, job, begin):
        self.todo.remove((job, begin))
        self.begun.add(hash(job.get("text")))
        begin()

    def compile(self, requests, free):
        """Begins free compilations at most."""
        kinds = {}
        for r in requests:
            kinds.setdefault(id(r) if r.alone or self.failures >= MOST_FAILURES else r.flags, []).append(r)
        kinds = list(kinds.values())
        while len(kinds) < free and max(len(kind) for kind in kinds) >= (WORTH_WAITING if self.todo else WORTH_TWO):
            kinds.sort(key=len)
            largest = sorted(kinds.pop(), key=lambda r: r.vectors)  # the header for kernels without vectors takes less time
            kinds += [largest[:len(largest) // 2], largest[len(largest) // 2:]]
        for kind in kinds[:free]:
            if len(kind) == 1 and (kind[0].alone or self.failures >= MOST_FAILURES):
                self.go_on(kind[0], False)
            else:
                self.builds.append(Build(self.server, kind))

    def clear(self):
        """Forgets all, after those who asked are gone."""
        for build in self.builds:
            build.kill()
            build.end()
        self.todo.clear()
        self.begun.clear()
        self.requests, self.builds, self.failures = [], [], 0

    def go_on(self, request, built):
        self.requests.remove(request)
        request.child.go_on(built, time.monotonic() - request.since)

    def finished(self, build):
        """Takes the end of a compilation."""
        self.builds.remove(build)
        good = build.end()
        self.failures += not good
        for r in build.requests:
            r.under_way, r.alone = False, True
            if good and r in self.requests:
                self.go_on(r, True)


class Request:
    """A child's wish for a library."""

    def __init__(self, child, wish):
        self.child, self.source, self.output, self.command = child, wish["source"], wish["output"], wish["command"]
        self.flags = tuple(w for w in self.command if w not in (self.source, self.output))
        self.since, self.under_way, self.alone = time.monotonic(), False, False
        self.vectors = uses_vectors(self.source)


class Build:
    """A process that compiles for several requests."""

    def __init__(self, server, requests):
        self.requests, self.began = requests, time.monotonic()
        for r in requests:
            r.under_way = True
        self.pipe, w = os.pipe()

        def work():
            os.setpgid(0, 0)
            done = compile_joined(list({r.output: (r.source, r.output) for r in requests}.values()), requests[0].command) == ""
            os.write(w, b"done" if done else b"no")
            return done
        self.pid = background(server, work)
        os.close(w)

    def watch(self):
        if time.monotonic() - self.began > LONGEST:
            self.kill()

    def kill(self):
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self):
        """Ends the process. True where all libraries are there."""
        good = os.read(self.pipe, 16) == b"done"
        self.kill()
        os.close(self.pipe)
        return good


def ask_for_libraries(mark):
    """In a child: has the pool compile what Inductor is about to have compiled, where others may share in it. Before Inductor takes its lock, for
    which another child may be waiting that wants the same."""
    from torch._inductor import codecache
    alone = codecache._worker_compile_cpp

    def compile(lock, builders, *more):
        one = builders if not isinstance(builders, (list, tuple)) else builders[0] if len(builders) == 1 else None
        wish = library(shlex.split(one.get_command_line())) if one is not None else None
        if wish is not None and not os.path.exists(wish["output"]):
            mark.build(wish)
        return alone(lock, builders, *more)
    codecache._worker_compile_cpp = compile


def library(words):
    """What a command that makes a library of one source reads and writes; None for other commands, and on threads: a process that compiles on
    several has what it needs sooner by itself, and could not tell whom an answer is for."""
    if threading.current_thread() is not threading.main_thread():
        return None
    sources = [w for w in words if w.endswith(".cpp")]
    if len(sources) != 1 or "-shared" not in words or "-o" not in words[:-1]:
        return None
    return {"source": sources[0], "output": words[words.index("-o") + 1], "command": words}
