package torch

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"whittle/replay"
)

// real starts the engine that $WHITTLE_TORCH names.
func real(t testing.TB, o Options) *Engine {
	t.Helper()
	command := os.Getenv("WHITTLE_TORCH")
	if command == "" {
		t.Skip("$WHITTLE_TORCH names no Python with torch")
	}
	o.Command = strings.Fields(command)
	begin := time.Now()
	e, err := Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	t.Logf("started in %v: %+v", time.Since(begin), e.Facts())
	return e
}

// aot is an after-aot repro of one input of 8 numbers.
func aot(config, body string) Query {
	return Query{Stage: "aot", Text: `import torch
from torch import tensor, device
` + config + `
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x):
` + indent(body) + `
def load_args(reader):
    buf0 = reader.storage(None, 32)
    reader.tensor(buf0, (8,), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
`}
}

func indent(body string) string { return "        " + strings.ReplaceAll(body, "\n", "\n        ") }

func TestOutcomes(t *testing.T) {
	e := real(t, Options{Limits: Limits{Compile: 40 * time.Second, Memory: 1 << 30}})
	relu := "relu = torch.ops.aten.relu.default(x)\nreturn (relu,)"
	bug := "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "
	accuracy := aot(bug+"'accuracy'", relu)
	accuracy.Accuracy = "accuracy"
	for _, c := range []struct {
		name   string
		q      Query
		status replay.Status
		sig    string
	}{
		{"pass", aot("", relu), replay.Pass, ""},
		{"compile error", aot(bug+"'compile_error'", relu), replay.Failed, "compile: CppCompileError: C++ compile error: ‘compile’ was not declared in this scope"},
		{"run error", aot(bug+"'runtime_error'", relu), replay.Failed, "run: RuntimeError: unhandled error"},
		{"accuracy", accuracy, replay.Failed, "accuracy: AccuracyError: Bad accuracy detected"},
		{"unknown setting", aot("torch._inductor.config.no_such_setting = 1", relu), replay.Pass, ""},
		{"eager fails", aot("", "mm = torch.ops.aten.mm.default(x, x)\nreturn (mm,)"), replay.Invalid, ""},
		{"no python", aot("this is no python", relu), replay.Invalid, ""},
	} {
		begin := time.Now()
		o, err := e.Run(context.Background(), c.q)
		if err != nil || o.Status != c.status || o.Signature.String() != c.sig {
			t.Errorf("%s: %v %s %q %s\n%s", c.name, err, o.Status, o.Signature, o.Message, o.Detail)
		}
		t.Logf("%s: %v", c.name, time.Since(begin))
		if c.status == replay.Failed {
			q := c.q
			q.Fresh = true
			q.Text = strings.Replace(q.Text, "accuracy=False", map[bool]string{true: "accuracy=True", false: "accuracy=False"}[q.Accuracy != ""], 1)
			begin := time.Now()
			o, err := e.Run(context.Background(), q)
			if err != nil || o.Status != c.status || o.Signature.Type != strings.Split(c.sig, ": ")[1] {
				t.Errorf("%s, fresh: %v %s %q %s\n%s", c.name, err, o.Status, o.Signature, o.Message, o.Detail)
			}
			t.Logf("%s, fresh: %v", c.name, time.Since(begin))
		}
	}
}
