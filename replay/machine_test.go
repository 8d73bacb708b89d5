package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The texts are those of CPython 3.13, PyTorch 2.6 and 2.14, GCC 12 and 15, and clang 19.
func TestMachineFault(t *testing.T) {
	for _, c := range []struct{ typ, text, why, said string }{
		{"torch._inductor.exc.InvalidCxxCompiler", "No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')", "there is no C++ compiler", "No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')"},
		{"InvalidCxxCompiler", "no C++ compiler found ($CXX, g++, clang++, c++)", "there is no C++ compiler", "no C++ compiler found ($CXX, g++, clang++, c++)"},
		{"FileNotFoundError", "[Errno 2] No such file or directory: '/usr/bin/g++-12'", "there is no C++ compiler", "[Errno 2] No such file or directory: '/usr/bin/g++-12'"},
		{"OSError", "[Errno 28] No space left on device: '/tmp/x'", "no space is left on a disk", "[Errno 28] No space left on device: '/tmp/x'"},
		{"OSError", "[Errno 27] File too large", "files may not get that large (ulimit -f)", "[Errno 27] File too large"},
		{"PermissionError", "[Errno 13] Permission denied: '/root'", "a permission is missing", "[Errno 13] Permission denied: '/root'"},
		{"CppCompileError", "C++ compile error\n\nCommand:\ng++ x.cpp\n\nOutput:\ng++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.", "there is not enough memory, or there are too many processes", "g++: fatal error: Killed signal terminated program cc1plus"},
		{"CppCompileError", "Output:\nx.cpp:1:10: fatal error: omp.h: No such file or directory\n    1 | #include <omp.h>", "the C++ compiler lacks a header or a library", "x.cpp:1:10: fatal error: omp.h: No such file or directory"},
		{"CppCompileError", "x.cpp:1:10: fatal error: 'Python.h' file not found", "the C++ compiler lacks a header or a library", "x.cpp:1:10: fatal error: 'Python.h' file not found"},
		{"CppCompileError", "/usr/bin/ld: cannot find -lgomp: No such file or directory", "the C++ compiler lacks a header or a library", "/usr/bin/ld: cannot find -lgomp: No such file or directory"},
		{"CppCompileError", "/usr/bin/ld: final link failed: No space left on device", "no space is left on a disk", "/usr/bin/ld: final link failed: No space left on device"},
		// These are about the graph.
		{"CppCompileError", "x.cpp:4:1: error: 'tmp9' was not declared in this scope", "", ""},
		{"AssertionError", "Permission denied", "", ""},
		{"FileNotFoundError", "[Errno 2] No such file or directory: 'weights.pt'", "", ""},
		{"", "No space left on device", "", ""},
	} {
		var want, got *MachineError
		if c.why != "" {
			want = &MachineError{Why: c.why, Said: c.said}
		}
		got = MachineFault(c.typ, c.text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %q: %s", c.typ, c.text, diff)
		}
	}
}
