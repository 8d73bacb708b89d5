"""A process that never runs anything, and forks Pythons that ran nothing before: for as long as the far side lives, each is as fresh as the first.

It is forked when torch is imported and nothing was compiled yet. A Python that it forks becomes the child of the far side itself, which waits for it
and ends it like any other: its parent ends at once, and the far side is the one that orphans go to.
"""
import contextlib
import os
import signal
import socket
import struct
import time

from .process import PR_SET_PDEATHSIG, prctl
from .warm import import_late

PATIENCE = 10  # seconds until a Python has to be forked: one that takes longer is made without the nursery


class Nursery:
    """The far side's end of it."""

    def __init__(self, server, be_child):
        """be_child(fds) is what a forked Python does with the descriptors that were sent along: it does not return."""
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.line.settimeout(PATIENCE)
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                os.setpgid(0, 0)
                self.line.close()
                server.leave()
                tend(theirs, parent, be_child)
            finally:
                os._exit(0)
        theirs.close()

    def fork(self, *fds):
        """The number of a new Python that has fds. After an OSError there is none to be had any more; one that comes too late is nobody's child."""
        try:
            socket.send_fds(self.line, [b"fork"], list(fds))
            told = self.line.recv(4)
            if len(told) < 4:
                raise OSError("the nursery is gone")
            return struct.unpack("i", told)[0]
        except OSError:
            self.close()
            raise

    def close(self):
        self.line.close()


def tend(line, parent, be_child):
    """Forks whenever it is asked to, until the other end is closed. Until it is first, there is time to import more."""
    import_late()
    while True:
        _, fds, _, _ = socket.recv_fds(line, 16, 8)
        if not fds:
            return
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid:
                line.send(struct.pack("i", pid))
                os._exit(0)
            line.close()
            adopted(parent)
            be_child(fds)
            os._exit(1)
        for fd in fds:
            os.close(fd)
        with contextlib.suppress(OSError):
            os.waitpid(between, 0)


def adopted(parent):
    """Waits until this process is the far side's child, and is to end with it. One that went to somebody else ends."""
    until = time.monotonic() + PATIENCE
    while os.getppid() != parent:
        if time.monotonic() > until:
            os._exit(1)
        time.sleep(0.0005)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
