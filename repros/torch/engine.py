"""The far side of the torch engine: a parent that has torch imported and warmed, and forks a child for each job.

It is fed to a Python on standard input and talks in frames: four bytes of length, big endian, then JSON. Every job, also one that
is cancelled, is answered once. The parent never runs anything of a candidate; whatever a child does to itself, the parent goes on.
"""
import ast
import base64
import contextlib
import copy
import ctypes
import fcntl
import functools
import gc
import glob
import hashlib
import json
import linecache
import os
import re
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback

MAX_FRAME = 1 << 30
MAX_HELD = 8 << 30  # bytes of storages, if whittle does not say: those unused for longest go, and are handed over again when they are asked for
STAGES = ("load", "eager", "compile", "run", "compare")
MARKS = ("loaded", "eager", "compiled", "ran")


# Frames.

def pack(message):
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body


def unpack(buffer):
    """The first whole message of a bytearray, which is taken off it; None while there is none. Rubbish is a ValueError."""
    if len(buffer) < 4:
        return None
    size = struct.unpack(">I", buffer[:4])[0]
    if size > MAX_FRAME:
        raise ValueError("a frame of %d bytes" % size)
    if len(buffer) < 4 + size:
        return None
    body = bytes(buffer[4:4 + size])
    del buffer[:4 + size]
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError("a frame that is no object")
    return message


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


# Processes.

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


GROWTH = 64 << 20  # bytes in a second; a hang takes none


class Child:
    """One job in a process of its own."""

    def __init__(self, server, job):
        self.job, self.marks, self.buffer = job, [], bytearray()
        self.began = self.since = time.monotonic()
        self.times = {}
        self.peak = 0
        self.heights = []  # (time, peak) of the last second
        self.output = tempfile.TemporaryFile(dir=server.tmp)
        self.pid = self.pipe = self.orders = self.home = None

    def grows(self):
        """Whether it takes more and more memory: then the memory's limit is to end it, for the same reason every time."""
        now = time.monotonic()
        self.heights.append((now, self.peak))
        while now - self.heights[0][0] > 1:
            del self.heights[0]
        return self.peak - self.heights[0][1] > GROWTH

    def fork(self, server, work):
        """Starts a child that does work(job, mark)."""
        def run(fd):
            server.leave()
            limit(self.job.get("limits") or {})
            nonce = self.job.get("nonce")

            def say(**message):
                write_all(fd, pack({"nonce": nonce, **message}))

            say(result=work(self.job, lambda name: say(mark=name)))

        self.start(run)
        return self

    def wait_for_orders(self, server, imported):
        """Starts a Python that ran nothing before, which gets its job later: see order. Where this process has imported torch and
        done nothing else yet, a fork of it is that; else it is a new one."""
        r, self.orders = os.pipe()

        def run(fd):
            if imported:
                server.leave()
                os.close(self.orders)
                fresh(r, fd)
            for keep in (r, fd):
                os.set_inheritable(keep, True)
            os.execv(sys.executable, [sys.executable, server.source, "fresh", str(r), str(fd)])

        self.start(run)
        os.close(r)
        return self

    def order(self, job):
        self.job, self.home = job, job["home"]
        self.began = self.since = time.monotonic()
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
                os.setpgid(0, 0)
                os.close(r)
                for fd in (1, 2):
                    os.dup2(self.output.fileno(), fd)
                sys.stdout = sys.stderr = open(1, "w", buffering=1, errors="replace", closefd=False)
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
        """Kills what is left of the job, and gives the wait status of its first process."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        for pid in descendants(self.pid):
            kill(pid)
        kill(self.pid)
        status = None
        with contextlib.suppress(OSError):
            status = os.waitpid(self.pid, 0)[1]
        for fd in (self.pipe, self.orders):
            if fd is not None:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self.pipe = self.orders = None
        self.output.close()
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)
        return status


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


PREFIX = "whittle-torch-"


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

    def __init__(self, fd_in, fd_out):
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
        self.helpers = set()  # processes that make something ready, and that no job waits for
        self.spares = []  # fresh Pythons that wait for orders
        self.pristine = True  # until something was compiled in this process
        self.facts = {}
        self.source = os.path.join(self.tmp, "engine.py")
        with open(self.source, "w") as f:
            f.write(SOURCE)

    def leave(self):
        """In a child: lets go of what is the parent's alone."""
        for fd in (self.fd_in, self.fd_out):
            with contextlib.suppress(OSError):
                os.close(fd)
        for child in list(self.children.values()) + self.spares:
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
            fds = [self.fd_in] + [c.pipe for c in self.children.values()]
            ready, _, _ = select.select(fds, [], [], 0.05 if self.children else 1.0)
            if self.fd_in in ready and not self.hear():
                return
            for child in list(self.children.values()):
                if child.pipe in ready:
                    self.listen(child)
            for child in list(self.children.values()):
                self.watch(child)
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
                child.end()
                self.answer(message["id"], outcome("infrastructure", "cancelled"))
            return
        missing = self.missing(message.get("needs") or [])
        if missing or op == "have":
            self.send(id=message["id"], missing=missing)
        elif op == "ping":
            self.answer(message["id"], {})
        elif op == "put":
            self.put(message)
            self.answer(message["id"], {})
        elif op in JOBS or op == "fresh":
            self.begin(op, message)
        else:
            self.answer(message["id"], outcome("infrastructure", "no such operation: %r" % op))

    def begin(self, op, job):
        if op in JOBS:
            self.children[job["id"]] = Child(self, job).fork(self, JOBS[op](self))
            if op == "run" and job.get("locate"):
                background(self, lambda: precompile(job["text"]))
            if op == "run" and self.pristine:
                self.pristine = False
                warm_compile()  # while the first child, which has to be its own pioneer, is at work
            return
        job = {**job, "home": tempfile.mkdtemp(dir=self.tmp), "held": self.storages, "isa_ok": self.facts.get("isa_ok", False)}
        while True:
            spare = bool(self.spares)
            child = self.spares.pop() if spare else Child(self, {}).wait_for_orders(self, False)
            try:
                child.order(job)
            except OSError:  # it died while it waited
                child.end()
                if not spare:
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

    def answer(self, id, result):
        self.send(id=id, result=result)

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
                if "result" in message:
                    return self.done(child, message["result"])
        except (ValueError, UnicodeDecodeError) as e:
            return self.done(child, outcome("infrastructure", "rubbish on the pipe: %s" % e))
        if not data:
            self.died(child)

    def died(self, child):
        """The pipe is closed: the process is gone, or about to be, or closed it and lives on."""
        status = None
        for _ in range(200):
            with contextlib.suppress(OSError):
                pid, status = os.waitpid(child.pid, os.WNOHANG)
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
        if name == "SIGXCPU" or name == "SIGKILL" and self.cpu_used(child):
            return self.done(child, stopped(child, "timeout", "timeout", "the CPU time is used up"))
        if out_of_memory(text) or name == "SIGKILL" and memory and child.peak > 0.8 * memory:
            return self.done(child, stopped(child, "oom", "oom", "out of memory (%s)" % name))
        self.done(child, {**stopped(child, "killed", name, "the process ended with %s" % name), "killer": name})

    def cpu_used(self, child):
        limits = child.job.get("limits") or {}
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return bool(limits.get("cpu")) and used.ru_utime + used.ru_stime > limits["cpu"] and time.monotonic() - child.began > limits["cpu"] / 4

    def watch(self, child):
        limits = child.job.get("limits") or {}
        if limits.get("memory"):
            child.peak = max(child.peak, resident(child.pid))
            if child.peak > limits["memory"] + self.facts.get("resident", 0):
                return self.done(child, stopped(child, "oom", "oom", "%d bytes resident" % child.peak))
        allowed = limits.get(child.stage())
        grows = child.grows()
        if child.stage() == "run" and "eager" in child.times and limits.get("run_factor"):
            allowed = min(allowed or 1e9, max(limits["run_floor"], limits["run_factor"] * child.times["eager"]))
        if allowed and time.monotonic() - child.since > allowed and not grows:
            return self.done(child, stopped(child, "timeout", "timeout", "stage %s: not done after %.1f s" % (child.stage(), allowed)))

    def done(self, child, result):
        if self.children.get(child.job["id"]) is not child:
            return
        del self.children[child.job["id"]]
        if "status" in result:
            result["marks"] = child.marks
            result["seconds"] = time.monotonic() - child.began
            result["times"] = child.times
            result["peak"] = max(0, child.peak - self.facts.get("resident", 0))
            result.setdefault("detail", "")
            if result["status"] != "pass":
                result["detail"] = (result["detail"] + "\n" + child.tail()).strip()
        child.end()
        if "values" in result:
            self.make_room(set())
        self.answer(child.job["id"], result)

    def reap(self):
        """Ends processes that a dead child left to us, and collects the helpers."""
        known = {c.pid for c in self.children.values()} | self.helpers
        known |= {c.pid for c in self.spares}
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

    def close(self):
        for child in list(self.children.values()) + self.spares:
            child.end()
        for pid in descendants(os.getpid()):
            kill(pid)
        shutil.rmtree(self.tmp, ignore_errors=True)


