"""Repros: programs that run a graph that failed, and have it made smaller."""
import os
import subprocess
import sys


def asked(command):
    """The command that a repro's arguments give, else the one that it names; minify is done at once, in another process.

    The smallest graph goes into repro.py in the current folder.
    """
    given = sys.argv[1:] if sys.modules["__main__"].__dict__.get("__name__") == "__main__" else []
    if given and given[0] in ("run", "minify", "analyze", "minifier-query"):
        command = given[0]
    if command in ("analyze", "minifier-query"):
        raise NotImplementedError(f"the command {command} of repros is not supported")
    if command == "minify" and os.environ.get("WHITTLE_IN_MINIFIER") is None:
        options = ["--strict-accuracy"] if "--strict-accuracy" in given else []
        done = subprocess.run([sys.executable, "minify", "--engine", "native", *options, "-o", os.path.join(os.getcwd(), "repro.py"), sys.argv[0]])
        if done.returncode:
            sys.exit(done.returncode)
    return command
