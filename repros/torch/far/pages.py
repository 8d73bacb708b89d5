"""The parent's memory in large pages. A fork copies a table of all pages, the longest thing that it does: 512 small ones take as many of its entries
as one large one.

See madvise(2), MADV_COLLAPSE (Linux 6.1). Where there is no such thing, all stays as it is.
"""
import contextlib
import ctypes
import re

LARGE = 2 << 20  # bytes of a large page on x86-64; where they are larger, madvise says no
AT_ONCE = 8 << 20  # bytes in one go, which takes some 20 ms: somebody may be waiting
HUGEPAGE, COLLAPSE = 14, 25  # MADV_


class Pages:
    """Goes once over the memory that there is when it is first asked to."""

    def __init__(self):
        self.todo = None  # (address, bytes)
        with contextlib.suppress(Exception):
            self.madvise = ctypes.CDLL(None, use_errno=True).madvise
            self.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def left(self):
        return self.todo is None or len(self.todo) > 0

    def turn(self):
        """Does the next part."""
        if self.todo is None:
            self.todo = list(private())
        if not self.left():
            return
        at, size = self.todo.pop()
        try:
            self.madvise(at, size, HUGEPAGE)
            good = self.madvise(at, size, COLLAPSE) == 0
            known = good or ctypes.get_errno() != 22  # EINVAL
        except Exception:
            known = False
        if not known:
            self.todo = []


def private():
    """The parts of this process's memory that are its own and no file's, as far as large pages fit in."""
    line = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw.p \S+ \S+ 0 *(\[heap\])?$")
    with contextlib.suppress(OSError), open("/proc/self/maps") as f:
        for m in filter(None, map(line.match, f)):
            begin, end = -(-int(m[1], 16) // LARGE) * LARGE, int(m[2], 16) // LARGE * LARGE
            for at in range(begin, end, AT_ONCE):
                yield at, min(AT_ONCE, end - at)
