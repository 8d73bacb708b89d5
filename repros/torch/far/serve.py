"""The far side of the torch engine: a parent that has torch imported and warmed, and forks a child for each job.

It is fed to a Python on standard input and talks in frames (see wire). Every job, also one that is cancelled, is answered once. The parent
never runs anything of a candidate; whatever a child does to itself, the parent goes on.
"""
import base64
import contextlib
import fcntl
import gc
import glob
import os
import re
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback

from .child import Child, be_fresh
from .code import code
from .diverge import diverge
from .explore import elements, explore, export
from .headers import precompile
from .keep import OPS, Kept
from .measure import measure
from .nursery import Nursery
from .outcome import out_of_memory, outcome, stopped
from .pages import Pages
from .pool import Pool
from .process import PR_SET_CHILD_SUBREAPER, background, descendants, hung_up, kill, prctl, resident
from .run import query
from .steps import before
from .warm import warm, warm_compile
from .wire import pack, unpack, write_all

MAX_HELD = 8 << 30  # bytes of storages, if whittle does not say: those unused for longest go, and are handed over again when they are asked for
PREFIX = "whittle-torch-"
FLAGS = re.compile(r"^torch\._inductor\.config\.(?:cpp|aot_inductor)\..*", re.M)  # settings that flags of the C++ compiler depend on


def sweep():
    """Removes folders whose owner was killed: nobody holds their lock any more."""
    for home in glob.glob(os.path.join(tempfile.gettempdir(), PREFIX + "*")):
        with contextlib.suppress(OSError):
            with open(os.path.join(home, "lock")) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.getmtime(lock.name) < time.time() - 1:  # an owner takes its lock at once
                    shutil.rmtree(home, ignore_errors=True)


