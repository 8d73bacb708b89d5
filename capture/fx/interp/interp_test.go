package interp

import (
	"context"
	"testing"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

func TestRunAndPropagate(t *testing.T) {
	gm, err := fx.Parse("g", `def forward(self, x, s):
    add = torch.ops.aten.add.Tensor(x, 1);  x = None
    sym_size_int = torch.ops.aten.sym_size.int(add, 0)
    mul = s * sym_size_int;  s = None
    floordiv = mul // 3
    getitem = add[(slice(0, floordiv, None), None)];  floordiv = None
    relu = torch.relu(getitem);  getitem = None
    view = relu.reshape(-1);  relu = None
    split = torch.ops.aten.split.Tensor(view, 1);  view = None
    getitem_1 = split[1];  split = None
    matmul = getitem_1 @ getitem_1
    return (getitem_1, mul, matmul)`)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	in := []any{tensor.FromFloat32s([]float32{-3, 1, 5}, 3), int64(2)}
	out, err := fx.Run(ctx, gm, in, Aten(ctx, aten.Eager))
	if err != nil {
		t.Fatal(err)
	}
	r := out.([]any)
	if got := r[0].(*tensor.Tensor).Float32s(); len(got) != 1 || got[0] != 2 || r[1] != int64(6) || r[2].(*tensor.Tensor).Item() != 4.0 {
		t.Errorf("%v", r)
	}
	if err := Propagate(ctx, gm, in); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"add": "f32[3]", "mul": "Sym(6)", "getitem_1": "f32[1]", "matmul": "f32[]"} {
		if got := fx.ValString(gm.Graph.Node(name).Val); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestErrorsNameTheNode(t *testing.T) {
	gm, _ := fx.Parse("g", "def forward(self, x, y):\n    mm = torch.ops.aten.mm.default(x, y)\n    return (mm,)")
	err := Propagate(context.Background(), gm, []any{tensor.Empty(tensor.Float32, 2, 3), tensor.Empty(tensor.Float32, 2, 3)})
	ne, ok := err.(*fx.NodeError)
	if !ok || ne.Node.Name != "mm" {
		t.Error(err)
	}
}
