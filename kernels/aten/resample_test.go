package aten

import (
	"math/rand/v2"
	"testing"

	"whittle/kernels/tensor"
)

// TestPicked: what moves elements gives what sums of one product each give, in every size of element and layout.
func TestPicked(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for range 200 {
		nd := 1 + r.IntN(3)
		in, out := []int64{}, []int64{}
		var tables [][][]tap
		for range nd {
			in, out = append(in, 1+r.Int64N(9)), append(out, 1+r.Int64N(40))
			var table [][]tap
			for range out[len(out)-1] {
				i := r.Int64N(in[len(in)-1])
				if n := len(table); n > 0 && r.IntN(3) > 0 {
					i = min(table[n-1][0].i+1, in[len(in)-1]-1)
				}
				table = append(table, []tap{{i, 1}})
			}
			tables = append(tables, table)
		}
		lead := r.Int64N(4)
		d := []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Bool}[r.IntN(5)]
		x, o := tensor.Empty(d, append([]int64{lead, 1}, in...)...), tensor.Empty(d, append([]int64{lead, 1}, out...)...)
		xs := make([]float64, x.Numel())
		for i := range xs {
			if xs[i] = float64(r.IntN(100)); d == tensor.Bool {
				xs[i] = float64(r.IntN(2))
			}
		}
		x.SetFloats(xs)
		if nd == 2 && r.IntN(2) == 0 {
			y := tensor.Empty(d, o.Shape...)
			y.Stride = tensor.FormatStrides(o.Shape, tensor.ChannelsLast)
			o = y
		}
		resampled(o, x, lead, in, out, tables)
		want := make([]float64, lead*tensor.Numel(out))
		resample(want, xs, lead, in, out, tables, false)
		for i, v := range o.Floats() {
			if v != want[i] {
				t.Fatalf("%v to %v of %s: element %d is %v, want %v", in, out, d, i, v, want[i])
			}
		}
	}
}
