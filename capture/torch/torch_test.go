package torch_test

import (
	"bytes"
	"context"
	"embed"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/tools/whittle/stack"
)

// calls is a script of indices, data and arguments, right and wrong; said is what PyTorch 2.6 printed for it.
var (
	//go:embed testdata/calls.py
	calls string
	//go:embed testdata/calls.txt
	said string
)

//go:embed testdata
var scripts embed.FS

// TestCalls: indexing in all its forms, tensors made of nested data, and the binding of arguments give what PyTorch gives, and raise what it raises.
func TestCalls(t *testing.T) { compare(t, calls, said) }

// TestScripts: programs print what PyTorch 2.6 printed for them, which is what the .txt beside each holds.
func TestScripts(t *testing.T) {
	for name, about := range map[string]string{
		"numpy":         "tensors and NumPy's arrays share memory, and stand for each other where PyTorch lets them",
		"saved":         "torch.save and torch.load: PyTorch's files, in both formats; storages; the legacy constructors",
		"data":          "torch.utils.data: orders, seeds, workers and batches",
		"optim":         "optimizers and schedules, with their state",
		"distributions": "densities, samples, divergences and errors of distributions",
		"states":        "state dicts: metadata, hooks, and the errors of loading",
		"devices":       "what programs ask of CUDA and other devices, and of libraries",
		"functional":    "torch.autograd.functional",
		"overrides":     "__torch_function__ of modes and of classes, the default device, promotion, named results, sizes",
		"nnutils":       "weight norms, parametrizations, padded and packed sequences, clipping",
		"lazy":          "modules that get their shapes from the first input",
		"pruning":       "torch.nn.utils.prune",
		"inits":         "rare initializations and orthogonal parametrizations",
		"module_hooks":  "hooks of all modules and of the backward pass, edges of the graph, gradcheck",
		"meta":          "tensors on the device meta",
		"tags":          "tags of operators",
		"transformer":   "nn.Transformer and EmbeddingBag with all that they take",
		"rare_modules":  "modules of torch.nn that few programs use, and their gradients",
	} {
		t.Run(name, func(t *testing.T) {
			script, err := scripts.ReadFile("testdata/" + name + ".py")
			if err != nil {
				t.Fatal(err)
			}
			said, err := scripts.ReadFile("testdata/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			t.Log(about)
			compare(t, string(script), string(said))
		})
	}
}

// compare runs a script and compares what it prints with what PyTorch printed.
func compare(t *testing.T, script, said string) {
	t.Helper()
	want, got := strings.Split(said, "\n"), strings.Split(run(t, script), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-PyTorch +here):\n%s", diff)
	}
}

// run runs a script and returns what it prints.
func run(t *testing.T, script string) string {
	t.Helper()
	s := stack.New(context.Background(), t.TempDir())
	var out bytes.Buffer
	s.In.Stdout = &out
	if err := s.In.RunSource("script.py", script); err != nil {
		t.Fatal(err)
	}
	if err := s.In.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
