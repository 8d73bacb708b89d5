package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
	"whittle/repros/worker"
)

// dynamoQuery is an after-dynamo repro of one stored input of four numbers, which the backend "looks" sees at run time.
func dynamoQuery(hash, tensorArgs, forward, backend string) string {
	return `import torch
import torch._dynamo
` + backend + `
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
    def forward(self, x):
` + forward + `
def load_args(reader):
    buf0 = reader.storage(` + hash + `, 32)
    reader.tensor(buf0, (4,), ` + tensorArgs + `)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='run', save_dir='checkpoints', autocast=False, backend='looks')
`
}

func answer(dir, text string) replay.Outcome {
	return Runner(filepath.Join(dir, "kernels"))(context.Background(), worker.Query{Query: engine.Query{Text: text, Backend: "looks"}, Dir: dir}, func(string) {})
}

const looks = `
@torch._dynamo.register_backend
def looks(gm, inputs):
    def run(x):
        raise ValueError("saw %s" % x.tolist())
    return run
`

// After dynamo, a query's inputs are those that lie in its save_dir. Where they do not, it is invalid, and no other data are taken.
func TestAfterDynamoReadsItsInputs(t *testing.T) {
	dir := t.TempDir()
	x := tensor.FromFloat64s([]float64{1, 2, 3, 4}, 4)
	hash, err := repros.WriteStorage(filepath.Join(dir, "checkpoints"), x.Storage.Data)
	if err != nil {
		t.Fatal(err)
	}
	text := dynamoQuery("'"+hash+"'", "dtype=torch.float64", "        return (torch.relu(x),)", looks)
	if o := answer(dir, text); o.Status != replay.Failed || !strings.Contains(o.Message, "saw [1.0, 2.0, 3.0, 4.0]") {
		t.Errorf("%s %s", o.Status, o.Message)
	}
	if err := os.RemoveAll(filepath.Join(dir, "checkpoints")); err != nil {
		t.Fatal(err)
	}
	if o := answer(dir, text); o.Status != replay.Invalid || !strings.Contains(o.Message, "storage "+hash+" is not to be had from") {
		t.Errorf("%s %s", o.Status, o.Message)
	}
}

// What cannot be made an argument is an error that names it.
func TestAnArgumentThatCannotBe(t *testing.T) {
	text := dynamoQuery("None", "dtype=torch.int64, requires_grad=True", "        return (torch.relu(x),)", looks)
	if o := answer(t.TempDir(), text); o.Status != replay.Invalid || !strings.Contains(o.Message, "input x") || !strings.Contains(o.Message, "floating point") {
		t.Errorf("%s %s", o.Status, o.Message)
	}
}

// The proof has eager forward and backward, and so has what is compiled.
func TestForwardAndBackward(t *testing.T) {
	grad := "dtype=torch.float64, requires_grad=True"
	inBackward := `
class Raises(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        raise ValueError("in backward")
@torch._dynamo.register_backend
def looks(gm, inputs):
    return lambda x: (Raises.apply(gm(x)[0]),)
`
	for _, c := range []struct {
		name, args, forward, backend string
		status                       replay.Status
		message                      string
	}{
		{"eager backward fails", grad, "        return (torch.ops.aten._foobar(x),)", looks, replay.Invalid, "eager: RuntimeError: derivative for aten::_foobar is not implemented"},
		{"there is no backward", "dtype=torch.float64", "        return (torch.ops.aten._foobar(x),)", looks, replay.Failed, "saw"},
		{"compiled backward fails", grad, "        return (torch.relu(x),)", inBackward, replay.Failed, "ValueError: in backward"},
	} {
		if o := answer(t.TempDir(), dynamoQuery("None", c.args, c.forward, c.backend)); o.Status != c.status || !strings.Contains(o.Message, c.message) {
			t.Errorf("%s: %s %s", c.name, o.Status, o.Message)
		}
	}
}

// Of two sides that do not agree with themselves, it is always eager that is named.
func TestTheSideThatIsRefused(t *testing.T) {
	random := func() (any, error) {
		x := tensor.Empty(tensor.Float32, 8)
		aten.DefaultGenerator.NormalFill(x, 0, 1)
		return x, nil
	}
	for range 20 {
		a, _ := random()
		b, _ := random()
		o := accuracyQuestion{Ref: a, Res: b, Eager: random, Compiled: random, Exact: func() (any, error) { return nil, fmt.Errorf("random") }}.answer(context.Background())
		if o.Status != replay.Invalid || !strings.HasPrefix(o.Message, "eager") {
			t.Fatalf("%s %s", o.Status, o.Message)
		}
	}
}
