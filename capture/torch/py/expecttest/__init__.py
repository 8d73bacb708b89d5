"""Tests whose expected text stands in the test itself, and is written there by the run with EXPECTTEST_ACCEPT=1 or --accept.

It takes the place of the package of this name where that is not installed.
"""
import ast
import os
import re
import sys
import traceback
import unittest

ACCEPT = os.getenv("EXPECTTEST_ACCEPT", "") not in ("", "0")
LINENO_AT_START = True

RE_EXPECT = re.compile(r"(?P<raw>r?)(?P<quote>'''|\"\"\")(?P<body>.*?)(?P=quote)", re.DOTALL)


class PositionInfo:
    """Where a call of assert_expected_inline stands."""

    def __init__(self, filename, lineno):
        self.filename, self.lineno = filename, lineno


def nth_line(src, lineno):
    """The index at which a line begins; lines count from 1."""
    assert lineno >= 1
    pos = 0
    for _ in range(lineno - 1):
        pos = src.find("\n", pos) + 1
    return pos


def nth_eol(src, lineno):
    """The index at which a line ends."""
    assert lineno >= 1
    pos = -1
    for _ in range(lineno):
        pos = src.find("\n", pos + 1)
        if pos == -1:
            return len(src)
    return pos


def normalize_nl(t):
    return t.replace("\r\n", "\n").replace("\r", "\n")


def escape_trailing_quote(s, quote):
    if s and s[-1] == quote:
        return s[:-1] + "\\" + quote
    return s


def ok_for_raw_triple_quoted_string(s, quote):
    """Whether a text can be written as r\"\"\"...\"\"\" as it is."""
    return quote * 3 not in s and (not s or s[-1] not in (quote, "\\"))


def replace_many(rep, text):
    if not rep:
        return text
    return re.compile("|".join(map(re.escape, rep))).sub(lambda m: rep[m.group(0)], text)


class EditHistory:
    """What was written into files during this run: later positions move by it."""

    def __init__(self):
        self.state = {}
        self.seen = set()

    def adjust_lineno(self, fn, lineno):
        return lineno + sum(delta for at, delta in self.state.get(fn, []) if lineno > at)

    def seen_file(self, fn):
        return fn in self.state

    def seen_edit(self, fn, lineno):
        return (fn, lineno) in self.seen

    def record_edit(self, fn, lineno, delta, expect=None):
        self.seen.add((fn, lineno))
        self.state.setdefault(fn, []).append((lineno, delta))


EDIT_HISTORY = EditHistory()


def replace_string_literal(src, start_lineno, end_lineno, new_string):
    """The source with the first triple-quoted text of these lines replaced, and how many lines that adds."""
    begin, end = nth_line(src, start_lineno), nth_eol(src, end_lineno)
    added = 0

    def replace(m):
        nonlocal added
        s = new_string
        raw, quote = m.group("raw"), m.group("quote")[0]
        if not ok_for_raw_triple_quoted_string(s, quote) or raw != "r":
            raw = "r" if "\\" in s and ok_for_raw_triple_quoted_string(s, quote) else ""
        if raw == "":
            s = escape_trailing_quote(s.replace("\\", "\\\\").replace(quote * 3, ("\\" + quote) * 3), quote)
        text = "\\\n" + s if "\n" in s and raw == "" else s
        added = text.count("\n") - m.group("body").count("\n")
        return raw + quote * 3 + text + quote * 3

    return src[:begin] + RE_EXPECT.sub(replace, src[begin:end], count=1) + src[end:], added


def _accept_output(pos, actual, debug_suffix):
    if EDIT_HISTORY.seen_edit(pos.filename, pos.lineno):
        raise AssertionError(f"Uh oh, accepting different outputs for the same code in {pos.filename}:{pos.lineno}.{debug_suffix}")
    with open(pos.filename, newline="") as f:
        src = f.read()
    # Positions are those of the file as it was loaded.
    start = EDIT_HISTORY.adjust_lineno(pos.filename, pos.lineno)
    end = start
    for node in ast.walk(ast.parse(src)):
        if isinstance(node, ast.Call) and node.lineno == start:
            end = max(end, node.end_lineno)
    new, added = replace_string_literal(src, start, end, actual)
    if new == src:
        raise AssertionError(f"Failed to accept the output{debug_suffix}: no triple-quoted text is at {pos.filename}:{pos.lineno}")
    with open(pos.filename, "w", newline="") as f:
        f.write(new)
    EDIT_HISTORY.record_edit(pos.filename, pos.lineno, added)


def assert_eq(expect, actual, *, msg):
    if expect != actual:
        raise AssertionError(msg)


def assert_expected_inline(actual, expect, skip=0, *, pos=None, expect_filters=None, assert_eq=assert_eq, debug_id="", lineno=None):
    """Fails if actual is not expect; in accepting mode the test's own file is changed instead."""
    suffix = f" for {debug_id}" if debug_id else ""
    if pos is None:
        frame = sys._getframe(1 + skip)
        pos = PositionInfo(frame.f_code.co_filename, frame.f_lineno)
    for raw, kind in (expect_filters or {}).items():
        actual = actual.replace(raw, kind)
    if ACCEPT:
        if actual != expect:
            _accept_output(pos, actual, suffix)
        return
    assert_eq(expect, actual, msg=f"To accept the new output{suffix}, re-run test with envvar EXPECTTEST_ACCEPT=1 (we recommend staging/committing your changes before doing this)")


class Expect:
    """The expected text together with its place, for helpers that check later."""

    def __init__(self, expected, *, skip=0):
        self.expected = expected
        frame = sys._getframe(1 + skip)
        self.pos = PositionInfo(frame.f_code.co_filename, frame.f_lineno)


class TestCase(unittest.TestCase):
    longMessage = True
    _expect_filters = None

    def substituteExpected(self, pattern, replacement):
        """From here on pattern counts as replacement in what a test gives."""
        if not pattern:
            raise ValueError("pattern cannot be empty")
        if self._expect_filters is None:
            self._expect_filters = {}

            def clear():
                self._expect_filters = None

            self.addCleanup(clear)
        if pattern in self._expect_filters:
            raise ValueError(f"Cannot remap {pattern} to {replacement} (existing mapping is {self._expect_filters[pattern]})")
        self._expect_filters[pattern] = replacement

    def _assert_multiline_equal(self, expect, actual, *, msg):
        if hasattr(self, "assertMultiLineEqualMaybeCppStack"):
            self.assertMultiLineEqualMaybeCppStack(expect, actual, msg=msg)
        else:
            self.assertMultiLineEqual(expect, actual, msg=msg)

    def assertExpectedInline(self, actual, expect, skip=0):
        if isinstance(expect, Expect):
            pos, expect = expect.pos, expect.expected
        else:
            frame = sys._getframe(1 + skip)
            pos = PositionInfo(frame.f_code.co_filename, frame.f_lineno)
        assert_expected_inline(actual, expect, pos=pos, expect_filters=self._expect_filters, assert_eq=self._assert_multiline_equal, debug_id=self.id())

    def assertExpectedInlineMunged(self, exc_type, callable, expect, *, suppress_suffix=True):
        self.assertExpectedRaisesInline(exc_type, callable, expect, skip=1)

    def assertExpectedRaisesInline(self, exc_type, callable, expect, *args, skip=0, **kwargs):
        try:
            callable(*args, **kwargs)
        except exc_type as e:
            self.assertExpectedInline(str(e), expect, skip=skip + 1)
            return
        self.fail(f"Did not raise when expected to: {exc_type}")
