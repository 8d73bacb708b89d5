import os
import enum as _e


class Signals(_e.IntEnum):
    SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM = range(1, 16)
    SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP = 17, 18, 19, 20


globals().update(Signals.__members__)
SIG_DFL, SIG_IGN = 0, 1
_handlers = {}


def signal(signum, handler):
    old = _handlers.get(signum, SIG_DFL)
    _handlers[signum] = handler
    return old


def getsignal(signum): return _handlers.get(signum, SIG_DFL)


def raise_signal(signum):
    h = _handlers.get(signum, SIG_DFL)
    if callable(h):
        h(signum, None)
    elif h == SIG_DFL:
        os.kill(os.getpid(), signum)


def default_int_handler(signum, frame): raise KeyboardInterrupt
def alarm(n): return 0
def setitimer(*a): return (0.0, 0.0)
def pthread_sigmask(how, mask): return set()
def strsignal(n): return str(n)