def out_of_memory(text):
    return re.search(r"MemoryError|std::bad_alloc|can't allocate memory|[Cc]annot allocate memory", text) is not None


# Outcomes.

def outcome(status, message="", **more):
    return {"status": status, "message": message, **more}


def stopped(child, status, kind, message):
    """The outcome of an end from outside. Where eager was not through, it says nothing about the compiler."""
    if len(child.marks) == 0:
        return outcome("infrastructure", "while loading: " + message)
    if len(child.marks) == 1:
        return outcome("invalid", "in eager: " + message)
    return outcome(status, message, signature={"stage": child.stage(), "type": kind})


def failed(e, stage):
    """The outcome of an exception that the compiler, or what it made, raised."""
    inner = innermost(e)
    if isinstance(inner, MemoryError) or isinstance(inner, RuntimeError) and out_of_memory(str(inner)):
        return outcome("oom", describe(e), signature={"stage": stage, "type": "oom"})
    frames = []
    for x in (e, inner):
        for f, _ in traceback.walk_tb(x.__traceback__):
            frames.append((f.f_code.co_filename, f.f_code.co_qualname if hasattr(f.f_code, "co_qualname") else f.f_code.co_name))
    if any(name.rpartition(".")[2] in COMPILING for _, name in frames):
        stage = "compile"
    import torch
    home = os.path.dirname(torch.__file__) + os.sep
    inside = [(f, n) for f, n in frames if f.startswith(home)]
    frame = "%s in torch/%s" % (inside[-1][1], inside[-1][0][len(home):]) if inside else ""
    # A backend of the user's own that raises is called by torch, and is the culprit: what comes after torch's last frame counts.
    last = max((i for i, (f, _) in enumerate(frames) if f.startswith(home)), default=-1)
    caller = frames[last][1] if last >= 0 else ""
    for f, name in reversed(frames[last + 1:]):
        if theirs(f, name, caller):
            frame = "%s in %s" % (name, os.path.basename(f))
            break
    return outcome("fail", describe(e), error={"stage": stage, "type": type(inner).__name__, "message": str(inner), "frame": frame},
                   detail="".join(traceback.format_exception(e))[-12000:])


def innermost(e):
    """The exception that torch's own ones, which pass it on, are about."""
    while getattr(e, "inner_exception", None) is not None:
        e = e.inner_exception
    return e


def theirs(file, name, caller):
    """Whether a frame is of a backend that is not torch's: in the repro, outside of its graphs, or in another installed package that torch calls
    as a backend and not as a library."""
    if os.path.basename(file) == "repro.py":
        return name != "<module>" and not name.endswith(".forward")
    return caller.rpartition(".")[2] == "_call_user_compiler" or caller == "WrapBackendDebug.__call__"


# Functions that are only on the stack while something is compiled.
COMPILING = {"compile_fx_inner", "_compile_fx_inner", "compile_fx", "call_user_compiler", "_call_user_compiler", "aot_dispatch_base", "aot_dispatch_autograd"}


def describe(e):
    return "%s: %s" % (type(e).__name__, e)


# Loading a candidate.

def run_text(job):
    """The names that the repro's text defines; its main part is left out. A setting that this torch does not know is a note."""
    text, ns = job["text"], {"__name__": "whittle_repro"}
    tree = ast.parse(text)
    linecache.cache["repro.py"] = (len(text), None, text.splitlines(True), "repro.py")
    if job.get("hold"):
        hold_values(tree)
    for statement in tree.body:
        source = ast.unparse(statement) if isinstance(statement, ast.Assign) else ""
        code = compile(ast.fix_missing_locations(ast.Module([statement], [])), "repro.py", "exec")
        try:
            exec(code, ns)
        except AttributeError as e:
            if not re.match(r"torch\.\S*config\.\S+ = ", source):
                raise
            print("whittle: setting left out: %s (%s)" % (source, e))
    if "mod" not in ns:
        ns["mod"] = ns["Repro"]()
    return ns


def reader(server, job):
    """PyTorch's own reader of inputs, with the storages that the engine holds."""
    from torch._dynamo.debug_utils import InputReader

    class Reader(InputReader):
        def storage(self, storage_hash, nbytes, *, device=None, dtype_hint=None):
            derived = (job.get("derived") or {}).get(storage_hash)
            if derived is not None:
                return derive(server, derived).untyped_storage()
            if storage_hash is not None:
                return held(server, storage_hash)
            return super().storage(None, nbytes, device=device, dtype_hint=dtype_hint)

        def const(self, name):
            self.args.append(None)

    import logging
    logging.getLogger("torch._dynamo.debug_utils").setLevel(logging.ERROR)
    return Reader(None)


def held(server, hash):
    import torch
    path = server.path(hash)
    size = os.path.getsize(path)
    return torch.UntypedStorage.from_file(path, False, size) if size else torch.UntypedStorage(0)


def view(storage, spec):
    import torch
    t = torch.tensor([], dtype=dtype(spec["dtype"]))
    return t.set_(storage, spec.get("offset", 0), spec["shape"], spec["stride"])


def dtype(name):
    import torch
    return getattr(torch, name)


def derive(server, spec):
    """A tensor whose elements are those of a held one at the same indices, in other sizes, strides or dtype."""
    import torch
    with torch.no_grad():
        base = view(held(server, spec["of"]["storage"]), spec["of"])
        part = base[tuple(slice(0, n) for n in spec["shape"])]
        whole = torch.empty(spec["nbytes"], dtype=torch.uint8).untyped_storage()
        out = view(whole, spec)
        writable(out).copy_(writable(part.to(out.dtype), out))
        return out


