package syntax

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseWholeCorpus(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.py")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(f, string(b)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// errorCases are checked against the words here, and against python3 where there is one.
var errorCases = []struct{ src, msg string }{
	{"try: pass\nexcept* A: pass\nexcept B: pass\n", "cannot have both 'except' and 'except*' on the same 'try'"},
	{"try: pass\nexcept*: pass\n", "expected one or more exception types"},
	{"1 = x\n", "cannot assign to literal here. Maybe you meant '==' instead of '='?"},
	{"f() = x\n", "cannot assign to function call here. Maybe you meant '==' instead of '='?"},
	{"None = 1\n", "cannot assign to None"},
	{"x = (1, 2\n", "'(' was never closed"},
	{"x = 1)\n", "unmatched ')'"},
	{"x = 'abc\n", "unterminated string literal (detected at line 1)"},
	{"x = '''abc\n\n", "unterminated triple-quoted string literal (detected at line 2)"},
	{"if x\n    pass\n", "expected ':'"},
	{"if x:\npass\n", "expected an indented block after 'if' statement on line 1"},
	{"x = 1\n    y = 2\n", "unexpected indent"},
	{"if x:\n        y = 2\n    z = 3\n", "unindent does not match any outer indentation level"},
	{"print 'x'\n", "Missing parentheses in call to 'print'. Did you mean print(...)?"},
	{"f(a=1, 2)\n", "positional argument follows keyword argument"},
	{"f'{a b}'\n", "f-string: invalid syntax. Perhaps you forgot a comma?"},
	{"f'{}'\n", "f-string: empty expression not allowed"},
	{"f'{a'\n", "f-string: expecting '}'"},
	{"f'}'\n", "f-string: single '}' is not allowed"},
	{"if x = 3: pass\n", "invalid syntax. Maybe you meant '==' or ':=' instead of '='?"},
	{"x = 012\n", "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers"},
	{"x = 1abc\n", "invalid decimal literal"},
	{"class A\n    pass\n", "expected ':'"},
	{"a, b += 1\n", "'tuple' is an illegal expression for augmented assignment"},
	{"x = = 2\n", "invalid syntax"},
	{"x = [1, 2 3]\n", "invalid syntax. Perhaps you forgot a comma?"},
	{"del f()\n", "cannot delete function call"},
	{"def f(a=1, b): pass\n", "non-default argument follows default argument"},
	{"from __future__ import nope\n", "future feature nope is not defined"},
	{"x = $\n", "invalid syntax"},
	{"try:\n    pass\nx = 1\n", "expected 'except' or 'finally' block"},
}

func TestSyntaxErrors(t *testing.T) {
	py, _ := exec.LookPath("python3")
	for _, c := range errorCases {
		_, err := Parse("t.py", c.src)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: no error, want %q", c.src, c.msg)
			continue
		}
		if e.Msg != c.msg {
			t.Errorf("%q: got %q (%d:%d), want %q", c.src, e.Msg, e.Line, e.Offset, c.msg)
		}
		if py == "" || testing.Short() || os.Getenv("WHITTLE_DIFF") == "" {
			continue
		}
		out, _ := exec.Command(py, "-c", "import sys\ntry: compile(sys.argv[1],'t.py','exec')\nexcept SyntaxError as e: print(e.msg, e.lineno, e.offset, sep='|')", c.src).Output()
		f := strings.Split(strings.TrimSpace(string(out)), "|")
		if len(f) == 3 && (f[0] != e.Msg || f[1] != itoa(e.Line) || f[2] != itoa(e.Offset)) {
			t.Errorf("%q: CPython says %v; we say %q %d %d", c.src, f, e.Msg, e.Line, e.Offset)
		}
	}
}

func itoa(n int) string {
	if n == 0 {
		return "0"
	}
	s := ""
	for ; n > 0; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

// TestStarredTuples parses what the grammar alone does not, with the right positions.
func TestStarredTuples(t *testing.T) {
	for _, src := range []string{"x = 1, *[2, 3]\n", "x = 1, *a, *(4,)\n", "def f():\n    return 1, *[2]\n", "def f(): return 1, *[2, 3], *(4,)\n", "for x in 1, *(2,): pass\n",
		"x = *[1], 2; y = lambda *a: a\n", "a, *b = 1, *(2,)\n"} {
		f, err := Parse("t.py", src)
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		if a, ok := f.Body[0].(*Assign); ok && len(f.Body) == 1 {
			p := a.Value.Pos()
			if got := src[p.Col:p.EndCol]; got != strings.TrimSpace(src[strings.Index(src, "=")+2:]) {
				t.Errorf("%q: the tuple is at %q", src, got)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range errorCases {
		f.Add(c.src)
	}
	f.Add("match x:\n    case [1, *r] if q: pass\n    case {'a': 1, **k}: pass\n    case P(x=1) | None as z: pass\n")
	f.Add("f'{a!r:>{w}}' 'x'\n")
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 4096 {
			return
		}
		_, err := Parse("fuzz.py", src)
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("not a syntax.Error: %v", err)
		}
		if e != nil && strings.HasPrefix(e.Msg, "internal error") {
			t.Fatalf("%q: %v", src, e)
		}
	})
}
