package torch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unresolved prints the global names that a function of the far side's files uses and that neither its file nor Python has. Without torch:
// the files import it only where it is used.
const unresolved = `
import builtins, dis, importlib, sys, types
ns = {"__name__": "whittle"}
exec(compile(sys.stdin.read(), "whittle", "exec"), ns)
def look(code, module):
    for i in dis.get_instructions(code):
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME") and not hasattr(module, i.argval) and not hasattr(builtins, i.argval):
            print("%s.py, line %d: %s" % (module.__name__, code.co_firstlineno, i.argval))
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            look(c, module)
for name in ns["FILES"]:
    module = importlib.import_module("whittle_far." + name)
    for f in vars(module).copy().values():
        members = vars(f).values() if isinstance(f, type) else [f]
        for m in members:
            m = getattr(m, "__wrapped__", getattr(m, "__func__", m))
            if isinstance(m, types.FunctionType) and m.__module__ == module.__name__:
                look(m.__code__, module)
`

// python3 is any Python; what needs no torch is tested without.
func python3(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("what is tested is a Python program, and there is no python3")
	}
	return python
}

// programFile is a file with the far side's program, which is too long for an argument.
func programFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.py")
	if err := os.WriteFile(path, []byte(program()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFilesOfTheFarSideFitTogether: each file imports what it uses from the others, and can be imported by itself.
func TestFilesOfTheFarSideFitTogether(t *testing.T) {
	python := python3(t)
	cmd := exec.Command(python, "-c", unresolved)
	cmd.Stdin = strings.NewReader(program())
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