def writable(t, like=None):
    """t without what its strides repeat (or those of like): each element of memory once."""
    for dim, stride in enumerate((t if like is None else like).stride()):
        if stride == 0 and t.shape[dim] > 1:
            t = t.narrow(dim, 0, 1)
    return t


def arguments(server, ns, job):
    import torch
    torch.manual_seed(0)  # inputs without data are random, and have to be the same each time
    r = reader(server, job)
    ns["load_args"](r)
    return r.args


def hold_values(tree):
    """Rewrites forward so that every value that gets a name is handed to __hold__."""
    for c in tree.body:
        if not (isinstance(c, ast.ClassDef) and c.name == "Repro"):
            continue
        for f in c.body:
            if isinstance(f, ast.FunctionDef) and f.name == "forward":
                body = [held_call(a.arg) for a in f.args.args[1:]]
                for s in f.body:
                    body.append(s)
                    if isinstance(s, (ast.Assign, ast.AnnAssign)):
                        for t in (s.targets if isinstance(s, ast.Assign) else [s.target]):
                            if isinstance(t, ast.Name) and not (isinstance(s.value, ast.Constant) and s.value.value is None):
                                body.append(held_call(t.id))
                f.body = body


def held_call(name):
    return ast.Expr(ast.Call(ast.Name("__hold__", ast.Load()), [ast.Constant(name), ast.Name(name, ast.Load())], []))


class Holder:
    """Keeps values as storages by content, and describes them."""

    def __init__(self, server, budget):
        self.server, self.budget, self.values, self.seen = server, budget, {}, {}

    def hold(self, name, value):
        self.values[name] = self.describe(value)

    def describe(self, v):
        import torch
        if isinstance(v, (list, tuple)):
            return {"kind": "list", "items": [self.describe(x) for x in v]}
        if isinstance(v, bool) or v is None:
            return {"kind": "bool" if v is not None else "none", "value": v}
        if isinstance(v, (int, torch.SymInt)):
            return {"kind": "int", "value": int(v)}
        if isinstance(v, (float, torch.SymFloat)):
            return {"kind": "float", "value": repr(float(v))}
        if not isinstance(v, torch.Tensor) or v.layout != torch.strided or v.device.type == "meta":
            return {"kind": "other", "type": type(v).__name__}
        with torch.no_grad():
            return self.tensor(v.detach())

    def tensor(self, v):
        import torch
        about = {"kind": "tensor", "dtype": str(v.dtype)[6:], "shape": list(v.shape), "stride": list(v.stride()), "offset": 0}
        if v._is_zerotensor():
            return {**about, "zero": True}
        size = 1 + sum((n - 1) * s for n, s in zip(v.shape, v.stride())) if v.numel() else 0
        nbytes = size * v.element_size()
        if nbytes > self.budget:
            return {**about, "storage": ""}
        copy = view(torch.zeros(nbytes, dtype=torch.uint8).untyped_storage(), {**about, "dtype": about["dtype"]})
        v = v.resolve_conj().resolve_neg()
        writable(copy).copy_(writable(v, copy))
        about["storage"] = self.keep(copy.untyped_storage())
        about["nbytes"] = nbytes
        return about

    def inputs(self, names, args):
        """Inputs keep their storages whole, so that those which share memory still do."""
        import torch
        for name, a in zip(names, args):
            if not isinstance(a, torch.Tensor) or a.layout != torch.strided or a._is_zerotensor() or a.device.type == "meta":
                self.hold(name, a)
                continue
            s = a.untyped_storage()
            key = s.data_ptr() if s.nbytes() else -1 - len(self.seen)
            if key not in self.seen:
                self.seen[key] = (self.keep(s) if s.nbytes() <= self.budget else "", len(self.seen))
            hash, group = self.seen[key]
            self.values[name] = {"kind": "tensor", "dtype": str(a.dtype)[6:], "shape": list(a.shape), "stride": list(a.stride()), "offset": a.storage_offset(),
                                 "storage": hash, "nbytes": s.nbytes(), "group": group, "requires_grad": a.requires_grad}

    def keep(self, storage):
        data = contents(storage)
        hash = hashlib.sha1(data).hexdigest()
        path = self.server.path(hash)
        if self.server.missing([hash]):
            part = "%s.%d" % (path, os.getpid())
            with open(part, "wb") as f:
                f.write(data)
            os.rename(part, path)
            self.budget -= len(data)
        return hash


def contents(storage):
    if not storage.nbytes():
        return b""
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


# Jobs. Each is a function of the server that gives what the child does with a job and a mark.

def query(server):
    def work(job, mark):
        import torch
        settle(job)
        share_headers(server.tmp)
        try:
            ns = run_text(job)
            args = arguments(server, ns, job)
        except Exception as e:
            return outcome("invalid", "loading: " + describe(e), detail=traceback.format_exc()[-4000:])
        mark("loaded")
        random = any(isinstance(n, str) and RANDOM.search(n) for n in [job["text"]])
        if random and job.get("accuracy"):
            torch._inductor.config.fallback_random = True
        return (after_aot if job["stage"] == "aot" else after_dynamo)(ns, args, job, mark)
    return work


RANDOM = re.compile(r"\b(rand|randn|randint|randperm|rand_like|randn_like|bernoulli|dropout|native_dropout|uniform|normal|multinomial|inductor_random|inductor_seeds?)\b")


def settle(job):
    """What a query may set, and a fresh process has otherwise."""
    import torch
    torch.set_num_threads(job.get("threads") or 1)
    torch._inductor.config.compile_threads = job.get("compile_threads") or 1
    torch._inductor.config.fx_graph_cache = False


def share_headers(folder):
    """Newer versions of PyTorch precompile the kernels' header, and every process preprocesses it first to see whether it has changed. The
    questions of one engine do that once: what the first was told lies in folder."""
    from torch._inductor import codecache
    ask = getattr(codecache, "_precompile_header", None)
    if ask is None:
        return

    def precompiled(header, command, **options):
        note = os.path.join(folder, "header-" + hashlib.sha1(repr((header, command, sorted(options.items()))).encode()).hexdigest())
        with contextlib.suppress(OSError), open(note) as f:
            made = f.read()
            if os.path.exists(made + ".gch"):
                return made
        made = ask(header, command, **options)
        part = "%s.%d" % (note, os.getpid())
        with open(part, "w") as f:
            f.write(made)
        os.rename(part, note)
        return made

    codecache._precompile_header = precompiled


def after_aot(ns, args, job, mark):
    import torch
    from torch._inductor.compile_fx import compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx
    with torch.no_grad():
        try:
            gm = make_fx(ns["mod"], tracing_mode=job.get("tracing") or "real")(*args)
            if job.get("tracing", "real") != "real":
                ns["mod"](*clones(args))
        except Exception as e:
            return invalid(e)
        mark("eager")
        torch._inductor.config.generate_intermediate_hooks = True
        kernels = Kernels(gm, text_names(gm, job["text"]))
        eager = twin(gm) if job.get("accuracy") else None  # the compiler edits the graph that it gets
        try:
            compiled = compile_fx_inner(gm, args)
        except Exception as e:
            return kernels.blame(failed(e, "compile"), e)
        mark("compiled")
        if job.get("accuracy"):
            return compare(eager, compiled, args, True, job, mark, locate=kernels)
        try:
            compiled(list(args))
        except Exception as e:
            return kernels.blame(failed(e, "run"), e)
        mark("ran")
        return outcome("pass")


