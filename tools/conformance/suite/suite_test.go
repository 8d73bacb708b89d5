package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/cpython/real"
)

// cases is a file of tests of which one fails, one takes the interpreter down, one holds it, and one is left to run after each.
const cases = `
import os, time, unittest

class T(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): self.assertEqual(1, 2)
    def test_c(self): os._exit(3)
    def test_d(self): pass
    def test_e(self): time.sleep(60)
    def test_f(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_g(self): self.skipTest("not today")
    def test_h(self): pass
`

// TestRun: under a real CPython every test gets its result, whatever the others do.
func TestRun(t *testing.T) {
	py, err := real.Python()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"test_cases.py": cases, "test_broken.py": "import no_such_module\n", "__init__.py": ""} {
		if err := os.MkdirAll(filepath.Join(dir, "tests"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tests", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var records []Record
	for _, c := range "abcdefgh" {
		records = append(records, Record{File: "test_cases", Test: "tests.test_cases.T.test_" + string(c), Result: "ok"})
	}
	records = append(records, Record{File: "test_broken", Test: "tests.test_broken.T.test", Result: "ok"}, Record{File: "test_cases", Test: "tests.test_cases.T.other", Result: "FAIL"})
	rep, err := Run(context.Background(), records, Config{Command: []string{py}, Module: InPackage("tests", "PYTHONPATH", dir), Workers: 2, Limit: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range rep.Files {
		for _, x := range f.Tests {
			got[x.Test[len("tests."):]] = x.Result + " " + x.Cause
		}
	}
	want := map[string]string{
		"test_broken.T.test":  "missing ERROR: ModuleNotFoundError: No module named 'no_such_module'",
		"test_cases.T.test_a": "ok ", "test_cases.T.test_b": "FAIL AssertionError: 1 != 2", "test_cases.T.test_c": "crash ", "test_cases.T.test_d": "ok ",
		"test_cases.T.test_e": "time longer than 2s", "test_cases.T.test_f": "FAIL AssertionError: 1 == 1", "test_cases.T.test_g": "skipped not today", "test_cases.T.test_h": "ok ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if rep.OK != 3 || rep.Of != 9 || rep.Mean != 100*(3.0/8)/2 {
		t.Errorf("%d of %d, mean %v", rep.OK, rep.Of, rep.Mean)
	}
}

// TestKinds: what stops a test is told from how it ended and from the text of its cause.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		result, cause string
		want          Kind
	}{
		{"crash", "panic: nil", Crash},
		{"time", "longer than 2s", Time},
		{"skipped", "no CUDA", Skipped},
		{"missing", "crash: fatal error: stack", Crash},
		{"missing", "ERROR: ModuleNotFoundError: No module named 'x'", Module},
		{"ERROR", "ImportError: cannot import name 'x' from 'y'", Module},
		{"ERROR", "AttributeError: module 'torch' has no attribute 'x'", Name},
		{"ERROR", "TypeError: f() got an unexpected keyword argument 'x'", Name},
		{"ERROR", "Unsupported: call_function", Break},
		{"FAIL", "AssertionError: Scalars are not equal!", Break},
		{"FAIL", "AssertionError: 'a' != 'b'", Text},
		{"FAIL", "AssertionError: Tensor-likes are not close!", Value},
		{"ERROR", "TypeError: unhashable type: 'list'", Raised},
	} {
		if got := kindOf(Record{Result: c.result, Cause: c.cause}); got != c.want {
			t.Errorf("%s %q: %s, not %s", c.result, c.cause, got, c.want)
		}
	}
}

// TestAlone: each test has an interpreter of its own, which starts in a copy of the folder, so that no test sees what another one has left.
func TestAlone(t *testing.T) {
	py, err := real.Python()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := `
import os, unittest
class T(unittest.TestCase):
    def test_a(self): open("left", "x").close()
    def test_b(self): open("left", "x").close()
    def test_c(self): os._exit(3)
`
	if err := os.WriteFile(filepath.Join(dir, "test_alone.py"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var records []Record
	for _, c := range "abc" {
		records = append(records, Record{File: "test_alone.py", Test: "test_alone.T.test_" + string(c), Result: "ok"})
	}
	module := func(_, at string) (string, []string) { return "test_alone", []string{"PYTHONPATH=" + at} }
	rep, err := Run(context.Background(), records, Config{Command: []string{py}, Module: module, Dir: dir, Alone: true, Workers: 2, Limit: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range rep.Files {
		for _, x := range f.Tests {
			got = append(got, x.Test+" "+x.Result)
		}
	}
	if d := cmp.Diff([]string{"test_alone.T.test_a ok", "test_alone.T.test_b ok", "test_alone.T.test_c crash"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Kind]int{Crash: 1}, rep.Kinds); d != "" {
		t.Error(d)
	}
}

// TestEarlier: what an earlier run has is not run again, each file is told of when its last test has ended, and a stopped run reports what it has.
func TestEarlier(t *testing.T) {
	py, err := real.Python()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := `
import unittest
class T(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): self.fail("run again")
`
	var records []Record
	for _, f := range []string{"test_one", "test_two", "test_three"} {
		if err := os.WriteFile(filepath.Join(dir, f+".py"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, c := range "ab" {
			records = append(records, Record{File: f, Test: f + ".T.test_" + string(c), Result: "ok"})
		}
	}
	var said []string
	enough := errors.New("enough")
	config := Config{
		Command: []string{py}, Dir: dir, Alone: true, Workers: 1, Limit: 20 * time.Second,
		Module:  func(file, at string) (string, []string) { return file, []string{"PYTHONPATH=" + at} },
		Earlier: map[string]Record{"test_one.T.test_b": {File: "test_one", Test: "test_one.T.test_b", Result: "ok"}},
		Each: func(f File, far Report) error {
			said = append(said, fmt.Sprintf("%s %d of %d, %d of %d", f.Name, f.OK, f.Of, far.OK, far.Of))
			if far.Of == 4 {
				return enough
			}
			return nil
		},
	}
	rep, err := Run(context.Background(), records, config)
	if !errors.Is(err, enough) {
		t.Errorf("%v, not %v", err, enough)
	}
	if d := cmp.Diff([]string{"test_one 2 of 2, 2 of 2", "test_three 1 of 2, 3 of 4"}, said); d != "" {
		t.Error(d)
	}
	if rep.OK != 3 || rep.Of != 4 {
		t.Errorf("%d of %d", rep.OK, rep.Of)
	}
}
