package torch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKernelsOfOneGraph: more kernels than cores are joined, and those that are not are compiled each by itself. The first with errors tells its own.
func TestKernelsOfOneGraph(t *testing.T) {
	got := farSays(t, `
import os
from concurrent.futures import ThreadPoolExecutor
from whittle_far import batch
os.chdir(sys.argv[1])
threads = ThreadPoolExecutor(2)
log = []
class Mark:
    def compilers(self, begins):
        log.append("compilers begin" if begins else "compilers end")
def compile_joined(files, command):
    bad = [source for source, _ in files if source.startswith("bad")]
    log.append("together " + " ".join(source for source, _ in files))
    return "".join("%s:1:2: error: no\n" % source for source in bad) or ("not joined" if command[0] == "odd" else "")
batch.compile_joined = compile_joined
def graph(cores, *names, compiler="cc"):
    del log[:]
    b = batch.Batch(Mark(), cores)
    waiting = []
    for i, name in enumerate(names):
        with open(name + ".cpp", "w") as f:
            f.write("x" * (10 - i))
        def task(name=name):
            log.append("alone " + name)
            if name.startswith("bad"):
                raise ValueError(name)
            return name
        wish = {"source": name + ".cpp", "output": name + ".so", "command": [compiler, name + ".cpp", "-o", name + ".so"]}
        waiting.append(b.add(wish, task, lambda task=task: threads.submit(task), lambda: threads))
    print(log, [w.done() for w in waiting])
    try:
        print([w.result() for w in waiting])
    except ValueError as e:
        print("raised", e)
    print([entry for entry in log if entry.startswith("compilers")], sorted(entry for entry in log if not entry.startswith("compilers")))
graph(2, "a", "b")
graph(2, "a", "b", "c")
graph(1, "a", "b", compiler="odd")
graph(1, "a", "bad1", "bad2", "b")
threads.shutdown()
`, t.TempDir())
	want := `[] [False, False]
['a', 'b']
[] ['alone a', 'alone b']
[] [False, False, False]
['a', 'b', 'c']
['compilers begin', 'compilers end'] ['alone a', 'alone b', 'alone c', 'together a.cpp', 'together b.cpp c.cpp']
[] [False, False]
['a', 'b']
['compilers begin', 'compilers end'] ['alone a', 'alone b', 'together a.cpp b.cpp']
[] [False, False, False, False]
raised bad1
['compilers begin', 'compilers end'] ['alone bad1', 'together a.cpp bad1.cpp bad2.cpp b.cpp']
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