class Kernels:
    """Which calls of the repro's text each generated kernel stands for. It looks on while Inductor works."""

    def __init__(self, gm, names):
        self.sources = {}  # by name: the code, and the names of the nodes that it came from
        self.names = names
        self.order = {n.name: i for i, n in enumerate(gm.graph.nodes)}
        self.statements = Statements()
        with contextlib.suppress(Exception):
            from torch._inductor.codegen.cpp import CppScheduling
            real = CppScheduling.define_kernel

            def define_kernel(scheduling, code, nodes, *a, **k):
                name = real(scheduling, code, nodes, *a, **k)
                with contextlib.suppress(Exception):
                    origins = {o.name for n in nodes for o in (n.node.get_origins() if hasattr(n.node, "get_origins") else n.node.origins)}
                    self.sources.setdefault(name, (code, origins))
                return name

            CppScheduling.define_kernel = define_kernel

    def blame(self, result, e):
        """Adds to an outcome which calls the failing kernel stands for."""
        with contextlib.suppress(Exception):
            guilty, outer, e = set(), e, innermost(e)
            command = re.search(r"(\S+\.cpp)\b", str(e)) if type(e).__name__ == "CppCompileError" else None
            written = open(command.group(1)).read() if command else ""
            called = " ".join(f.line or "" for x in (outer, e) for f in traceback.extract_tb(x.__traceback__) if f.filename.endswith(".py"))
            for name, (code, origins) in self.sources.items():  # layers that are alike have kernels that are alike: the first will do
                body = code.partition("{")[2].rpartition("}")[0].strip()
                if not guilty and (written and body and body in written or re.search(r"\b%s\b" % re.escape(name), called)):
                    guilty |= origins
            self.add(result, guilty)
            at = re.search(re.escape(command.group(1)) + r":(\d+):(?:\d+:)? error", str(e)) if written else None
            if at:
                told(result, "suspects", [self.names[n] for n in self.statements.behind(written.split("\n"), int(at.group(1)) - 1) if n in guilty and n in self.names])
        return result

    def add(self, result, guilty):
        told(result, "region", [self.names[n] for n in sorted(guilty, key=lambda n: self.order.get(n, 0)) if n in self.names])

    def part(self, result, gm, compiled, args, job):
        """Adds to an outcome the calls at which a compiled graph parts from eager."""
        import torch
        from torch._dynamo import config
        from torch._dynamo.debug_utils import cast_to_fp64
        from torch._dynamo.utils import same
        eager, double, noise = intermediates(gm, clones(args)), {}, noisy_intermediates(gm, args, job)
        with contextlib.suppress(Exception):
            model, inputs = cast_to_fp64(copy.deepcopy(gm), clones(args))
            double = intermediates(model, inputs)

        def alike(name, value):
            if name in noise:
                return name not in eager or not far(eager[name], value, noise[name])
            return name not in eager or same(eager[name], value, double.get(name), tol=job.get("tolerance") or config.repro_tolerance, equal_nan=True)

        torch.manual_seed(0)
        self.add(result, self.diverged(lambda: compiled(clones(args)), gm, alike))

    def diverged(self, run, gm, same):
        """The calls that lie between the buffers that are still right and the first for which same(node name, value) is false."""
        from torch._inductor.hooks import intermediate_hook
        right, wrong = set(), []

        def look(name, value):
            if not wrong:
                right.add(name) if same(name, value) else wrong.append(name)

        with intermediate_hook(look):
            run()
        nodes = {n.name: n for n in gm.graph.nodes}
        # No buffer is wrong: what makes the outputs from them is.
        todo = [nodes[name] for name in wrong if name in nodes] or list(gm.graph.output_node().all_input_nodes)
        guilty = set()
        while todo and len(guilty) < 64:
            n = todo.pop(0)
            if n.op == "call_function" and n.name not in guilty and n.name not in right:
                guilty.add(n.name)
                todo.extend(n.all_input_nodes)
        return guilty


def told(result, key, names):
    if names:
        result[key] = result.get(key, []) + [n for n in names if n not in result.get(key, [])]


class Statements:
    """Which node each statement of the generated C++ comes from. A fused kernel is one chain of closures; each knows under which node it was
    made, and this follows them through Inductor's own little graph of a loop to the text."""

    def __init__(self):
        self.within = []  # nodes whose closures are under way
        self.origin = {}  # by statement
        with contextlib.suppress(Exception):
            self.watch()

    def watch(self):
        from torch._inductor import ir, loop_body
        from torch._inductor.codegen.common import CSE
        from torch._inductor.virtualized import V
        from torch.fx.proxy import TracerBase
        made, run_node = ir.Loops.__post_init__, loop_body.InterpreterShim.run_node
        create_node, generate = TracerBase.create_node, CSE.generate

        def loops(loops):
            made(loops)
            node = getattr(V.graph, "current_node", None)
            if node is not None:
                object.__setattr__(loops, "inner_fn", self.under(node.name, loops.inner_fn))

        def traced(tracer, *a, **k):
            node = create_node(tracer, *a, **k)
            if self.within:
                node.meta["statement"] = self.within[-1]
            return node

        def interpreted(shim, node):
            name = node.meta.get("statement")
            return self.under(name, run_node)(shim, node) if name else run_node(shim, node)

        def written(cse, buffer, expr, *a, **k):
            var = generate(cse, buffer, expr, *a, **k)
            if self.within:
                self.origin.setdefault("%s = %s" % (var, getattr(expr, "line", expr)), self.within[-1])
            return var

        ir.Loops.__post_init__, loop_body.InterpreterShim.run_node = loops, interpreted
        TracerBase.create_node, CSE.generate = traced, written

    def under(self, name, f):
        @functools.wraps(f)
        def inner(*a, **k):
            self.within.append(name)
            try:
                return f(*a, **k)
            finally:
                self.within.pop()
        return inner

    def behind(self, lines, i):
        """The node of line i; where the line is no statement of its own (a store), those of the variables in it."""
        def of(line):
            found = re.search(r"\b(\w+ = .*);", line)
            return self.origin.get(found.group(1)) if found else None
        if of(lines[i]):
            return [of(lines[i])]
        nodes = []
        for name in re.findall(r"\btmp\w*", lines[i]):
            for line in reversed(lines[:i]):
                if re.search(r"\b%s = " % name, line):
                    nodes += [of(line)] if of(line) else []
                    break
        return nodes


