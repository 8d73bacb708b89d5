package repros

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

func sharedDir(t testing.TB) string {
	dir := os.Getenv("WHITTLE_SHARED")
	if dir == "" {
		dir = "../../shared"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no shared directory")
	}
	return dir
}

func corpus(t testing.TB) []string {
	dir := sharedDir(t)
	a, _ := filepath.Glob(filepath.Join(dir, "corpus/graphs/*.py"))
	b, _ := filepath.Glob(filepath.Join(dir, "corpus/failing/*/minifier_launcher.py"))
	return append(a, b...)
}

// view is what two equal repros share: everything, with the module as text.
func view(r *Repro) any {
	c := *r
	c.Module = nil
	return []any{c, r.Module.String(), r.Module.Hash()}
}

func roundTrip(t *testing.T, file, text string) *Repro {
	t.Helper()
	r, err := Read(file, text)
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	again, err := Read("again.py", Write(r))
	if err != nil {
		t.Errorf("%s: written and read: %v", file, err)
		return nil
	}
	if d := cmp.Diff(view(r), view(again)); d != "" {
		t.Errorf("%s: %s", file, d)
	}
	return r
}

func TestCorpus(t *testing.T) {
	files, made := corpus(t), 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r := roundTrip(t, f, string(b))
		if r == nil {
			continue
		}
		total := int64(0)
		for _, s := range r.Storages {
			total += s.NBytes
		}
		if total > 6<<20 {
			made++
			continue
		}
		if _, err := r.Tensors(r.Loader(filepath.Dir(f))); err != nil {
			var du *DTypeUnsupported
			if !errors.As(err, &du) {
				t.Errorf("%s: %v", f, err)
			}
			continue
		}
		made++
	}
	t.Logf("%d files, inputs made for %d", len(files), made)
}

// The two repros of the 2.0 guide: after aot (1.13) and after dynamo.
func TestOldForms(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(sharedDir(t), "reference/troubleshooting_2.0.rst.txt"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s)\.\. code-block:: python\n\n(   import torch\n.*?class Repro.*?)\n\S`).FindAllStringSubmatch(string(b), -1)
	n := 0
	for _, m := range blocks {
		text := m[1]
		if i := strings.LastIndex(text, ".. code-block:: python"); i >= 0 {
			text = text[i+len(".. code-block:: python"):]
		}
		text = regexp.MustCompile(`(?m)^   `).ReplaceAllString(text, "")
		r := roundTrip(t, "guide.py", text)
		if r == nil {
			continue
		}
		n++
		if len(r.Inputs) != 1 || !cmp.Equal(r.Inputs[0].Shape, []int64{200, 200}) {
			t.Errorf("%+v", r.Inputs)
		}
	}
	if n != 2 {
		t.Errorf("%d repros in the guide", n)
	}
}

const small = `# made by hand
import torch
from math import inf
import torch._inductor.config
torch._inductor.config.cpp.simdlen = 0
torch._inductor.config.external_matmul = []
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, s0, x, y):
        add = torch.ops.aten.add.Tensor(x, s0)
        return (add, y)
