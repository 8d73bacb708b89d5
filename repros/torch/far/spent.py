"""Where the time of a job goes: to its process and the loading of its text (python), to eager, lowering, the C++ compiler, running and comparing, or
to storages on their way (transfer)."""
import threading
import time

BY_STAGE = {"load": "python", "eager": "eager", "compile": "lowering", "run": "run", "compare": "run"}
MOVES = ("elements", "export")  # jobs that only read storages


class Spent:
    """Adds up the seconds of one job by what they go to. The parent keeps it, from what the child says: so it holds for one that dies, too."""

    def __init__(self):
        self.since, self.what, self.seconds, self.compilers = time.monotonic(), "python", {}, 0

    def turn(self, child):
        """Takes what the child just said into account: the time up to now was spent as it looked before."""
        now = time.monotonic()
        self.seconds[self.what] = self.seconds.get(self.what, 0) + now - self.since
        self.since, self.what = now, self.doing(child)

    def doing(self, child):
        if self.compilers > 0:
            return "C++"
        op = child.job.get("op")
        if op in MOVES:
            return "transfer"
        if op == "fresh":
            return "python"  # its marks come late: see lowered
        if child.stage() == "run" and child.compiling is not None:
            return "lowering"
        return BY_STAGE[child.stage()]

    def lowered(self, seconds):
        """Of a fresh process, how long it compiled, the C++ compiler's time among it: it tells that at its end."""
        part = min(max(0, seconds - self.seconds.get("C++", 0)), self.seconds.get("python", 0))
        if part:
            self.seconds["python"] -= part
            self.seconds["lowering"] = self.seconds.get("lowering", 0) + part

    def heard(self, child, message):
        if "compilers" in message:
            self.compilers += 1 if message["compilers"] else -1
        self.turn(child)
        if "lowered" in message:
            self.lowered(message["lowered"])


def time_compiler(say):
    """Has this process say when a run of the C++ compiler begins and ends. PyTorch runs it by one function, maybe on several threads."""
    from torch._inductor import cpp_builder
    run = getattr(cpp_builder, "_run_compile_cmd", None)
    if run is None:
        return
    one = threading.Lock()

    def timed(*args, **kwargs):
        with one:
            say(compilers=True)
        try:
            return run(*args, **kwargs)
        finally:
            with one:
                say(compilers=False)

    cpp_builder._run_compile_cmd = timed


def time_lowering():
    """How long PyTorch says that it compiled in this process, in seconds; graphs within a frame are part of the frame's time."""
    from torch._dynamo import utils
    metrics = getattr(utils, "compilation_time_metrics", {})
    return max(sum(metrics.get(name, ())) for name in ("_compile.compile_inner", "compile_fx_inner"))