class Graphs:
    """The graphs that Inductor gets for an after-dynamo graph, and which of its calls each of their nodes comes from."""

    def __init__(self, job):
        self.job, self.lines, self.last = job, forward_lines(job["text"]), []
        self.uncompiled = False  # run these graphs as they are

    def compile(self, gm, inputs):
        import torch
        from torch._inductor.compile_fx import compile_fx, compile_fx_inner

        def inner(gm, inputs, **options):
            eager = twin(gm)
            mine = [eager, None, None, None]
            if self.job.get("locate"):
                mine[1] = Kernels(gm, self.names(gm))
            self.last.append(mine)
            compiled = compile_fx_inner(gm, inputs, **options)

            def run(real):
                if self.uncompiled:
                    args = list(real)
                    real.clear()
                    with torch.no_grad():
                        return list(eager(*args))
                if mine[2] is None and mine[1] is not None:
                    mine[2], mine[3] = compiled, clones(real)
                return compiled(real)
            run._boxed_call = True
            return run
        return compile_fx(gm, inputs, inner_compile=inner)

    def place(self, differs):
        """Where a wrong result is made. Graphs after aot that give it without being compiled got it from what made them; what happens to
        them later, if anything, is another failure. "" where they cannot tell."""
        if not self.last:
            return ""
        self.uncompiled = True
        try:
            return "above the graph after aot" if differs() else "below the graph after aot"
        except Exception as e:
            print("whittle: the graph after aot does not run by itself:", describe(e))
            return ""
        finally:
            self.uncompiled = False

    def names(self, gm):
        found = {}
        for n in gm.graph.nodes:
            lines = re.findall(r'File "repro.py", line (\d+), in forward', n.meta.get("stack_trace") or "")
            if lines and int(lines[-1]) in self.lines:
                found[n.name] = self.lines[int(lines[-1])]
        return found

    def blame(self, result, e):
        """Adds the calls that an exception's text speaks of, and those of the failing kernel."""
        for line in re.findall(r'File "repro.py", line (\d+), in forward', "".join(traceback.format_exception(e))):
            told(result, "suspects", [self.lines[int(line)]] if int(line) in self.lines else [])
        for _, kernels, _, _ in self.last:
            if kernels is not None:
                kernels.blame(result, e)
        return result

    def part(self, result, *_):
        import torch
        with torch.no_grad():
            for gm, kernels, compiled, args in self.last:
                if compiled is not None:
                    kernels.part(result, gm, compiled, args, self.job)


def forward_lines(text):
    """What each line of forward assigns."""
    lines = {}
    for c in ast.parse(text).body:
        if isinstance(c, ast.ClassDef) and c.name == "Repro":
            for f in c.body:
                if isinstance(f, ast.FunctionDef) and f.name == "forward":
                    for s in f.body:
                        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and not (isinstance(s.value, ast.Constant) and s.value.value is None):
                            for line in range(s.lineno, s.end_lineno + 1):
                                lines.setdefault(line, s.targets[0].id)
    return lines


def text_names(gm, text):
    """The names of gm's calls in the text that it was traced from; where the two do not run in step, those that are the same."""
    names = list(dict.fromkeys(forward_lines(text).values()))
    calls = [n.name for n in gm.graph.nodes if n.op == "call_function"]
    return dict(zip(calls, names)) if len(calls) == len(names) else {n: n for n in calls if n in set(names)}


def twin(gm):
    """A graph module with the same calls, values and modules, and a graph of its own."""
    import torch
    graph = torch.fx.Graph()
    graph.output(graph.graph_copy(gm.graph, {}))
    return torch.fx.GraphModule(gm, graph)


def invalid(e):
    return outcome("invalid", "eager: " + describe(e), detail=traceback.format_exc()[-4000:])


def clones(args):
    from torch._dynamo.utils import clone_inputs
    return clone_inputs(args)


def after_dynamo(ns, args, job, mark):
    import torch
    from torch._dynamo.debug_utils import run_fwd_maybe_bwd
    mod, forward_only = ns["mod"], bool(job.get("only_fwd"))
    graphs = Graphs(job)
    try:
        backend = find_backend(job["backend"], ns)
    except Exception as e:
        return invalid(e)
    if job["backend"] == "inductor" and (job.get("locate") or job.get("accuracy")):
        backend = graphs.compile
        torch._inductor.config.generate_intermediate_hooks = bool(job.get("locate") and job.get("accuracy"))

    def marked(gm, inputs, **kwargs):
        f = backend(gm, inputs, **kwargs)
        if not marked.compiled:
            marked.compiled = True
            mark("compiled")
        return f
    marked.compiled = False
    with torch.amp.autocast("cuda", enabled=bool(job.get("autocast"))):
        try:
            if job.get("accuracy"):
                mod.eval()
            torch.manual_seed(0)
            run_fwd_maybe_bwd(mod, args, forward_only)
        except Exception as e:
            return invalid(e)
        mark("eager")
        opt = torch._dynamo.optimize(marked)(mod)
        if job.get("accuracy"):
            opt.eval()
            return compare(mod, opt, args, torch._dynamo.config.repro_forward_only, job, mark, lambda: marked.compiled, graphs, graphs.place)
        try:
            run_fwd_maybe_bwd(opt, args, forward_only, disable_clone=True)
        except Exception as e:
            return graphs.blame(failed(e, "run" if marked.compiled else "compile"), e)
        if not marked.compiled:
            return outcome("invalid", "nothing was compiled")
        mark("ran")
        return outcome("pass")


def find_backend(name, ns):
    from torch._dynamo.backends.registry import lookup_backend
    try:
        return lookup_backend(name)
    except Exception:
        if callable(ns.get(name)):
            return ns[name]
        raise


def compare(gm, compiled, args, forward_only, job, mark, was_compiled=lambda: True, locate=None, place=lambda _: ""):
    """PyTorch's rule for accuracy: eager, compiled and a reference in float64. Where its settings want none, compiled is compared with
    eager; a strict repro, by the noise of eager too."""
    import torch
    from torch._dynamo import config
    from torch._dynamo.debug_utils import cast_to_fp64, clone_inputs_retaining_gradness, run_fwd_maybe_bwd
    from torch._dynamo.utils import same

    def seeded(f, inputs):
        torch.manual_seed(0)
        return run_fwd_maybe_bwd(f, inputs, forward_only)

    kept = gm
    with contextlib.suppress(Exception):
        kept = copy.deepcopy(gm)  # a backend may write to what it gets: parameters are shared
    try:
        ref = seeded(gm, args)
    except Exception as e:
        return invalid(e)
    exact, noise = None, None
    if config.same_two_models_use_fp64 or not is_strict(job):
        try:
            model, inputs = cast_to_fp64(copy.deepcopy(gm), clone_inputs_retaining_gradness(args))
            exact = seeded(model, inputs)
        except Exception as e:
            if job["accuracy"] == "strict":
                print("whittle: no float64 reference:", describe(e))
    try:
        got = seeded(compiled, args)
    except Exception as e:
        return failed(e, "run" if was_compiled() else "compile")
    if not was_compiled():
        return outcome("invalid", "nothing was compiled")
    mark("ran")
    said = []

    def differs(a, b, only_float, reference=None):
        del said[:]
        return not same(a, b, exact if reference is None else reference, tol=job.get("tolerance") or config.repro_tolerance, equal_nan=True, ignore_non_fp=only_float,
                        log_error=lambda m, *a, **k: said.append(m % a if a else m))

    if not differs(ref, got, False):
        return outcome("pass")
    text = "; ".join(said[:3])
    if is_strict(job):
        try:
            noise = noisy(kept, args, seeded)
        except Exception as e:
            return invalid(e)
        text = far(ref, got, noise, job.get("tolerance") or config.repro_tolerance)
        if not text:
            return outcome("pass", "it differs from eager by no more than rounding explains")
    if exact is not None and not differs(ref, got, True) and not settled(ref, exact):
        return outcome("pass", "an integer or boolean result differs where rounding decides it: " + text)
    with poisoned():
        again = seeded(kept, args)
    if differs(ref, again, False) and (noise is None or far(ref, again, noise)):
        return outcome("invalid", "eager does not agree with itself: random or uninitialised results")

    def wrong_outputs():
        """The positions of those of the graph's outputs that differ."""
        runs = [r if forward_only else r[0] for r in (ref, got, ref if exact is None else exact, *(noise or ()))]
        if not isinstance(runs[0], (list, tuple)):
            return
        for i, (a, b, c, *rounded) in enumerate(zip(*([[v] for v in r] for r in runs))):
            if differs(a, b, False, None if exact is None else c) and (noise is None or far(a, b, rounded)):
                yield i

    at = place(lambda: differs(ref, (third := seeded(compiled, args)), False) and (noise is None or bool(far(ref, third, noise))))
    result = outcome("fail", "AccuracyError: Bad accuracy detected (%s)" % text, error={"stage": "accuracy", "type": "AccuracyError", "message": "Bad accuracy detected", "frame": at}, detail=text)
    with contextlib.suppress(Exception):
        told(result, "outputs", list(wrong_outputs()))
    if locate is not None and job.get("locate") and not at.startswith("above"):
        with contextlib.suppress(Exception):
            locate.part(result, gm, compiled, args, job)
    return result