class Server:
    """The parent's loop: jobs come in, children answer, limits are watched."""

    def __init__(self, fd_in, fd_out, source):
        self.fd_in, self.fd_out = fd_in, fd_out
        sweep()
        self.tmp = tempfile.mkdtemp(prefix=PREFIX)
        self.lock = open(os.path.join(self.tmp, "lock"), "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.parent = os.getpid()
        self.storages = os.path.join(self.tmp, "storages")
        os.mkdir(self.storages)
        self.most_held = MAX_HELD
        self.buffer = bytearray()
        self.children = {}
        self.ending = []  # children that were killed, until they are gone
        self.helpers = set()  # processes that make something ready, and that no job waits for
        self.nursery = None  # forks fresh Pythons
        self.kept = None  # a Kept, where one command comes after another
        self.pristine = True  # until something was compiled in this process
        self.facts = {}
        self.headers = set()  # the settings, as jobs' texts have them, for which the kernels' header is compiled
        self.pool = Pool(self)
        self.pages = Pages()
        self.source = os.path.join(self.tmp, "whittle_far-start.py")
        with open(self.source, "w") as f:
            f.write(source)

    def leave(self):
        """In a child: lets go of what is the parent's alone."""
        for fd in (self.fd_in, self.fd_out):
            with contextlib.suppress(OSError):
                os.close(fd)
        if self.nursery is not None:
            self.nursery.close()
        for child in list(self.children.values()):
            for fd in (child.pipe, child.orders):
                if fd is not None:
                    with contextlib.suppress(OSError):
                        os.close(fd)
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, signal.SIG_DFL)

    def send(self, **message):
        write_all(self.fd_out, pack(message))

    def loop(self):
        while True:
            fds = [self.fd_in] + [x.pipe for x in [*self.children.values(), *self.pool.builds]]
            settles = not self.pristine and self.pages.left()
            ready, _, _ = select.select(fds, [], [], 0 if settles else 0.05 if self.children or self.ending else 1.0)
            if settles and not ready:
                self.pages.turn()
            if self.fd_in in ready and not self.hear():
                return
            for child in list(self.children.values()):
                if child.pipe in ready:
                    self.listen(child)
            for build in list(self.pool.builds):
                if build.pipe in ready:
                    self.pool.finished(build)
            for child in list(self.children.values()):
                self.watch(child)
            self.pool.turn()
            self.reap()

    def hear(self):
        """Takes what whittle says. False when it said goodbye, or is gone."""
        data = os.read(self.fd_in, 1 << 20)
        if not data:
            return False
        self.buffer += data
        while True:
            message = unpack(self.buffer)
            if message is None:
                return True
            try:
                self.take(message.get("op"), message)
            except OSError as e:
                self.answer(message["id"], outcome("infrastructure", "%s: %s" % (message["op"], e)))

    def take(self, op, message):
        """Does a job, or begins it."""
        if op == "cancel":
            child = self.children.pop(message["id"], None)
            if child is not None:
                self.drop(child)
            if child is not None or self.pool.forget(message["id"]):
                self.answer(message["id"], outcome("infrastructure", "cancelled"))
            return
        missing = self.missing(message.get("needs") or [])
        if missing or op == "have":
            self.send(id=message["id"], missing=missing)
        elif op == "ping":
            self.answer(message["id"], {})
        elif op in OPS and self.kept is not None:
            self.answer(message["id"], OPS[op](self, message))
        elif op == "put":
            self.put(message)
            self.answer(message["id"], {})
        elif op == "run" and not message.get("idle"):
            self.pool.later(message, lambda: self.begin(op, message))
        elif op in JOBS or op == "fresh":
            self.begin(op, message)
        else:
            self.answer(message["id"], outcome("infrastructure", "no such operation: %r" % op))

    def begin(self, op, job):
        if op in JOBS:
            self.children[job["id"]] = Child(self, job).fork(self, JOBS[op](self))
            flags = tuple(FLAGS.findall(job["text"])) if op == "run" else None
            if op == "run" and flags not in self.headers:
                self.headers.add(flags)
                background(self, lambda: precompile(job["text"]))
            if op == "run" and self.pristine:
                self.pristine = False
                warm_compile()  # while the first child, which has to be its own pioneer, is at work
            return
        job = {**job, "home": tempfile.mkdtemp(dir=self.tmp), "held": self.storages, "isa_ok": self.facts.get("isa_ok", False)}
        for nursery in (self.nursery, None):
            child = Child(self, {})
            try:
                child.wait_for_orders(self, nursery)
                child.order(job)
            except OSError:  # there is none, or it died while it waited
                self.drop(child)
                if nursery is None:
                    raise
                continue
            self.children[job["id"]] = child
            return

    def path(self, hash):
        return os.path.join(self.storages, os.path.basename(hash))

    def missing(self, hashes):
        """Those that are not held. The others are used now."""
        out = []
        for hash in hashes:
            try:
                os.utime(self.path(hash))
            except OSError:
                out.append(hash)
        return out

    def put(self, message):
        path = self.path(message["hash"])
        part = path + ".part"
        with open(part, "ab" if message.get("more") else "wb") as f:
            f.write(base64.b64decode(message["data"]))
        if message.get("last"):
            os.rename(part, path)
            self.make_room({message["hash"]})

    def make_room(self, keep):
        """Lets go of the storages that were unused for longest, but not of those that a job works with."""
        keep = keep | {hash for child in self.children.values() for hash in child.job.get("needs") or []}
        held = []
        for entry in os.scandir(self.storages):
            with contextlib.suppress(OSError):
                held.append((entry.stat().st_mtime_ns, entry.stat().st_size, entry.name))
        over = sum(size for _, size, _ in held) - self.most_held
        for _, size, name in sorted(held):
            if over <= 0:
                return
            if name not in keep and "." not in name:  # what has a dot is being written
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(self.storages, name))
                    over -= size

    def answer(self, id, result, **more):
        self.send(id=id, result=result, **more)

    def listen(self, child):
        try:
            data = os.read(child.pipe, 1 << 20)
        except OSError:
            data = b""
        child.buffer += data
        try:
            while True:
                message = unpack(child.buffer)
                if message is None:
                    break
                if message.get("nonce") != child.job.get("nonce"):
                    raise ValueError("an answer without the query's nonce")
                if "mark" in message:
                    now = time.monotonic()
                    child.times[child.stage()] = now - child.since
                    child.since = now
                    child.marks.append(message["mark"])
                if "known" in message:
                    child.known = time.monotonic() - child.began
                if "build" in message:
                    self.pool.request(child, message["build"])
                if "step" in message:
                    child.steps.add(message["step"])
                if "choice" in message:
                    child.choices.append(message["choice"])
                if "compiling" in message:
                    child.compiles(message["compiling"])
                child.spent.heard(child, message)
                if "result" in message:
                    return self.done(child, message["result"])
        except (ValueError, UnicodeDecodeError) as e:
            return self.done(child, outcome("infrastructure", "rubbish on the pipe: %s" % e))
        if not data:
            self.died(child)

    def died(self, child):
        """The pipe is closed: the process is gone, or about to be, or closed it and lives on."""
        status = used = None
        for _ in range(200):
            with contextlib.suppress(OSError):
                pid, status, used = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
            status = None
            time.sleep(0.005)
        if status is None:
            return self.done(child, outcome("infrastructure", "the process closed its pipe"))
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
        else:
            name = "exit %d" % os.WEXITSTATUS(status)
        memory = (child.job.get("limits") or {}).get("memory")
        text = child.tail()
        if name == "SIGXCPU" or name == "SIGKILL" and cpu_used(child, used):
            return self.done(child, stopped(child, "timeout", "timeout", "the CPU time is used up"))
        if out_of_memory(text) or name == "SIGKILL" and memory and child.peak > 0.8 * memory:
            return self.done(child, stopped(child, "oom", "oom", "out of memory (%s)" % name))
        self.done(child, {**stopped(child, "killed", name, "the process ended with %s" % name), "killer": name})

    def watch(self, child):
        limits = child.job.get("limits") or {}
        if limits.get("memory"):
            child.peak = max(child.peak, resident(child.pid))
            if child.peak > limits["memory"] + self.facts.get("resident", 0):
                return self.done(child, stopped(child, "oom", "oom", "%d bytes resident" % child.peak))
        allowed, since = limits.get(child.stage()), child.since
        grows = child.grows()
        if child.stage() == "run" and child.compiling is not None:
            allowed, since = limits.get("compile"), child.compiling
        elif child.stage() == "run" and "eager" in child.times and limits.get("run_factor"):
            allowed = min(allowed or 1e9, max(limits["run_floor"], limits["run_factor"] * child.times["eager"]))
        if allowed and time.monotonic() - since > allowed and not grows:
            return self.done(child, stopped(child, "timeout", "timeout", "stage %s: not done after %.1f s" % (child.stage(), allowed)))

    def done(self, child, result):
        if self.children.get(child.job["id"]) is not child:
            return
        del self.children[child.job["id"]]
        if "status" in result:
            result["marks"] = child.marks
            result["seconds"] = time.monotonic() - child.began
            result["known"] = child.known or result["seconds"]
            result["times"] = child.times
            if (result.get("error") or result.get("signature") or {}).get("stage") == "compile":
                result["before"] = before(child.job, child.steps, result)
            result["choices"] = child.choices
            result["peak"] = max(0, child.peak - self.facts.get("resident", 0))
            result.setdefault("detail", "")
            if result["status"] != "pass":
                result["detail"] = (result["detail"] + "\n" + child.tail()).strip()
        self.drop(child)
        if "values" in result:
            self.make_room(set())
        child.spent.turn(child)
        self.answer(child.job["id"], result, spent=child.spent.seconds)

    def drop(self, child):
        """Ends a child that nothing is wanted of any more. It takes a while until it is gone: its memory is taken apart."""
        child.end()
        self.ending.append(child)

    def reap(self):
        """Ends processes that a dead child left to us, and collects the dead and the helpers."""
        self.ending = [c for c in self.ending if not c.gone()]
        known = {c.pid for c in [*self.children.values(), *self.ending]} | self.helpers
        for pid in list(self.helpers):
            with contextlib.suppress(OSError):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    self.helpers.discard(pid)
        try:
            with open("/proc/self/task/%d/children" % os.getpid()) as f:
                mine = [int(x) for x in f.read().split()]
        except OSError:
            return
        for pid in mine:
            if pid not in known:
                for p in descendants(pid):
                    kill(p)
                kill(pid)
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)

    def end(self):
        """Ends this process and what it made."""
        self.close()
        os._exit(0)

    def close(self):
        for child in list(self.children.values()):
            self.drop(child)
        for child in self.ending:
            child.gone(wait=True)
        for build in self.pool.builds:
            build.kill()
        for pid in descendants(os.getpid()):
            kill(pid)
        shutil.rmtree(self.tmp, ignore_errors=True)


