package aten

import (
	"fmt"
	"testing"

	"whittle/kernels/tensor"
)

// TestNormGradients: the kernels for float32 give what the plain loops give for float64, for rows and groups of all kinds.
func TestNormGradients(t *testing.T) {
	for _, rows := range []int64{1, 3, 70} {
		for _, shape := range [][3]int64{{6, 5, 6}, {6, 40, 2}, {4, 700, 4}, {8, 33, 1}, {1200, 1, 1}} { // channels, elements of one, groups
			ch, hw, groups := shape[0], shape[1], shape[2]
			for _, weighted := range []bool{true, false} {
				var results [2][]*tensor.Tensor
				for i, d := range []tensor.DType{tensor.Float64, tensor.Float32} {
					g := tensor.NewGenerator(7)
					sample := func(shape ...int64) *tensor.Tensor {
						x, out := tensor.Empty(tensor.Float64, shape...), tensor.Empty(d, shape...)
						g.NormalFill(x, 0.5, 2)
						tensor.Copy(out, x)
						return out
					}
					x, gy := sample(rows, ch, hw), sample(rows, ch, hw)
					var w Value
					if weighted {
						w = sample(ch)
					}
					run := func(op string, args ...Value) []Value {
						v, err := Run(Eager, op, args...)
						if err != nil {
							t.Fatal(err)
						}
						return v.([]Value)
					}
					add := func(vs []Value) {
						for _, v := range vs {
							if v, ok := v.(*tensor.Tensor); ok && v != nil {
								results[i] = append(results[i], v)
							}
						}
					}
					all := []Value{true, true, true}
					out := run("aten.native_group_norm.default", x, w, w, rows, ch, hw, groups, 1e-5)
					add(out)
					add(run("aten.native_group_norm_backward.default", gy, x, out[1], out[2], w, rows, ch, hw, groups, all))
					if hw == 1 {
						x, gy := mustTensor(t, "aten.squeeze.dim", x, int64(2)), mustTensor(t, "aten.squeeze.dim", gy, int64(2))
						out := run("aten.native_layer_norm.default", x, []Value{ch}, w, w, 1e-5)
						add(run("aten.native_layer_norm_backward.default", gy, x, []Value{ch}, out[1], out[2], w, w, all))
					}
				}
				for i, want := range results[0] {
					near(t, fmt.Sprintf("%d rows, %v, weighted %v: result %d", rows, shape, weighted, i), results[1][i], want)
				}
			}
		}
	}
}
