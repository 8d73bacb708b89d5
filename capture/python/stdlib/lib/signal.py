"""Handlers of signals. They run on the thread of the interpreter, between two instructions."""
import enum as _e
import os as _os
import _signal


class Signals(_e.IntEnum):
    SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT = range(1, 17)
    SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS = range(17, 32)


class Handlers(_e.IntEnum):
    SIG_DFL = 0
    SIG_IGN = 1


class Sigmasks(_e.IntEnum):
    SIG_BLOCK = 0
    SIG_UNBLOCK = 1
    SIG_SETMASK = 2


for _enum in (Signals, Handlers, Sigmasks):
    globals().update(_enum.__members__)
SIGCLD, SIGPOLL, SIGIOT = Signals.SIGCHLD, Signals.SIGIO, Signals.SIGABRT
ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF = 0, 1, 2
NSIG = 65
ItimerError = OSError
_names = dict(enumerate('Hangup|Interrupt|Quit|Illegal instruction|Trace/breakpoint trap|Aborted|Bus error|Floating point exception|Killed|User defined signal 1|Segmentation fault|User defined signal 2|Broken pipe|Alarm clock|Terminated|Stack fault|Child exited|Continued|Stopped (signal)|Stopped|Stopped (tty input)|Stopped (tty output)|Urgent I/O condition|CPU time limit exceeded|File size limit exceeded|Virtual timer expired|Profiling timer expired|Window changed|I/O possible|Power failure|Bad system call'.split('|'), 1))


def default_int_handler(signalnum, frame, /):
    raise KeyboardInterrupt


def _handler(signalnum, h):
    if signalnum == Signals.SIGINT and not _signal.is_set(signalnum):
        return default_int_handler
    return Handlers(h) if isinstance(h, int) else h


def signal(signalnum, handler):
    set_before = getsignal(signalnum)
    _signal.signal(int(signalnum), int(handler) if isinstance(handler, _e.Enum) else handler)
    return set_before


def getsignal(signalnum):
    return _handler(signalnum, _signal.getsignal(int(signalnum)))


def raise_signal(signalnum, /):
    _signal.raise_signal(int(signalnum))


def alarm(seconds, /):
    left, _ = _signal.itimer(seconds, 0)
    return -int(-left // 1)


def setitimer(which, seconds, interval=0.0, /):
    if which != ITIMER_REAL:
        raise ItimerError(22, 'Invalid argument')
    return _signal.itimer(seconds, interval)


def getitimer(which, /):
    return _signal.left()


def pause():
    _signal.pause()


def strsignal(signalnum, /):
    if not 1 <= signalnum < NSIG:
        raise ValueError('signal number out of range')
    return _names.get(int(signalnum))


def valid_signals():
    return {Signals(n) if n in Signals._value2member_map_ else n for n in range(1, NSIG) if n not in (32, 33)}


def siginterrupt(signalnum, flag, /):
    pass


def set_wakeup_fd(fd, /, *, warn_on_full_buffer=True):
    return -1


def pthread_sigmask(how, mask, /):
    return set()


def pthread_kill(thread_id, signalnum, /):
    _signal.raise_signal(int(signalnum))