def load_args(reader):
    reader.symint(4)  # s0
    buf0 = reader.storage(None, 8*s0, dtype_hint=torch.int32)
    reader.tensor(buf0, (s0, 2), (1, s0), dtype=torch.int32, is_leaf=True)  # x
    reader.tensor(buf0, (2*s0 - 1,), dtype=torch.int32, storage_offset=1)  # y
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy='strict_accuracy', command='run', save_dir=None, tracing_mode='symbolic', check_str=None)
`

func TestSmall(t *testing.T) {
	r := roundTrip(t, "small.py", strings.Replace(small, "8*s0", "4*s0*2", 1))
	if r == nil {
		t.FailNow()
	}
	if len(r.Config) != 1 || r.Storages[0].NBytes != 32 || !cmp.Equal(r.Inputs[1].Stride, []int64{1, 4}) || r.Inputs[2].Offset != 1 || r.Accuracy != StrictAccuracy {
		t.Errorf("%+v", r)
	}
	vs, err := r.Tensors(nil)
	if err != nil {
		t.Fatal(err)
	}
	if vs[1].(*tensor.Tensor).Storage != vs[2].(*tensor.Tensor).Storage {
		t.Error("inputs do not share their storage")
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for old, change := range map[string][2]string{
		"mod = Repro()":                {"mod = Repro(); print(mod)", "small.py:19: not understood: print(mod)"},
		"reader.symint(4)":             {"reader.banana(4)", "small.py:14: not understood: reader.banana(4)"},
		"reader.tensor(buf0, (s0, 2)":  {"reader.tensor(buf9, (s0, 2)", "small.py:16: storage buf9 is not defined"},
		"(s0, 2)":                      {"(s7//0, 2)", "small.py:16:"},
		"command='run'":                {"colour='red'", "small.py:23: run_repro: keyword colour"},
		"    reader.symint(4)  # s0\n": {"", "forward takes 3 inputs, the file has 2"},
	} {
		_, err := Read("small.py", strings.Replace(small, old, change[0], 1))
		if err == nil || !strings.Contains(err.Error(), change[1]) {
			t.Errorf("%s: got %v, want %s", old, err, change[1])
		}
	}
}

func TestStorageRoundTrip(t *testing.T) {
	dir := t.TempDir()
	h, err := WriteStorage(dir, []byte("some bytes"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := DirLoader(dir)(h)
	if err != nil || string(b) != "some bytes" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := DirLoader(dir)("../x"); err == nil {
		t.Error("a path is taken for a hash")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small)
	f.Add(strings.Replace(small, "reader.symint(4)", "reader.const('a')", 1))
	f.Add(condRepro("", "        self.true_graph_0 = <lambda>(\n  (a): <lambda>()\n)\n        self.false_graph_0 = Sequential(\n  (0): ReLU()\n  (1): Conv1d(4, 4, padding=same)\n)\n"))
	f.Add(condRepro(body("A", "sin")+body("B", "cos"), "        self.true_graph_0 = A()\n        self.false_graph_0 = B()\n"))
	f.Add("class <lambda>(torch.nn.Module):\n    def forward(self, a: \"f32[s0, 3][3, 1]cpu\", b: \"Sym(s0)\"):\n        k: \"i64[2]\" = self.k\n        return (a, k)\n")
	f.Add(strings.Replace(small, "reader.symint(4)", "reader.symint(torch.zeros(2, dtype=torch.int64))", 1))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read("fuzz.py", text)
		if err != nil {
			return
		}
		if r.Module.Lint() != nil {
			return
		}
		again, err := Read("again.py", Write(r))
		if err != nil {
			t.Fatalf("%v\n%s", err, Write(r))
		}
		if Write(again) != Write(r) {
			t.Fatalf("changed:\n%s\n%s", Write(r), Write(again))
		}
	})
}

// A save_dir beside the file is found from any folder: the text says so in Python, and is read back.
func TestSaveDirBesideTheFile(t *testing.T) {
	for dir, want := range map[string]string{
		"":            "save_dir=None",
		"checkpoints": "save_dir=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'checkpoints')",
		"it's":        `save_dir=os.path.join(os.path.dirname(os.path.abspath(__file__)), "it's")`,
		"/absolute":   "save_dir='/absolute'",
	} {
		for _, stage := range []Stage{AfterAOT, AfterDynamo} {
			gm, err := fx.Parse("g", "class Repro(torch.nn.Module):\n    def forward(self, x):\n        return (x,)\n")
			if err != nil {
				t.Fatal(err)
			}
			text := Write(&Repro{Module: gm, Stage: stage, SaveDir: dir, Backend: "eager", Inputs: []Input{{Kind: SymIntInput, Name: "x", Value: int64(1)}}})
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
			r, err := Read("repro.py", text)
			if err != nil {
				t.Fatal(err)
			}
			if r.SaveDir != dir {
				t.Errorf("%q was read back as %q", dir, r.SaveDir)
			}
		}
	}
}

// The data of a repro that was written with data are where it says, or it is an error that names them; no others stand in for them.
func TestStoredInputs(t *testing.T) {
	dir := t.TempDir()
	x := tensor.FromFloat32s([]float32{1, 2}, 2)
	hash, err := WriteStorage(filepath.Join(dir, "data"), x.Storage.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, saveDir, hash, want string }{
		{"relative", "data", hash, ""},
		{"absolute", filepath.Join(dir, "data"), hash, ""},
		{"another folder", "nodata", hash, "storage " + hash + " is not to be had from " + filepath.Join(dir, "nodata", "storages", hash) + ": there is no such file (with save_dir=None"},
		{"another hash", "data", "0123", "storage 0123 is not to be had from " + filepath.Join(dir, "data", "storages", "0123")},
		{"written without data", "", hash, "random"},
		{"written without a hash", "nodata", "", "random"},
	} {
		r := &Repro{SaveDir: c.saveDir, Storages: []Storage{{Hash: c.hash, NBytes: 8, DTypeHint: "float32"}}, Inputs: []Input{{Kind: TensorInput, Name: "x", Shape: []int64{2}, DType: "float32"}}}
		v, err := r.Tensors(r.Loader(dir))
		var missing *MissingError
		switch {
		case c.want == "" || c.want == "random":
			if err != nil || (v[0].(*tensor.Tensor).At(0) == 1) != (c.want == "") {
				t.Errorf("%s: %v %v", c.name, err, v)
			}
		case !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