def noisy(gm, args, run):
    """The results of run(graph, inputs) with everything rounded otherwise, several times."""
    from torch._dynamo.debug_utils import clone_inputs_retaining_gradness

    def once(rounding):
        model, inputs = copy.deepcopy(gm), clone_inputs_retaining_gradness(args)
        rounding.nudge_all([*inputs, *(model.parameters() if hasattr(model, "parameters") else ()), *(model.buffers() if hasattr(model, "buffers") else ())])
        with rounding.mode():
            return run(model, inputs)

    return runs_of(once)


def noisy_intermediates(gm, args, job):
    """Of each node, by name, its values with everything rounded otherwise; none for a repro that is not strict."""
    runs = noisy(gm, args, intermediates) if is_strict(job) else []
    return {name: [r[name] for r in runs if name in r] for name in (runs[0] if runs else ())}


def diverge(server):
    """Rows of a table: how far eager and compiled values are from float64, buffer by buffer as Inductor makes them, then the outputs."""
    def work(job, mark):
        import torch
        settle(job)
        try:
            ns = run_text(job)
            args = arguments(server, ns, job)
        except Exception as e:
            return outcome("invalid", "loading: " + describe(e), detail=traceback.format_exc()[-4000:])
        torch._inductor.config.generate_intermediate_hooks = True
        if RANDOM.search(job["text"]):
            torch._inductor.config.fallback_random = True
        rows = []
        try:
            if job["stage"] == "aot":
                from torch._inductor.compile_fx import compile_fx_inner
                from torch.fx.experimental.proxy_tensor import make_fx
                with torch.no_grad():
                    gm = make_fx(ns["mod"], tracing_mode=job.get("tracing") or "real")(*args)
                    eager = twin(gm)
                    table(rows, eager, compile_fx_inner(gm, args), args, job, text_names(gm, job["text"]))
            else:
                try:
                    observed(rows, ns, args, job)
                except Exception:  # some graphs do not compile with hooks in them
                    del rows[:]
                    torch._dynamo.reset()
                    torch._inductor.config.generate_intermediate_hooks = False
                    observed(rows, ns, args, job)
        except Exception as e:
            return {"rows": rows, "error": describe(e)}
        return {"rows": rows, "error": ""}
    return work


def observed(rows, ns, args, job):
    """Rows of the graphs that Inductor gets for an after-dynamo graph, and of its outputs for any backend."""
    import torch
    from torch._dynamo.debug_utils import run_fwd_maybe_bwd
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner
    backend = find_backend(job["backend"], ns)
    if job["backend"] == "inductor":
        def inner(gm, inputs, **options):
            eager = twin(gm)
            compiled = compile_fx_inner(gm, inputs, **options)

            def run(real):
                kept = clones(real)
                out = compiled(list(real))
                real.clear()
                with torch.no_grad():
                    table(rows, eager, compiled, kept, job, {})
                return out
            run._boxed_call = True
            return run

        def backend(gm, inputs):
            return compile_fx(gm, inputs, inner_compile=inner)
    torch.manual_seed(0)
    ref = run_fwd_maybe_bwd(ns["mod"], args, bool(job.get("only_fwd")))
    torch.manual_seed(0)
    got = run_fwd_maybe_bwd(torch._dynamo.optimize(backend)(ns["mod"]), args, bool(job.get("only_fwd")))
    exact = None

    def seeded(model, inputs):
        torch.manual_seed(0)
        return run_fwd_maybe_bwd(model, inputs, bool(job.get("only_fwd")))

    with contextlib.suppress(Exception):
        from torch._dynamo.debug_utils import cast_to_fp64, clone_inputs_retaining_gradness
        exact = seeded(*cast_to_fp64(copy.deepcopy(ns["mod"]), clone_inputs_retaining_gradness(args)))
    compared(rows, ref, got, exact, job, noise=noisy(ns["mod"], args, seeded) if job.get("strict") else ())


def table(rows, gm, compiled, args, job, names):
    import torch
    from torch._dynamo.debug_utils import cast_to_fp64, clone_inputs_retaining_gradness
    from torch._inductor.hooks import intermediate_hook
    eager, double, exact, noise = intermediates(gm, clones(args)), {}, None, noisy(gm, args, all_values) if job.get("strict") else ()
    with contextlib.suppress(Exception):
        model, inputs = cast_to_fp64(copy.deepcopy(gm), clone_inputs_retaining_gradness(args))
        double = intermediates(model, clones(inputs))
        torch.manual_seed(0)
        exact = model(*inputs)
    targets = {n.name: str(n.target) for n in gm.graph.nodes}

    def look(name, value):
        if name in eager:
            rows.append(row(names.get(name, name), targets.get(name, ""), eager[name], value, double.get(name), job, [r[0].get(name) for r in noise]))

    torch.manual_seed(0)
    with intermediate_hook(look):
        got = compiled(clones(args))
    torch.manual_seed(0)
    returned = [names.get(n.name, n.name) for n in torch.utils._pytree.tree_leaves(gm.graph.output_node().args[0]) if isinstance(n, torch.fx.Node)]
    compared(rows, gm(*clones(args)), got, exact, job, returned, [r[1] for r in noise])


def all_values(gm, args):
    """What each node gives, by name, and what the graph does."""
    import torch
    values = {}
    torch.manual_seed(0)
    return values, intermediates(gm, args, values)


def compared(rows, ref, got, exact, job, returned=(), noise=()):
    exact = flat(exact) if exact is not None else []
    noise = [flat(r) for r in noise]
    for i, (a, b) in enumerate(zip(flat(ref), flat(got))):
        rows.append(row("output[%d]" % i, returned[i] if i < len(returned) else "", a, b, exact[i] if i < len(exact) else None, job, [r[i] for r in noise]))


