package minify_test

import (
	"context"
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/minify"
	"whittle/replay"
)

// A search needs an oracle, which says what a candidate does, and a state that fails. Here whatever holds both a sine and a matrix product fails,
// and the smallest such graph comes back, with the smallest inputs.
func ExampleSearch() {
	gm, err := fx.Parse("model.py", `
def forward(self, x, w):
    a = torch.ops.aten.sin.default(x)
    b = torch.ops.aten.relu.default(a)
    c = torch.ops.aten.mm.default(b, w)
    d = torch.ops.aten.exp.default(c)
    return (d,)
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := minify.Search{Oracle: minify.OracleFunc(func(_ context.Context, c minify.Candidate) (replay.Outcome, error) {
		if text := c.Module.String(); strings.Contains(text, "sin") && strings.Contains(text, "mm") {
			return replay.Outcome{Status: replay.Failed, Signature: replay.Signature{Stage: "compile", Type: "LoweringException"}}, nil
		}
		return replay.Outcome{Status: replay.Pass}, nil
	})}
	ones := tensor.FromFloat32s([]float32{1, 1, 1, 1}, 2, 2)
	r, err := s.Run(context.Background(), minify.State{Module: gm, Inputs: []minify.Input{{Value: ones}, {Value: ones}}})
	fmt.Println(err, r.Complete)
	fmt.Printf("%d of %d calls, %d of %d elements\n", r.Cost.Calls, r.Start.Calls, r.Cost.Elements, r.Start.Elements)
	fmt.Print(r.State.Module)
	// Output:
	// <nil> true
	// 2 of 4 calls, 2 of 8 elements
	// class GraphModule(torch.nn.Module):
	//     def __init__(self) -> None:
	//         super().__init__()
	//
	//     def forward(self, x, w):
	//         a = torch.ops.aten.sin.default(x);  x = None
	//         c = torch.ops.aten.mm.default(a, w);  a = w = None
	//         return (c,)
}
