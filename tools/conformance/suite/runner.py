"""Runs the tests of one module and writes what becomes of each, a line of JSON: runner.py OUT DONE MODULE [TEST ...].

Tests whose ids are in the file DONE are left out; where ids are given, all others are.
"""
import json
import sys
import unittest

out_path, done_path, module, *only = sys.argv[1:]
sys.argv = [sys.argv[0]]
out = open(out_path, "a", encoding="utf-8")


def say(**line):
    out.write(json.dumps(line) + "\n")
    out.flush()


def cause(err):
    """The last line of an exception: its class and the first line of its text."""
    kind, value, _ = err
    try:
        text = str(value).strip().partition("\n")[0]
    except Exception as e:
        text = "no text, for " + type(e).__name__
    return kind.__name__ + (": " + text if text else "")


class Result(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        say(start=test.id())

    def addSuccess(self, test):
        say(test=test.id(), result="ok")

    def addFailure(self, test, err):
        say(test=test.id(), result="FAIL", cause=cause(err))

    def addError(self, test, err):
        say(test=test.id(), result="ERROR", cause=cause(err))

    def addSubTest(self, test, subtest, err):
        if err is not None:
            say(test=test.id(), result="FAIL", cause=cause(err))

    def addSkip(self, test, reason):
        say(test=test.id(), result="skipped", cause=str(reason))

    def addExpectedFailure(self, test, err):
        say(test=test.id(), result="expected")

    def addUnexpectedSuccess(self, test):
        say(test=test.id(), result="unexpected")


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


with open(done_path, encoding="utf-8") as f:
    done = set(f.read().split("\n"))
try:
    __import__(module)
except unittest.SkipTest as e:
    say(module="skipped", cause=str(e))
    sys.exit(0)
except BaseException:
    say(module="ERROR", cause=cause(sys.exc_info()))
    sys.exit(1)
tests = [t for t in flat(unittest.defaultTestLoader.loadTestsFromName(module)) if t.id() not in done and (not only or t.id() in only)]
unittest.TestSuite(tests).run(Result())
say(module="done")