def row(name, target, ref, got, exact, job, noise=()):
    from torch._dynamo import config
    from torch._dynamo.utils import same
    said = []
    if job.get("strict"):
        said = far(ref, got, noise, job.get("tolerance") or 0.0)
        return {"node": name, "target": target, "eager": error(ref, exact), "compiled": error(got, exact), "same": not said, "note": said}
    ok = same(ref, got, exact, tol=job.get("tolerance") or config.repro_tolerance, equal_nan=True, ignore_non_fp=bool(job.get("ignore_non_fp")),
              log_error=lambda m, *a, **k: said.append(m % a if a else m))
    return {"node": name, "target": target, "eager": error(ref, exact), "compiled": error(got, exact), "same": bool(ok), "note": "; ".join(said[:1]) if not ok else ""}


def error(v, exact):
    """Root mean square of the difference, relative to that of the exact value; null where that means nothing."""
    import math
    import torch
    if exact is None or v.shape != exact.shape or v.dtype.is_complex or not v.numel():
        return None
    a, b = v.detach().double(), exact.detach().double()
    norm = b.square().mean().sqrt().item()
    x = (a - b).square().mean().sqrt().item() / (norm or 1.0)
    return x if math.isfinite(x) else ("inf" if x == x else None)


def intermediates(gm, args, values=None):
    """Every tensor that a call of an fx graph gives, by node name; with a dict for them, what the graph returns."""
    import torch
    asked, values = values is not None, {} if values is None else values

    class Keep(torch.fx.Interpreter):
        def run_node(self, n):
            v = super().run_node(n)
            if n.op == "call_function" and isinstance(v, torch.Tensor):
                values[n.name] = v.clone()
            return v

    torch.manual_seed(0)
    out = Keep(gm).run(*args)
    return out if asked else values


def settled(ref, exact):
    """Whether float64 gives the same integers and booleans as eager does: else rounding decides them."""
    import torch
    a, b = flat(ref), flat(exact)
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b) if not (x.dtype.is_floating_point or x.dtype.is_complex) and x.shape == y.shape and x.dtype == y.dtype)


def flat(v):
    import torch
    return [x for x in torch.utils._pytree.tree_leaves(v) if isinstance(x, torch.Tensor)]