def cpu_used(child, used):
    """Whether a child that was killed had used up its CPU time; used is what it and its own children did."""
    limits = child.job.get("limits") or {}
    return bool(limits.get("cpu")) and used.ru_utime + used.ru_stime > limits["cpu"] and time.monotonic() - child.began > limits["cpu"] / 4


JOBS = {"run": query, "explore": explore, "elements": elements, "export": export, "diverge": diverge, "code": code, "measure": measure}


def main(source):
    """Serves until its input ends. source is the text of all of this, for Pythons that are started anew."""
    gc.disable()  # imports make millions of objects that stay, and children are short
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    fd_in, fd_out = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    server = Server(fd_in, fd_out, source)
    try:
        hello = read_hello(server)
        begin = time.monotonic()
        with hung_up(server.fd_in, server.end):
            server.facts = warm(server, hello.get("facts") or {})
        server.most_held = (hello.get("facts") or {}).get("held") or MAX_HELD
        if (hello.get("facts") or {}).get("home"):
            server.kept = Kept(hello["facts"]["home"])
        server.facts["resident"] = resident(os.getpid())
        gc.freeze()
        server.nursery = Nursery(server, be_fresh)
        server.helpers.add(server.nursery.pid)
        server.send(id=0, result={**server.facts, "seconds": time.monotonic() - begin, "tmp": server.tmp, "pid": os.getpid()})
        server.loop()
    except Exception:
        traceback.print_exc()  # of a torch that cannot be imported, say; the end below is silent
    finally:
        if os.getpid() == server.parent:
            server.end()


def read_hello(server):
    while True:
        data = os.read(server.fd_in, 1 << 16)
        if not data:
            sys.exit(0)
        server.buffer += data
        message = unpack(server.buffer)
        if message is not None:
            return message
