package torch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eval calls a function of far/headers.py on one text, in a Python without torch. It gives the text that the function does.
func eval(t *testing.T, function, text string) string {
	t.Helper()
	python := python3(t)
	cmd := exec.Command(python, "-c", `
import sys
exec(compile(open(sys.argv[1]).read(), "whittle", "exec"), {"__name__": "whittle"})
from whittle_far import headers
sys.stdout.write(getattr(headers, sys.argv[2])(sys.stdin.read()) or "")
`, programFile(t), function)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestFunctionsOfTheHeaderAreCompiledOnDemand(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a definition", "float draw(uint32_t seed) {\n}", "template <int = 0> float draw(uint32_t seed) {\n}"},
		{"overloads", "int f(int x) {\n}\ninline int f(float x) {\n}", "inline int f(int x) {\n}\ninline int f(float x) {\n}"},
		{"over several lines", "std::tuple<std::shared_ptr<int64_t[]>, int> parts(\n    int n,\n    int m = f(1)) {\n}", "template <int = 0> std::tuple<std::shared_ptr<int64_t[]>, int> parts(\n    int n,\n    int m = f(1)) {\n}"},
		{"a declaration", "void elsewhere(int n);", "void elsewhere(int n);"},
		{"inline already", "inline int f() { return 1; }", "inline int f() { return 1; }"},
		{"inline after its type", "at::Mask<int, N> inline f(\n) { }", "at::Mask<int, N> inline f(\n) { }"},
		{"static", "static int f() { return 1; }", "static int f() { return 1; }"},
		{"a template", "template <typename T>\nvoid f(T t) { }", "template <typename T>\nvoid f(T t) { }"},
		{"a template over several lines", "template <typename T,\n    int N>\nstd::pair<T, int> f(T t) { }", "template <typename T,\n    int N>\nstd::pair<T, int> f(T t) { }"},
		{"a member", "struct A {\n  int f() { return 1; }\n};", "struct A {\n  int f() { return 1; }\n};"},
		{"for the linker", "extern \"C\" void f() { }", "extern \"C\" void f() { }"},
		{"a macro", "#define f(x) (x)", "#define f(x) (x)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, eval(t, "only_if_used", c.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHeadersForJoinedSources: with what Python needs, and without vectors where they can be left out.
func TestHeadersForJoinedSources(t *testing.T) {
	got := farSays(t, `
from whittle_far.headers import for_joined
header = "#ifdef AVX\n#define INDUCTOR_USE_VECTOR_TYPES() 1\n#else\n#define INDUCTOR_USE_VECTOR_TYPES() 0\n#endif\n#include <ATen/native/Math.h>"
for vectors in (True, False):
    text = for_joined(header, vectors)
    print(text.index("Python.h") < text.index("INDUCTOR"), text.count("() 1"), text.count("() 0"), "Math.h" in text)
print(for_joined("int x;", True).endswith("int x;"), for_joined("int x;", False))
`)
	if diff := cmp.Diff("True 1 1 True\nTrue 0 2 False\nTrue None\n", got); diff != "" {
		t.Error(diff)
	}
}

// TestPartsOfKilledCompilationsGo: they are a hundred megabytes each. What is of other headers, or in use, stays.
func TestPartsOfKilledCompilationsGo(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"prefix-1.gch", "prefix-1.gch.lock", "prefix-1.gch.417", "prefix-1.gch.418.h", "prefix-2.gch.419"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	eval(t, "drop_parts", filepath.Join(dir, "prefix-1.gch"))
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff([]string{"prefix-1.gch", "prefix-1.gch.lock", "prefix-2.gch.419"}, left); diff != "" {
		t.Error(diff)
	}
}