@contextlib.contextmanager
def poisoned():
    """Uninitialised memory is filled with NaN or the largest integer."""
    import torch
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def explore(server):
    def work(job, mark):
        import torch
        settle(job)
        holder = Holder(server, server.most_held // 2)
        error = ""
        try:
            ns = run_text({**job, "hold": True})
            ns["__hold__"] = holder.hold
            args = arguments(server, ns, job)
            mark("loaded")
            names = job["inputs"]
            holder.inputs(names, args)
            first = dict(holder.values)
            torch.manual_seed(0)
            grad = contextlib.nullcontext() if job["stage"] == "dynamo" and job.get("grad") else torch.no_grad()
            with grad:
                ns["mod"](*clones(args) if job["stage"] == "aot" else args)
            holder.values.update(first)
        except Exception as e:
            error = describe(e)
        return {"values": holder.values, "error": error}
    return work


def elements(server):
    def work(job, mark):
        t = view(held(server, job["of"]["storage"]), job["of"])
        if t.dtype.is_complex:
            t = t.to(dtype("complex128"))
        elif t.dtype.is_floating_point:
            t = t.double()
        return {"elements": [repr(x) for x in t.reshape(-1).tolist()]}
    return work


def export(server):
    """The bytes of a storage, held or derived."""
    def work(job, mark):
        storage = derive(server, job["derived"]).untyped_storage() if job.get("derived") else held(server, job["storage"])
        return {"data": base64.b64encode(contents(storage)).decode()}
    return work


JOBS = {"run": query, "explore": explore, "elements": elements, "export": export, "diverge": diverge}


# The start.

def main():
    gc.disable()  # imports make millions of objects that stay, and children are short
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    fd_in, fd_out = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    server = Server(fd_in, fd_out)
    try:
        hello = read_hello(server)
        begin = time.monotonic()
        server.facts = warm(server, hello.get("facts") or {})
        server.most_held = (hello.get("facts") or {}).get("held") or MAX_HELD
        server.facts["resident"] = resident(os.getpid())
        gc.freeze()
        for _ in range(int((hello.get("facts") or {}).get("spares") or 1)):
            server.spares.append(Child(server, {}).wait_for_orders(server, True))
        server.send(id=0, result={**server.facts, "seconds": time.monotonic() - begin, "tmp": server.tmp, "pid": os.getpid()})
        server.loop()
    except Exception:
        traceback.print_exc()  # of a torch that cannot be imported, say; the end below is silent
    finally:
        if os.getpid() == server.parent:
            server.close()
            os._exit(0)


def read_hello(server):
    while True:
        data = os.read(server.fd_in, 1 << 16)
        if not data:
            sys.exit(0)
        server.buffer += data
        message = unpack(server.buffer)
        if message is not None:
            return message


def warm(server, known):
    """Imports torch and its compiler, and does once what every child would do again. It starts no thread."""
    for name in list(os.environ):
        if name.startswith(("TORCHDYNAMO_REPRO", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCH_TRACE")):
            del os.environ[name]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(server.tmp, "inductor")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    old = known.get("old") or ""
    if os.path.basename(old).startswith("whittle-torch-"):
        shutil.rmtree(old, ignore_errors=True)
    import torch
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    facts = {"torch": torch.__version__, "git": torch.version.git_version or "", "python": sys.version.split()[0], "threads": threads, "cpu": cpu_model(),
             "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(), "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
    check = None if known.get("isa_ok") else background(server, check_isa)
    import torch._dynamo
    import torch._dynamo.debug_utils
    import torch._inductor.compile_fx
    import torch._inductor.inductor_prims
    import torch._inductor.lowering
    from torch._inductor import config
    import torch._inductor.codegen.cpp
    import torch._inductor.fx_passes.post_grad
    import torch._dynamo.repro.after_aot
    import torch._dynamo.repro.after_dynamo
    ok = known.get("isa_ok") or check is not None and finished(server, check) == 0
    facts["isa_ok"] = bool(ok)
    from torch._inductor import cpu_vec_isa
    if ok:  # it was tried, in a process of its own: a new Python need not be started for each
        config.cpp.vec_isa_ok = True
        cpu_vec_isa.subprocess = Loader
    try:
        from torch._inductor.cpu_vec_isa import pick_vec_isa
        from torch._inductor.cpp_builder import get_compiler_version_info, get_cpp_compiler
        facts["isa"] = str(pick_vec_isa())
        import subprocess
        cpu_vec_isa.subprocess = subprocess
        facts["compiler"] = get_compiler_version_info(get_cpp_compiler())
        background(server, precompile)
    except Exception as e:
        facts["isa"], facts["compiler"] = "", "none: %s" % e
    return facts


def cpu_model():
    with contextlib.suppress(OSError):
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    return ""


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


class Loader:
    """Stands in for subprocess where PyTorch tries a library in a new Python: loads it here."""
    DEVNULL = None

    @staticmethod
    def check_call(command, **_):
        ctypes.CDLL(re.search(r'LoadLibrary\("(.*?)"\)', command[-1]).group(1))


def check_isa():
    """Whether the widest vector instructions that this processor has also compile and load: PyTorch's own question, asked once and early."""
    from torch._inductor import cpu_vec_isa

    cpu_vec_isa.subprocess = Loader
    supported = cpu_vec_isa.x86_isa_checker()
    for isa in cpu_vec_isa.supported_vec_isa_list:
        if all(flag in supported for flag in str(isa).split()):
            return bool(isa)
    return False


def warm_compile():
    """A toy graph through all of AOTAutograd and Inductor but the C++ compiler."""
    import torch
    from torch._inductor import codecache, config
    from torch._inductor.compile_fx import compile_fx
    from torch.fx.experimental.proxy_tensor import make_fx

    class Built:
        """Stands in for the code that is not compiled."""

        @staticmethod
        def load_pybinding(*a, **k):
            return lambda *a: None

    real, before = codecache.CppPythonBindingsCodeCache, config.cpp.vec_isa_ok
    from torch._inductor import async_compile
    names = [m for m in (codecache, async_compile) if hasattr(m, "CppPythonBindingsCodeCache")]
    try:
        for m in names:
            m.CppPythonBindingsCodeCache = Built
        with torch.no_grad(), config.patch({"cpp.simdlen": 0, "fx_graph_cache": False, "cpp.vec_isa_ok": True}):
            def toy(x, w):
                y = torch.ops.aten.mm.default(x, w)
                y = torch.ops.aten.add.Tensor(y, 1)
                return (torch.ops.aten.relu.default(y), torch.ops.aten.sum.dim_IntList(y, [1]), torch.ops.aten.view.default(y, [-1]))
            args = [torch.randn(8, 8), torch.randn(8, 8)]
            compile_fx(make_fx(toy)(*args), args)
    except Exception:
        traceback.print_exc()
    finally:
        for m in names:
            m.CppPythonBindingsCodeCache = real
        config.cpp.vec_isa_ok = before
        from torch._inductor import cpu_vec_isa
        with contextlib.suppress(AttributeError):
            cpu_vec_isa.valid_vec_isa_list.cache_clear()
        torch._dynamo.reset()


def precompile(text=""):
    """Compiles the header that every C++ kernel begins with, for the flags that the settings in a repro's text lead to. The compiler takes
    the result by itself, and only for the very same flags. The user's cache keeps it."""
    import shlex
    import subprocess
    from torch._inductor.codecache import cpp_prefix
    from torch._inductor.cpp_builder import CppBuilder, CppTorchOptions, get_compiler_version_info, get_cpp_compiler
    from torch._inductor.cpu_vec_isa import pick_vec_isa
    set_up(text)
    header = re.search(r'"(.*?)"', cpp_prefix()).group(1)
    command = shlex.split(CppBuilder("prefix", [header], CppTorchOptions(vec_isa=pick_vec_isa(), warning_all=True), os.path.dirname(header)).get_command_line())
    keep, skip = [], False
    for word in command:
        if skip or word == "-o":
            skip = not skip
        elif word != header and word != "-shared" and not re.match(r"-[lL]|-Wl", word):
            keep.append(word)
    with open(header) as f:
        light = only_if_used(f.read())
    key = hashlib.sha1((light + " ".join(keep) + get_compiler_version_info(get_cpp_compiler())).encode()).hexdigest()
    home = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "whittle")
    made = os.path.join(home, "prefix-%s.gch" % key[:20])
    if not os.path.exists(made):
        try:
            os.makedirs(home, exist_ok=True)
        except OSError:
            made = header + ".made-" + key[:20]
        part = "%s.%d" % (made, os.getpid())
        with open(made + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two that are asked for at once are often the same
            if not os.path.exists(made):
                with open(part + ".h", "w") as f:
                    f.write(light)
                for source in (part + ".h", header):
                    if subprocess.run(keep + ["-x", "c++-header", source, "-o", part], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                        break
                os.remove(part + ".h")
                os.rename(part, made)
    with contextlib.suppress(FileExistsError):
        os.mkdir(header + ".gch")  # of the files in such a folder, the compiler takes the one that fits its flags
    with contextlib.suppress(FileExistsError):
        os.symlink(made, os.path.join(header + ".gch", key[:20]))
    return True


def set_up(text):
    """Does what the settings in a repro's text say, and nothing else of it."""
    ns = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Import) or isinstance(statement, ast.Assign) and re.match(r"torch\.\S*config\.\S+ = ", ast.unparse(statement)):
            with contextlib.suppress(Exception):
                exec(compile(ast.Module([statement], []), "repro.py", "exec"), ns)


def only_if_used(header):
    """A header whose functions are compiled where they are used: those that are neither inline nor templates would be part of every
    kernel, and most of its time."""
    def inline(m):
        depth = 0
        for c in header[m.end():]:
            depth += {"(": 1, ")": -1}.get(c, 0)
            if c in "{;" and depth < 0:
                break
        before = header[:m.start()].rstrip()
        return m.group() if c == ";" or before.endswith(">") or " inline " in m.group() else "inline " + m.group()
    return re.sub(r"^(?!(?:inline|static|template|constexpr|extern|typedef|using|struct|class|enum|namespace)\b)[a-z][\w:<>\[\], *&]* \w+\(", inline, header, flags=re.M)


# A fresh process: it runs the repro's file as it stands, and tells what became of it.

def fresh(orders, answers):
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx
    buffer = bytearray()
    while True:
        data = os.read(orders, 1 << 20)
        if not data:
            return
        buffer += data
        job = unpack(buffer)
        if job is not None:
            break
    home = job["home"]
    os.chdir(home)
    with open("repro.py", "w") as f:
        f.write(job["text"])
    for hash in job.get("storages") or []:
        folder = os.path.join(job.get("save_dir") or ".", "storages")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(job["held"], hash)
        size = os.path.getsize(path)
        torch.save(torch.UntypedStorage.from_file(path, False, size) if size else torch.UntypedStorage(0), os.path.join(folder, hash))
    if job["isa_ok"]:
        torch._inductor.config.cpp.vec_isa_ok = True
    limit(job.get("limits") or {})
    os.environ.pop("TORCHINDUCTOR_COMPILE_THREADS", None)
    torch.set_num_threads(job.get("threads") or 1)
    torch._inductor.config.compile_threads = job.get("compile_threads") or 1

    def say(**message):
        write_all(answers, pack({"nonce": job.get("nonce"), **message}))

    gc.enable()
    sys.argv = ["repro.py"]
    sys.path.insert(0, home)
    for mark in MARKS[:2]:
        say(mark=mark)
    result = run_file()
    stage = (result.get("error") or result.get("signature") or {}).get("stage")
    for mark in MARKS[2:] if result["status"] == "pass" or stage == "accuracy" else MARKS[2:3] if stage == "run" else []:
        say(mark=mark)
    say(result=result)
    sys.stdout.flush()
    os._exit(0)


def run_file():
    import runpy
    try:
        runpy.run_path("repro.py", run_name="__main__")
    except SystemExit as e:
        return outcome("infrastructure", "exit status %s" % e.code) if e.code else outcome("pass")
    except BaseException as e:
        result = failed(e, "run")
        if type(e).__name__ == "AccuracyError" and "error" in result:
            result["error"] = {"stage": "accuracy", "type": "AccuracyError", "message": "Bad accuracy detected", "frame": ""}
        return result
    return outcome("pass")


if __name__ == "__main__":
    if sys.argv[1:2] == ["fresh"]:
        fresh(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
