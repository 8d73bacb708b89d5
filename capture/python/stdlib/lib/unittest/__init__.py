"""A small test framework."""
import sys
import traceback
import contextlib


class SkipTest(Exception): pass


def skip(reason):
    def d(f):
        f.__unittest_skip__, f.__unittest_skip_why__ = True, reason
        return f
    return d


def skipIf(c, reason): return skip(reason) if c else lambda f: f
def skipUnless(c, reason): return skip(reason) if not c else lambda f: f


def expectedFailure(f):
    f.__unittest_expecting_failure__ = True
    return f


class _Raises:
    def __init__(self, case, exc, regex=None): self.case, self.exc, self.regex, self.exception = case, exc, regex, None
    def __enter__(self): return self

    def __exit__(self, t, v, tb):
        if t is None:
            self.case.fail('%s not raised' % getattr(self.exc, '__name__', self.exc))
        if not issubclass(t, self.exc):
            return False
        self.exception = v
        if self.regex is not None:
            import re
            if not re.search(self.regex, str(v)):
                self.case.fail('"%s" does not match "%s"' % (self.regex, v))
        return True


class TestCase:
    failureException = AssertionError
    maxDiff = None

    def __init__(self, methodName='runTest'): self._testMethodName, self._cleanups = methodName, []
    def setUp(self): pass
    def tearDown(self): pass
    @classmethod
    def setUpClass(cls): pass
    @classmethod
    def tearDownClass(cls): pass
    def id(self): return '%s.%s' % (type(self).__qualname__, self._testMethodName)
    def addCleanup(self, f, *a, **k): self._cleanups.append((f, a, k))
    def skipTest(self, reason): raise SkipTest(reason)
    @contextlib.contextmanager
    def subTest(self, msg=None, **params): yield
    def fail(self, msg=None): raise self.failureException(msg)
    def _m(self, msg, std): return std if msg is None else '%s : %s' % (std, msg)

    def assertTrue(self, x, msg=None):
        if not x:
            self.fail(self._m(msg, '%r is not true' % (x,)))

    def assertFalse(self, x, msg=None):
        if x:
            self.fail(self._m(msg, '%r is not false' % (x,)))

    def assertEqual(self, a, b, msg=None):
        if not a == b:
            self.fail(self._m(msg, '%r != %r' % (a, b)))

    assertListEqual = assertDictEqual = assertTupleEqual = assertSetEqual = assertSequenceEqual = assertMultiLineEqual = assertEqual

    def assertNotEqual(self, a, b, msg=None):
        if not a != b:
            self.fail(self._m(msg, '%r == %r' % (a, b)))

    def assertIs(self, a, b, msg=None):
        if a is not b:
            self.fail(self._m(msg, '%r is not %r' % (a, b)))

    def assertIsNot(self, a, b, msg=None):
        if a is b:
            self.fail(self._m(msg, 'unexpectedly identical: %r' % (a,)))

    def assertIsNone(self, a, msg=None):
        if a is not None:
            self.fail(self._m(msg, '%r is not None' % (a,)))

    def assertIsNotNone(self, a, msg=None):
        if a is None:
            self.fail(self._m(msg, 'unexpectedly None'))

    def assertIn(self, a, b, msg=None):
        if a not in b:
            self.fail(self._m(msg, '%r not found in %r' % (a, b)))

    def assertNotIn(self, a, b, msg=None):
        if a in b:
            self.fail(self._m(msg, '%r unexpectedly found in %r' % (a, b)))

    def assertIsInstance(self, a, c, msg=None):
        if not isinstance(a, c):
            self.fail(self._m(msg, '%r is not an instance of %r' % (a, c)))

    def assertNotIsInstance(self, a, c, msg=None):
        if isinstance(a, c):
            self.fail(self._m(msg, '%r is an instance of %r' % (a, c)))

    def _cmp(self, ok, a, op, b, msg):
        if not ok:
            self.fail(self._m(msg, '%r not %s %r' % (a, op, b)))

    def assertLess(self, a, b, msg=None): self._cmp(a < b, a, 'less than', b, msg)
    def assertLessEqual(self, a, b, msg=None): self._cmp(a <= b, a, 'less than or equal to', b, msg)
    def assertGreater(self, a, b, msg=None): self._cmp(a > b, a, 'greater than', b, msg)
    def assertGreaterEqual(self, a, b, msg=None): self._cmp(a >= b, a, 'greater than or equal to', b, msg)

    def assertAlmostEqual(self, a, b, places=7, msg=None, delta=None):
        if a == b or (abs(a - b) <= delta if delta is not None else round(abs(a - b), places) == 0):
            return
        self.fail(self._m(msg, '%r != %r within %s' % (a, b, '%r delta' % delta if delta is not None else '%r places' % places)))

    def assertCountEqual(self, a, b, msg=None):
        from collections import Counter
        if Counter(a) != Counter(b):
            self.fail(self._m(msg, 'Element counts were not equal'))

    def assertRegex(self, text, rx, msg=None):
        import re
        if not re.search(rx, text):
            self.fail(self._m(msg, "Regex didn't match: %r not found in %r" % (rx, text)))

    def assertRaises(self, exc, f=None, *a, **k):
        c = _Raises(self, exc)
        if f is None:
            return c
        with c:
            f(*a, **k)

    def assertRaisesRegex(self, exc, rx, f=None, *a, **k):
        c = _Raises(self, exc, rx)
        if f is None:
            return c
        with c:
            f(*a, **k)

    def run(self, result):
        f = getattr(self, self._testMethodName)
        result.testsRun += 1
        if getattr(f, '__unittest_skip__', False) or getattr(type(self), '__unittest_skip__', False):
            result.skipped.append((self, getattr(f, '__unittest_skip_why__', '')))
            return
        try:
            try:
                self.setUp()
                try:
                    f()
                finally:
                    self.tearDown()
            finally:
                while self._cleanups:
                    g, a, k = self._cleanups.pop()
                    g(*a, **k)
        except SkipTest as e:
            result.skipped.append((self, str(e)))
        except self.failureException:
            result.failures.append((self, traceback.format_exc()))
        except Exception:
            result.errors.append((self, traceback.format_exc()))


