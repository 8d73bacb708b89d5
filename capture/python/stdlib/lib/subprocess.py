"""Running other programs to their end."""
import posix as _p
import os

PIPE, STDOUT, DEVNULL = -1, -2, -3


class SubprocessError(Exception): pass


class CalledProcessError(SubprocessError):
    def __init__(self, returncode, cmd, output=None, stderr=None):
        self.returncode, self.cmd, self.output, self.stderr = returncode, cmd, output, stderr

    stdout = property(lambda s: s.output)

    def __str__(self):
        if self.returncode and self.returncode < 0:
            return "Command '%s' died with signal %d." % (self.cmd, -self.returncode)
        return "Command '%s' returned non-zero exit status %d." % (self.cmd, self.returncode)


class TimeoutExpired(SubprocessError):
    def __init__(self, cmd, timeout, output=None, stderr=None): self.cmd, self.timeout, self.output, self.stderr = cmd, timeout, output, stderr
    stdout = property(lambda s: s.output)
    def __str__(self): return "Command '%s' timed out after %s seconds" % (self.cmd, self.timeout)


class CompletedProcess:
    def __init__(self, args, returncode, stdout=None, stderr=None): self.args, self.returncode, self.stdout, self.stderr = args, returncode, stdout, stderr

    def __repr__(self):
        s = ['args={!r}'.format(self.args), 'returncode={!r}'.format(self.returncode)]
        if self.stdout is not None:
            s.append('stdout={!r}'.format(self.stdout))
        if self.stderr is not None:
            s.append('stderr={!r}'.format(self.stderr))
        return 'CompletedProcess(%s)' % ', '.join(s)

    def check_returncode(self):
        if self.returncode:
            raise CalledProcessError(self.returncode, self.args, self.stdout, self.stderr)


_mode = {None: 0, PIPE: 1, STDOUT: 2, DEVNULL: 3}


def run(args, *, input=None, stdin=None, stdout=None, stderr=None, capture_output=False, shell=False, cwd=None, timeout=None, check=False,
        encoding=None, errors=None, text=None, env=None, universal_newlines=None, **other):
    if capture_output:
        if stdout is not None or stderr is not None:
            raise ValueError('stdout and stderr arguments may not be used with capture_output.')
        stdout = stderr = PIPE
    text = text or universal_newlines or encoding is not None
    argv = [args] if isinstance(args, (str, os.PathLike)) or hasattr(args, '__fspath__') else list(args)
    if shell:
        argv = ['/bin/sh', '-c'] + argv
    if isinstance(input, str):
        input = input.encode()
    if input is None and stdin == DEVNULL:
        input = b''
    if env is not None:
        env = dict(env)
    elif os.environ._data is not None:
        env = dict(os.environ._data)
    of, ef = stdout, stderr
    rc, out, err = _p.run(argv, input, cwd, env, _mode.get(stdout, 1), _mode.get(stderr, 1), timeout)
    if stdout not in _mode:
        stdout.write(out if 'b' in getattr(stdout, 'mode', '') else out.decode())
    if stderr not in _mode:
        stderr.write(err if 'b' in getattr(stderr, 'mode', '') else err.decode())
    out = (out.decode() if text else out) if of == PIPE else None
    err = (err.decode() if text else err) if ef == PIPE else None
    if rc is None:
        raise TimeoutExpired(args, timeout, out, err)
    r = CompletedProcess(args, rc, out, err)
    if check:
        r.check_returncode()
    return r


def call(args, **kw): return run(args, **kw).returncode
def check_call(args, **kw): return run(args, check=True, **kw).returncode
def check_output(args, **kw): return run(args, stdout=PIPE, check=True, **kw).stdout
def getoutput(cmd): return getstatusoutput(cmd)[1]


def getstatusoutput(cmd):
    r = run(cmd, shell=True, text=True, stdout=PIPE, stderr=STDOUT)
    return r.returncode, r.stdout[:-1] if r.stdout.endswith('\n') else r.stdout


def list2cmdline(seq): return ' '.join(seq)


class Popen:
    """Runs at once, to its end, when communicate() or wait() is called."""

    def __init__(self, args, **kw):
        self.args, self._kw, self.returncode, self._done = args, kw, None, None
        self.pid = 0

    def communicate(self, input=None, timeout=None):
        if self._done is None:
            kw = {k: v for k, v in self._kw.items() if k not in ('bufsize', 'close_fds', 'preexec_fn', 'start_new_session', 'stdin')}
            self._done = run(self.args, input=input, timeout=timeout, **kw)
            self.returncode = self._done.returncode
        return self._done.stdout, self._done.stderr

    def wait(self, timeout=None):
        self.communicate(timeout=timeout)
        return self.returncode

    poll = wait
    def __enter__(self): return self
    def __exit__(self, *a): self.wait()
    def kill(self): pass
    terminate = kill
