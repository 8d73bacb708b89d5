"""multiprocessing, as PyTorch offers it: tensors travel by value."""
import multiprocessing
from multiprocessing import *

_sharing = "file_descriptor"


def get_all_sharing_strategies():
    return {"file_descriptor", "file_system"}


def get_sharing_strategy():
    return _sharing


def set_sharing_strategy(new_strategy):
    global _sharing
    assert new_strategy in get_all_sharing_strategies()
    _sharing = new_strategy


class ProcessException(Exception):
    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    pass


class ProcessExitedException(ProcessException):
    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def _wrap(fn, i, args, errors):
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        import sys
        import traceback

        errors.put(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    def __init__(self, processes, errors):
        self.processes, self.error_queues = processes, errors

    def pids(self):
        return [p.pid for p in self.processes]

    def join(self, timeout=None):
        """Waits; the first failure ends the others and is raised."""
        for i, p in enumerate(self.processes):
            p.join(timeout)
            if p.exitcode:
                for other in self.processes:
                    if other.is_alive():
                        other.terminate()
                if self.error_queues[i].empty():
                    raise ProcessExitedException(f"process {i} terminated with exit code {p.exitcode}", i, p.pid, p.exitcode)
                raise ProcessRaisedException(f"\n\n-- Process {i} terminated with the following error:\n{self.error_queues[i].get()}", i, p.pid)
        return not any(p.is_alive() for p in self.processes)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    context = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for i in range(nprocs):
        queue = context.SimpleQueue()
        p = context.Process(target=_wrap, args=(fn, i, args, queue), daemon=daemon)
        p.start()
        processes.append(p)
        errors.append(queue)
    made = ProcessContext(processes, errors)
    if not join:
        return made
    while not made.join():
        pass


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    return start_processes(fn, args, nprocs, join, daemon, start_method)
