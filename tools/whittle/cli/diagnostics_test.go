package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithoutWarnings marks the lines that go with "- ". GCC 12 and 15 and clang 14 and 19 say these things in these forms.
func TestWithoutWarnings(t *testing.T) {
	for name, marked := range map[string]string{
		"gcc, an error and then warnings of headers": `
CppCompileError: C++ compile error

Command:
g++ /tmp/x.cpp -Wall

Output:
/tmp/x.cpp: In function ‘void kernel(const float*, float*)’:
/tmp/x.cpp:15:33: error: ‘compile’ was not declared in this scope; did you mean ‘cospil’?
   15 |                     auto tmp1 = compile error!;
      |                                 ^~~~~~~
      |                                 cospil
- In file included from /inc/vec512.h:15,
-                  from /inc/vec.h:5,
-                  from /tmp/h.h:1:
- /inc/vec512_int.h: In instantiation of ‘at::vec::Vectorized<T> at::vec::shift_512_8(const at::vec::Vectorized<T>&)’:
- /inc/vec512_int.h:2074:27:   required from here
-  2074 |   return shift_512_8<true>(a, b);
-       |          ~~~~~~~~~~~~~~~~~^~~~~~
- /inc/vec512_int.h:1866:7: warning: overflow in conversion from ‘int’ to ‘char’ changes value from ‘128’ to ‘-128’ [-Woverflow]
-  1866 |       0x80,
-       |       ^~~~
- /inc/vec512_int.h:1868:7: warning: overflow in conversion [-Woverflow]
-  1868 |       0x80,
-       |       ^~~~
- /inc/vec512_int.h:1868:7: note: as of the standard

Set TORCH_LOGS="+dynamo" for more information
`,
		"gcc, an error in the place of a warning, with notes": `
In file included from /tmp/a.h:3,
                 from /tmp/x.cpp:1:
/tmp/b.h: In instantiation of ‘void f(T) [with T = int]’:
/tmp/x.cpp:9:4:   required from here
    9 |   f(1);
      |   ~^~~
- /tmp/b.h:4:7: warning: unused variable ‘y’ [-Wunused-variable]
-     4 |   int y;
-       |       ^
/tmp/b.h:5:3: error: no matching function for call to ‘g(int&)’
    5 |   g(x);
      |   ~^~~
/tmp/b.h:2:6: note: candidate: ‘void g(char*)’
    2 | void g(char*);
      |      ^
/tmp/b.h:2:6: note:   conversion of argument 1 would be ill-formed:
- /tmp/x.cpp:12:7: warning: unused variable ‘z’ [-Wunused-variable]
-    12 |   int z;
-       |       ^
compilation terminated.
`,
		"clang": `
- In file included from x.cpp:1:
- ./h.h:7:12: warning: implicit conversion from 'int' to 'char' changes value from 255 to -1 [-Wconstant-conversion]
-   char c = 255;
-        ~   ^~~
x.cpp:4:14: error: use of undeclared identifier 'compile'
    4 |   auto tmp1 = compile error!;
      |               ^
- x.cpp:6:3: warning: expression result unused [-Wunused-value]
-   x + 1;
-   ~ ^ ~
- x.cpp:2:1: note: expanded from here
In file included from x.cpp:1:
./h.h:9:3: error: no matching function for call to 'g'
  g(x);
  ^
x.cpp:11:3: note: in instantiation of function template specialization 'f<int>' requested here
  f(1);
  ^
2 warnings and 2 errors generated.
`,
		"an error that is a warning by -Werror, and the linker": `
- x.cpp:1:5: warning: unused [-Wunused]
x.cpp:2:5: error: unused variable 'y' [-Werror,-Wunused-variable]
cc1plus: some warnings being treated as errors
/usr/bin/ld: cannot find -lgomp: No such file or directory
collect2: error: ld returned 1 exit status
`,
		"warnings alone are all that there is": `
x.cpp:1:5: warning: unused [-Wunused]
1 warning generated.
`,
		"no compiler at all": `
Traceback (most recent call last):
  File "x.py", line 1, in f
AssertionError: warning: no
`,
	} {
		var all, want []string
		for _, l := range strings.Split(strings.TrimPrefix(marked, "\n"), "\n") {
			rest, gone := strings.CutPrefix(l, "- ")
			all = append(all, rest)
			if !gone {
				want = append(want, l)
			}
		}
		warnings := strings.Count(marked, " warning: ") - strings.Count(strings.Join(want, "\n"), " warning: ")
		got, n := withoutWarnings(strings.Join(all, "\n"))
		if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" || n != warnings {
			t.Errorf("%s: %d warnings left out, want %d: %s", name, n, warnings, diff)
		}
	}
}

// FuzzWithoutWarnings: what is left is lines of the text in their order, with every error among them.
func FuzzWithoutWarnings(f *testing.F) {
	f.Add("a:1: warning: x\n 1 | y\na: In function 'f':\na:2: error: z\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		out, n := withoutWarnings(text)
		if n == 0 && out != text {
			t.Fatal("changed without a warning")
		}
		lines := strings.Split(text, "\n")
		for _, l := range strings.Split(out, "\n") {
			for len(lines) > 0 && lines[0] != l {
				if m := reDiagnostic().FindStringSubmatch(lines[0]); m != nil && strings.Contains(m[1], "error") {
					t.Fatalf("an error is left out: %q", lines[0])
				}
				lines = lines[1:]
			}
			if len(lines) == 0 {
				t.Fatalf("%q is new, or in another place", l)
			}
			lines = lines[1:]
		}
	})
}