class TestResult:
    def __init__(self): self.testsRun, self.failures, self.errors, self.skipped = 0, [], [], []
    def wasSuccessful(self): return not self.failures and not self.errors


class TestSuite(list):
    def addTest(self, t): self.append(t)

    def run(self, result):
        cls = None
        for t in self:
            if isinstance(t, TestCase) and type(t) is not cls:
                if cls is not None:
                    cls.tearDownClass()
                cls = type(t)
                cls.setUpClass()
            t.run(result)
        if cls is not None:
            cls.tearDownClass()


class TestLoader:
    def loadTestsFromTestCase(self, c): return TestSuite(c(n) for n in sorted(dir(c)) if n.startswith('test') and callable(getattr(c, n)))

    def loadTestsFromModule(self, m):
        s = TestSuite()
        for v in list(vars(m).values()):
            if isinstance(v, type) and issubclass(v, TestCase) and v is not TestCase:
                s.extend(self.loadTestsFromTestCase(v))
        return s


class TextTestRunner:
    def __init__(self, stream=None, verbosity=1, **kw): self.stream = stream or sys.stderr

    def run(self, suite):
        import time
        r = TestResult()
        t = time.time()
        suite.run(r)
        w = self.stream.write
        for kind, l in (('ERROR', r.errors), ('FAIL', r.failures)):
            for c, tb in l:
                w('=' * 70 + '\n%s: %s\n' % (kind, c.id()) + '-' * 70 + '\n' + tb + '\n')
        w('-' * 70 + '\nRan %d test%s in %.3fs\n\n' % (r.testsRun, '' if r.testsRun == 1 else 's', time.time() - t))
        w('OK\n' if r.wasSuccessful() else 'FAILED (failures=%d, errors=%d)\n' % (len(r.failures), len(r.errors)))
        return r


def main(module='__main__', argv=None, exit=True, verbosity=1, **kw):
    m = sys.modules[module] if isinstance(module, str) else module
    r = TextTestRunner(verbosity=verbosity).run(TestLoader().loadTestsFromModule(m))
    if exit:
        sys.exit(not r.wasSuccessful())


defaultTestLoader = TestLoader()
