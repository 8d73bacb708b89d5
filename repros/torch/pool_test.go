package torch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/conc"

	"whittle/replay"
)

// farSays runs a script over the far side's files, in a Python without torch, and gives what it printed.
func farSays(t *testing.T, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command(python3(t), append([]string{"-c", "import sys\nexec(compile(open(sys.argv[1]).read(), 'whittle', 'exec'), {'__name__': 'whittle'})\ndel sys.argv[1]\n" + script, programFile(t)}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// module is a kernel as Inductor writes it: helpers and names that all kernels share, and one function that says who it is.
const module = `#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdexcept>
#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif
template <typename T> static T twice(T x) { return 2 * x; }
template <> int twice<int>(int x) { return x + x; }
extern "C"  void kernel(const int* in, int* out)
{
    *out = twice(*in) + WHO;
}
static PyObject* kernel_py(PyObject* self, PyObject* args) {
    int in = 20, out = 0;
    if (likely(1)) kernel(&in, &out);
    return PyLong_FromLong(out);
}
static PyMethodDef py_methods[] = {{"kernel", kernel_py, METH_VARARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef py_module = {PyModuleDef_HEAD_INIT, "kernel", NULL, -1, py_methods};
PyMODINIT_FUNC PyInit_kernel(void) { return PyModule_Create(&py_module); }
`

// compilerOf finds a C++ compiler, and the headers of Python's modules. Without them the test is skipped.
func compilerOf(t *testing.T) (compiler, headers string) {
	t.Helper()
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("what is tested is what g++ makes of joined sources, and there is no g++")
	}
	headers = strings.TrimSpace(farSays(t, "import sysconfig; print(sysconfig.get_paths()['include'])"))
	if _, err := os.Stat(filepath.Join(headers, "Python.h")); err != nil {
		t.Skip("a module is compiled for python3, whose headers are not installed")
	}
	return compiler, headers
}

// TestKernelsOfOneCompilation: several modules that are compiled as one behave as if each had been compiled for itself, also in one process.
func TestKernelsOfOneCompilation(t *testing.T) {
	compiler, headers := compilerOf(t)
	dir := t.TempDir()
	for i, who := range []string{"1", "2", "3"} {
		if err := os.WriteFile(filepath.Join(dir, "k"+who+".cpp"), []byte(strings.ReplaceAll(module, "WHO", who)), 0o666); err != nil {
			t.Fatal(i, err)
		}
	}
	got := farSays(t, `
import importlib.util, os
from whittle_far.joined import compile_joined, named_in
os.chdir(sys.argv[1])
files = [("k%d.cpp" % i, "k%d.so" % i) for i in (1, 2, 3)]
print(repr(compile_joined(files, [sys.argv[2], "k1.cpp", "-shared", "-fPIC", "-std=c++17", "-I" + sys.argv[3], "-o", "k1.so"])))
for i in (3, 1, 2):
    spec = importlib.util.spec_from_file_location("key%d.kernel" % i, os.path.abspath("k%d.so" % i))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print(module.kernel())
print(sorted(os.listdir(".")))
with open("k2.cpp", "a") as f:
    f.write("no C++")
os.remove("k3.so")
said = compile_joined(files, [sys.argv[2], "k1.cpp", "-shared", "-fPIC", "-std=c++17", "-I" + sys.argv[3], "-o", "k1.so"])
print([named_in(said, "k%d.cpp" % i) for i in (1, 2, 3)], os.path.exists("k3.so"))
`, dir, compiler, headers)
	want := "''\n43\n41\n42\n['k1.cpp', 'k1.so', 'k2.cpp', 'k2.so', 'k3.cpp', 'k3.so']\n[False, True, False] False\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// bound is a kernel with what Inductor writes for it to be called from Python, as far as that says what the kernel takes.
const bound = `#include <Python.h>
#include <cstdint>
#include <stdexcept>
extern "C"  void kernel(const int64_t* in, int64_t* out, const int64_t n)
{
    if (n < 0) throw std::runtime_error("WHO counts from 0");
    for (int64_t i = 0; i < n; i++) out[i] = in[i] + WHO;
}

// Python bindings to call kernel():
template <typename T> static inline T parse_arg(PyObject* args, size_t n) { return T(); }
static PyObject* kernel_py(PyObject* self, PyObject* args) {
    kernel(parse_arg<int64_t*>(args, 0), parse_arg<int64_t*>(args, 1), parse_arg<int64_t>(args, 2));Py_RETURN_NONE;
}
static PyMethodDef py_methods[] = {{"kernel", kernel_py, METH_VARARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef py_module = {PyModuleDef_HEAD_INIT, "kernel", NULL, -1, py_methods};
PyMODINIT_FUNC PyInit_kernel(void) { return PyModule_Create(&py_module); }
`

// TestKernelsAreCalledThroughOneBinding: the kernels' own bindings are not compiled (here they pass nothing), and errors are as those say them.
func TestKernelsAreCalledThroughOneBinding(t *testing.T) {
	compiler, headers := compilerOf(t)
	dir := t.TempDir()
	for _, who := range []string{"1", "2"} {
		if err := os.WriteFile(filepath.Join(dir, "k"+who+".cpp"), []byte(strings.ReplaceAll(bound, "WHO", who)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := farSays(t, `
import ctypes, importlib.util, os
from whittle_far.joined import compile_joined
os.chdir(sys.argv[1])
address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(ctypes.addressof)
os.environ["_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR"] = str(ctypes.cast(address, ctypes.c_void_p).value)
print(repr(compile_joined([("k1.cpp", "k1.so"), ("k2.cpp", "k2.so")], [sys.argv[2], "k1.cpp", "-shared", "-fPIC", "-std=c++17", "-I" + sys.argv[3], "-o", "k1.so"])))
row = ctypes.c_int64 * 3
for i in (2, 1):
    spec = importlib.util.spec_from_file_location("key%d.kernel" % i, os.path.abspath("k%d.so" % i))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = row()
    print(module.kernel(row(10, 20, 30), out, 2), list(out))
    for args in ((row(), out, -1), (row(), out, "3"), (row(), out)):
        try:
            module.kernel(*args)
        except RuntimeError as e:
            print(e)
`, dir, compiler, headers)
	want := `''
None [12, 22, 0]
2 counts from 0
expected int arg
requires 3 args
None [11, 21, 0]
1 counts from 0
expected int arg
requires 3 args
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBindingsThatStay: of kernels that take what is neither an address nor an integer, or whose bindings are none that are known.
func TestBindingsThatStay(t *testing.T) {
	got := farSays(t, `
from whittle_far.joined import Binding
text = sys.argv[1]
for text in (text, text.replace("parse_arg<int64_t>", "parse_arg<float>"), text.replace("Python bindings", "Bindings"), text.replace("Py_RETURN_NONE", "return nullptr")):
    binding = Binding.of(text, ["kernel", "PyInit_kernel"])
    print(binding and (binding.name, binding.takes, binding.kernel == text[:text.index("// Python")]))
print(Binding.of(text, ["PyInit_kernel"]))
`, bound)
	if diff := cmp.Diff("('kernel', 'tti', True)\nNone\nNone\nNone\nNone\n", got); diff != "" {
		t.Error(diff)
	}
}

// TestHeadersOfJoinedSources: a joined source begins with the header that is there and has least in it, and with what it came with where that fails.
func TestHeadersOfJoinedSources(t *testing.T) {
	dir := t.TempDir()
	got := farSays(t, `
import os
from whittle_far.joined import joined_header, with_headers
header = os.path.join(sys.argv[1], "prefix.h")
command = ["g++", "a.cpp", "-shared", "-O3", "-mavx2", "-I/usr/include", "-o", "a.so"]
def tries(body, command=command):
    for text, whole in with_headers('#include "%s"\n%s' % (header, body), command):
        first = text.split("\n")[0]
        print(os.path.basename(first.rstrip('"')).split("-")[0], "with all" if whole else "alone", end="; ")
    print()
tries("x + y")
for vectors in (True, False):
    open(joined_header(header, command, vectors), "w").close()
tries("x + y")
tries("at::vec::clamp(x)")
tries("x + y", [w for w in command if w != "-mavx2"])
tries("x + y", ["g++", "-mavx2", "-O3", "b.cpp", "-o", "b.so"])
print(list(with_headers("int x;", command)))
`, dir)
	want := `prefix.h with all; 
prefix.h.plain alone; prefix.h.vectors with all; prefix.h with all; 
prefix.h.vectors with all; prefix.h with all; 
prefix.h with all; 
prefix.h.plain alone; prefix.h.vectors with all; prefix.h with all; 
[('int x;', True)]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLinkedWithLess: what a library made without PyTorch's libraries lacks is told, unless Python itself has it.
func TestLinkedWithLess(t *testing.T) {
	compiler, _ := compilerOf(t)
	got := farSays(t, `
import os
from whittle_far.joined import make, without_torch
os.chdir(sys.argv[1])
for name in ("Py_Initialize", "at_empty"):
    with open("a.cpp", "w") as f:
        f.write('extern "C" int %s(int); int use(int n) { return %s(n); }' % (name, name))
    words = [sys.argv[2], "a.cpp", "-shared", "-fPIC", "-ltorch_of_nobody", "-o", "a.so"]
    print(repr(make(without_torch(words), False)), os.path.exists("a.so"), make(words, True) != "")
    if os.path.exists("a.so"):
        os.remove("a.so")
`, t.TempDir(), compiler)
	if diff := cmp.Diff("'' True True\n'missing: at_empty' True True\n", got); diff != "" {
		t.Error(diff)
	}
}

// TestWhatIsNotJoined: sources of which it is not clear that they mean the same within others.
func TestWhatIsNotJoined(t *testing.T) {
	got := farSays(t, `
from whittle_far.joined import join
good = '#include <a.h>\nextern "C" void kernel() {}\nPyMODINIT_FUNC PyInit_kernel(void) {}'
for text in (good, good.replace("#include <a.h>", "#ifdef X\n#include <a.h>\n#endif"), 'extern "C" void kernel() {}', good.replace("PyInit_kernel", "PyInit_other"),
             good + "\nPyMODINIT_FUNC PyInit_more(void) {}"):
    print(join([good, text], ["a.so", "b.so"], ["a.cpp", "b.cpp"]) is not None)
print(join([good, good], ["a.so", "b.so"], ["a.cpp", "b.cpp"]).count("#include <a.h>"))
`)
	if diff := cmp.Diff("True\nFalse\nFalse\nFalse\nFalse\n1\n", got); diff != "" {
		t.Error(diff)
	}
}

// poolTest drives a Pool whose children are objects, and whose compiler is a script that says what it was run for.
const poolTest = `
import os, select, time
from whittle_far import pool
class Child:
    def __init__(self, name):
        self.name, self.job, self.began = name, {"op": "run"}, time.monotonic()
    def go_on(self, built, waited):
        log.append("%s goes on %s" % (self.name, "with its library" if built else "alone"))
class Server:
    children = {}
    helpers = set()
    def leave(self):
        pass
server = Server()
p = pool.Pool(server)
log = []
def joined(files, command):
    return "bad" if command[0] == "bad" else ""
pool.compile_joined = joined
pool.PATIENCE = 60
def begin(name, text=None):
    def f():
        log.append("%s begins" % name)
        server.children[name] = Child(name)
    p.later({"id": name, "slots": 2, "text": text or name}, f)
def ask(name, compiler="good", flag="-O3", output=None):
    output = output or name + ".so"
    p.request(server.children[name], pool.library([compiler, name + ".cpp", "-shared", flag, "-o", output]))
def end(name):
    del server.children[name]
def settle():
    p.turn()
    while p.builds:
        select.select([b.pipe for b in p.builds], [], [])
        p.finished(p.builds[0])
        p.turn()
def told():
    print("; ".join(log))
    del log[:]
`

// TestThePool: who works when, and what is compiled together.
func TestThePool(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"two slots", `
for n in "abcd": begin(n)
p.turn(); told()
end("a"); p.turn(); told()
`, "a begins; b begins\nc begins\n"},
		{"who waits leaves its slot to others, and all that wait share a compilation", `
for n in "abc": begin(n)
p.turn(); ask("a"); p.turn(); told()
ask("b"); ask("c"); settle(); told()
`, "a begins; b begins; c begins\na goes on with its library; b goes on with its library; c goes on with its library\n"},
		{"many are two compilations at a time", `
for n in "abcd": begin(n)
for n in "abcd": p.turn(); ask(n)
p.turn(); print([[r.output for r in b.requests] for b in p.builds]); settle(); told()
`, "[['a.so', 'b.so'], ['c.so', 'd.so']]\na begins; b begins; c begins; d begins; a goes on with its library; b goes on with its library; c goes on with its library; d goes on with its library\n"},
		{"one who waits alone is compiled for as well", `
begin("a"); p.turn(); ask("a"); settle(); told()
`, "a begins; a goes on with its library\n"},
		{"other flags, another compilation", `
for n in "ab": begin(n)
p.turn(); ask("a"); ask("b", flag="-O2"); p.turn(); print(sorted(len(b.requests) for b in p.builds)); settle(); told()
`, "[1, 1]\na begins; b begins; a goes on with its library; b goes on with its library\n"},
		{"what only runs again does so beside one compilation for a few", `
for n in "abcd": begin(n)
for n in "abcd": p.turn(); ask(n)
begin("again", "a"); print([len(b.requests) for b in p.builds]); p.turn(); told(); settle()
`, "[4]\na begins; b begins; c begins; d begins; again begins\n"},
		{"where a compilation for several fails each is alone", `
for n in "ab": begin(n)
p.turn(); ask("a", "bad"); ask("b", "bad"); settle(); told()
`, "a begins; b begins; a goes on alone; b goes on alone\n"},
		{"after two failures nobody is asked to wait for others", `
p.failures = 2
for n in "ab": begin(n)
p.turn(); ask("a"); ask("b"); p.turn(); print(len(p.builds)); told()
`, "0\na begins; b begins; a goes on alone; b goes on alone\n"},
		{"a child that is gone is no longer compiled for", `
for n in "abc": begin(n)
p.turn(); ask("a"); p.turn(); ask("b"); ask("c"); end("a"); settle(); told()
`, "a begins; b begins; c begins; b goes on with its library; c goes on with its library\n"},
		{"a compilation waits for who has just begun, but not for ever", `
for n in "ab": begin(n)
p.turn(); ask("a"); p.turn(); told()
pool.PATIENCE = 0; settle(); told()
`, "a begins; b begins\na goes on with its library\n"},
		{"what runs again comes after a compilation that is waited for", `
for n in "ab": begin(n)
begin("again", "b"); ask("a"); end("b"); p.turn(); print(len(p.builds)); told()
p.turn(); told(); settle()
`, "1\na begins; b begins\nagain begins\n"},
		{"a job that was taken off does not begin", `
for n in "abc": begin(n)
p.turn(); print(p.forget("c"), p.forget("c")); end("a"); p.turn(); told()
`, "True False\na begins; b begins\n"},
		{"a command that makes no library of one source is left alone", `
print([pool.library(c.split()) is None for c in ("g++ a.cpp -shared -o a.so", "g++ -c a.cpp -o a.o", "g++ a.cpp b.cpp -shared -o a.so", "g++ a.o -shared -o a.so", "g++ a.cpp -shared -o")])
`, "[False, True, True, True, True]\n"},
		{"nor is one of a process that compiles on threads", `
from concurrent.futures import ThreadPoolExecutor
words = "g++ a.cpp -shared -o a.so".split()
print(pool.library(words) is None, ThreadPoolExecutor().submit(pool.library, words).result() is None)
`, "False True\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, farSays(t, poolTest+c.script)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSmallCandidatesShareACompilation: with a real PyTorch, on as many cores as there are. A candidate that would have to run the compiler by itself fails here.
func TestSmallCandidatesShareACompilation(t *testing.T) {
	t.Parallel()
	e := real(t, Options{Slots: 2})
	alone := scripted("from torch._inductor import cpp_builder\ndef alone(*a, **k):\n    raise RuntimeError('compiled alone')\ncpp_builder._run_compile_cmd = alone\n")
	const most = 5 // on a machine that is busy, one may come too late for the others
	for try := range most {
		var shared atomic.Int64
		var wg conc.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				o, err := e.Run(context.Background(), aot(alone, fmt.Sprintf("c = torch.ops.aten.add.Tensor(x, %d)\nreturn (c,)", 10*try+i)))
				if err == nil && o.Status == replay.Pass {
					shared.Add(1)
				}
			})
		}
		wg.Wait()
		if shared.Load() == 4 {
			return
		}
		t.Logf("%d of 4 shared a compilation", shared.Load())
	}
	t.Error("each is compiled for itself")
}

// TestIdle: a job for idle processors has no place of its own among those at work, and gives way to them.
func TestIdle(t *testing.T) {
	t.Parallel()
	e := real(t, Options{Slots: 1})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var wg conc.WaitGroup
	defer wg.Wait()
	defer stop()
	ended := make(chan bool)
	wg.Go(func() {
		_, _ = e.Run(ctx, aot("import time\ntime.sleep(600)", "return (x,)")) // it is cancelled
		close(ended)
	})
	q := aot("import os\nassert os.nice(0) >= 10", "c = torch.ops.aten.add.Tensor(x, 1)\nreturn (c,)")
	q.Idle = true
	o, err := e.Run(ctx, q)
	if err != nil || o.Status != replay.Pass {
		t.Error(err, o)
	}
	select {
	case <-ended:
		t.Error("the job that has the only place ended first")
	default:
	}
}
