"""The kernels of one graph, compiled a few at a time: most of what a small one costs is the start of the compiler and the header."""
import contextlib
import functools
import os
import shlex

from .joined import compile_joined, named_in
from .pool import library


def compile_together(mark, cores):
    """In a child that compiles on threads: kernels are compiled when the first is waited for, all of them by as many compilers as there are
    cores. What cannot be joined is compiled as ever."""
    from torch._inductor.async_compile import AsyncCompile
    submit = AsyncCompile.submit.__func__
    batch = Batch(mark, cores)

    def later(cls, task):
        wish = kernel(task)
        return submit(cls, task) if wish is None else batch.add(wish, task, lambda: submit(cls, task), cls.pool)

    AsyncCompile.submit = classmethod(later)


def kernel(task):
    """What a task reads and writes that compiles one kernel; None for others."""
    from torch._inductor import codecache
    if not isinstance(task, functools.partial) or getattr(task.func, "__name__", "") != codecache._worker_compile_cpp.__name__ or len(task.args) < 2:
        return None
    builders = task.args[1] if isinstance(task.args[1], (list, tuple)) else [task.args[1]]
    with contextlib.suppress(Exception):
        return library(shlex.split(builders[0].get_command_line())) if len(builders) == 1 else None


class Batch:
    """Kernels that nobody has waited for yet."""

    def __init__(self, mark, cores):
        self.mark, self.cores, self.todo = mark, cores, []

    def add(self, wish, task, submit, pool):
        self.todo.append(Later(self, wish, task, submit, pool))
        return self.todo[-1]

    def build(self):
        """Has all of them under way, or there."""
        todo, self.todo = self.todo, []
        kinds = {}
        for k in todo:
            kinds.setdefault(k.flags, []).append(k)
        for kernels in kinds.values():
            if len(kernels) > self.cores:
                self.join(kernels)
        for k in todo:
            k.future = k.submit()

    def join(self, kernels):
        """Compiles kernels by as many compilers as there are cores. An error is told as the compiler says it of the first kernel alone that it finds at
        fault: it goes on after errors, so those before it have none."""
        shares = [[] for _ in range(self.cores)]
        for k in sorted(kernels, key=lambda k: -os.path.getsize(k.source)):
            min(shares, key=lambda share: sum(os.path.getsize(o.source) for o in share)).append(k)
        self.mark.compilers(True)
        try:
            said = [r.result() for r in [kernels[0].pool().submit(compile_joined, [(k.source, k.output) for k in share], share[0].command) for share in shares]]
        finally:
            self.mark.compilers(False)
        guilty = [k for k in kernels if any(named_in(text, k.source) for text in said if text)]
        if guilty:
            guilty[0].task()


class Later:
    """Stands for what a pool of threads gives for a task."""

    def __init__(self, batch, wish, task, submit, pool):
        self.batch, self.task, self.submit, self.pool, self.future = batch, task, submit, pool, None
        self.source, self.output, self.command = wish["source"], wish["output"], wish["command"]
        self.flags = tuple(w for w in self.command if w not in (self.source, self.output))

    def result(self, timeout=None):
        if self.future is None:
            self.batch.build()
        if self.future is None:  # an error ended it
            self.future = self.submit()
        return self.future.result(timeout)

    def done(self):
        return self.future is not None and self.future.done()
