package torch_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The archive of what is absent names no more than that: none of its modules hides one that is here, and none of its names is bound.
func TestAbsentIsAbsent(t *testing.T) {
	b, err := os.ReadFile("absent.txtar")
	if err != nil {
		t.Fatal(err)
	}
	script := "import importlib, re, sys\nsys.argv = ['script.py']\n"
	for _, f := range txtar.Parse(b).Files {
		if f.Name != "in" {
			module := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(f.Name, ".py"), "/__init__"), "/", ".")
			script += "assert importlib.import_module('" + module + "').__absent__\n"
			continue
		}
		script += "for line in '''" + string(f.Data) + `'''.split("\n"):
    module, *names = line.split() or ["torch"]
    have = vars(importlib.import_module(module))
    for n in names:
        n = re.match(r"\w+", n).group()
        if n in have and not getattr(have[n], "__absent__", False):
            print(module, "has", n)
`
	}
	if out := run(t, script); out != "" {
		t.Errorf("make absent.txtar again, see tools/absentnames:\n%s", out)
	}
}
