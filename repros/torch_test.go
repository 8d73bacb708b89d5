package repros

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Both forms that are written fail in a real PyTorch as the repro does: a branch whose bodies are classes, an input that no storage
// carries, a storage from an expression, wrong results, a backend of the script's own, a failing backward.
func TestWrittenFormsFailInPyTorch(t *testing.T) {
	root := os.Getenv("WHITTLE_TORCH_ROOT")
	if root == "" || os.Geteuid() != 0 {
		t.Skip("no real PyTorch: $WHITTLE_TORCH_ROOT is not set, or this is not root")
	}
	dir, err := os.MkdirTemp(filepath.Join(root, "tmp"), "whittle-repros-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // after the subtests
	dynamo := func(before, body, load, backend string) string {
		return "import torch\nimport torch._dynamo\n" + before + "class Repro(torch.nn.Module):\n    def forward(self, x):\n" + body + "mod = Repro()\ndef load_args(reader):\n" + load +
			"load_args._version = 0\nif __name__ == '__main__':\n    from torch._dynamo.repro.after_dynamo import run_repro\n    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, autocast=False, backend='" + backend + "')\n"
	}
	own := preambleStart + "\nclass Failing(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return x.clone()\n    @staticmethod\n    def backward(ctx, g): raise KeyError('backward')\n" +
		"def own(gm, args):\n    return lambda x: (Failing.apply(x),)\ntorch._dynamo.register_backend(compiler_fn=own, name='own')\n" + preambleEnd + "\n"
	relu := "class Repro(torch.nn.Module):\n    def forward(self, x):\n        relu = torch.ops.aten.relu.default(x);  x = None\n        return (relu,)\n\n"
	for name, c := range map[string]struct{ text, want string }{
		"branch": {strings.Replace(condRepro(body("A", "sin")+body("B", "cos"), "        self.true_graph_0 = A()\n        self.false_graph_0 = B()\n"), "return (getitem,)",
			"gt = torch.ops.aten.gt.Scalar(getitem, 0)\n        view = torch.ops.aten.view.dtype(gt, torch.uint8)\n        return (view,)", 1), "TypeError: torch.bool is not supported by torch.iinfo"},
		"wrong": {strings.NewReplacer("accuracy=False", "accuracy=True", "from torch import tensor, device\n", "from torch import tensor, device\nimport torch._inductor.config\ntorch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'accuracy'\n").
			Replace(repro(relu, "    buf0 = torch.arange(6, dtype=torch.float32).untyped_storage()\n    reader.tensor(buf0, (2, 3), is_leaf=True)  # x\n")), "AccuracyError: Bad accuracy detected"},
		"no storage": {dynamo("", "        add = x + 10\n        return (add,)\n", "    reader.symint(torch._efficientzerotensor((8, 32)))  # x\n", "inductor"), "Segmentation fault"},
		"checkpoint": {dynamo(strings.Replace(own, "raise KeyError('backward')", "return g", 1)+"class Body(torch.nn.Module):\n    def forward(self, y):\n        sin = y.sin()\n        return (sin,)\n",
			"        b = self.b\n        t = torch.ops.higher_order.tag_activation_checkpoint(b, x, use_reentrant = False)\n        getitem = t[0]\n        return (getitem,)\n", oneTensor, "missing"), "InvalidBackend"},
		"backward": {dynamo(own, "        sin = x.sin()\n        return (sin,)\n", strings.Replace(oneTensor, "is_leaf", "requires_grad=True, is_leaf", 1), "own"), "KeyError: 'backward'"},
	} {
		if name == "checkpoint" {
			c.text = strings.Replace(c.text, "class Repro(torch.nn.Module):\n", "class Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.b = Body()\n", 1)
		}
		r, err := Read(name+".py", c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		forms := map[string]string{"repro": Write(r)}
		if forms["standalone"], err = WriteStandalone(r, Standalone{}); err != nil {
			t.Error(err)
		}
		for form, text := range forms {
			file := strings.ReplaceAll(name, " ", "_") + "_" + form + ".py"
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Run(name+"/"+form, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command("chroot", root, "sh", "-c", "cd /tmp/"+filepath.Base(dir)+" && python3 "+file+" 2>&1; s=$?; [ $s != 139 ] || echo Segmentation fault; exit $s")
				out, err := cmd.CombinedOutput()
				if err == nil || !strings.Contains(string(out), c.want) {
					t.Errorf("%v, want %s in:\n%s\n%s", err, c.want, out, text)
				}
			})
		}
	}
}
