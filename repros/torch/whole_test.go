package torch

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// halfMade has whole_files on a PyTorch that is none, whose compiler writes in two steps and looks at what is there in between; then one that
// fails. It prints what it saw.
const halfMade = `
import os, sys, tempfile, types
exec(compile(sys.stdin.read(), "whittle", "exec"), {"__name__": "whittle"})
from whittle_far.whole import whole_files
builder = types.ModuleType("torch._inductor.cpp_builder")
sys.modules.update({"torch": types.ModuleType("torch"), "torch._inductor": types.ModuleType("torch._inductor"), "torch._inductor.cpp_builder": builder})
sys.modules["torch._inductor"].cpp_builder = builder
folder = tempfile.mkdtemp()
made = os.path.join(folder, "a b.so")

def compile(command, cwd):
    import shlex
    words = shlex.split(command)
    out = words[words.index("-o") + 1]
    with open(out, "w") as f:
        f.write("half")
    print("while it is made:", os.path.exists(made), words[:2], words[-1])
    if "broken.cpp" in words:
        raise RuntimeError("compile error")
    with open(out, "a") as f:
        f.write(" and half")
    return b"said"

builder._run_compile_cmd = compile
whole_files()
try:
    builder._run_compile_cmd("g++ broken.cpp -o '%s' -shared" % made, folder)
except RuntimeError as e:
    print(e, os.path.exists(made))
print(builder._run_compile_cmd("g++ 'x y.cpp' -o '%s' -shared" % made, folder))
print(open(made).read(), len([n for n in os.listdir(folder) if n == "a b.so"]))
`

// TestLibrariesAreWhole: nobody finds a library that is still being written, whoever is ended meanwhile.
func TestLibrariesAreWhole(t *testing.T) {
	python := python3(t)
	cmd := exec.Command(python, "-c", halfMade)
	cmd.Stdin = strings.NewReader(program())
	out, err := cmd.CombinedOutput()
	want := `while it is made: False ['g++', 'broken.cpp'] -shared
compile error False
while it is made: False ['g++', 'x y.cpp'] -shared
b'said'
half and half 1
`
	if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
		t.Errorf("%v%s", err, diff)
	}
}
