"""What a far side does that is kept for one command after another: nothing of a command is left for the next."""
import contextlib
import os
import shutil
import sys
import time

from .headers import precompile
from .process import background, descendants, kill


class Kept:
    """What it was like when it started."""

    def __init__(self, home):
        """home is the folder that its command was started in: one that has it as its own goes to the folders of those who come."""
        import torch
        from torch._inductor.cpp_builder import get_cpp_compiler
        self.follows = os.path.realpath(os.getcwd()) == os.path.realpath(home)
        self.files = [torch.__file__, os.path.join(os.path.dirname(torch.__file__), "version.py"), os.path.realpath(sys.executable)]
        with contextlib.suppress(Exception):  # of a machine without a compiler
            self.files.append(os.path.realpath(shutil.which(get_cpp_compiler())))
        self.stamps = self.look()

    def look(self):
        """What tells the files of this torch, its Python and its compiler from others of the same names."""
        out = []
        for path in self.files:
            with contextlib.suppress(OSError):
                s = os.stat(path)
                out.append((path, s.st_ino, s.st_size, s.st_mtime_ns))
        return out


def attach(server, message):
    """Somebody comes. Says why it cannot be had, if so."""
    if server.kept.look() != server.kept.stamps:
        return {"refused": "another torch, Python or compiler was installed since"}
    if server.kept.follows:
        try:
            os.chdir(message["cwd"])
        except OSError as e:
            return {"refused": str(e)}
    return {}


def reset(server, message):
    """Whoever came is gone. What was asked is answered to nobody, and all that it left is dropped: processes, storages, generated code."""
    for child in list(server.children.values()):
        server.drop(child)
    server.children.clear()
    server.pool.clear()
    nursery = server.nursery.pid
    spare = {nursery, *descendants(nursery)}
    end_all(server, spare)
    for entry in list(os.scandir(server.tmp)):
        if entry.path != server.source and entry.name != "lock":
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.remove(entry.path)
    os.mkdir(server.storages)
    forget_files()
    background(server, precompile)
    return {}


def end_all(server, spare):
    """Ends the processes below this one but those in spare, and those that they were about to start, and sees them gone; what a file system holds
    is not waited for longer than a moment."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        left = [pid for pid in descendants(os.getpid()) if pid not in spare]
        if not left:
            return
        for pid in left:
            kill(pid)
        server.reap()
        time.sleep(0.002)


def forget_files():
    """Has PyTorch forget which files it has written into its cache."""
    from torch._inductor import utils
    for name in ("clear_inductor_caches", "clear_caches"):
        clear = getattr(utils, name, None)
        if clear is not None:
            return clear()


OPS = {"attach": attach, "reset": reset}
