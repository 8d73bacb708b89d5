package lowering_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering"
)

// TestWindows: pools and padding of random geometry give in tiles and in C++ exactly what the kernels give, of infinities and NaNs, too.
func TestWindows(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(7, 1))
	for round, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Float32} {
		var inputs []any
		for _, shape := range [][]int64{{2, 3, 13, 17}, {3, 12, 8}, {2, 2, 6, 9, 7}} {
			x := tensor.EmptyUnset(d, shape, tensor.ContiguousStrides(shape))
			if round == 4 && len(shape) == 4 {
				x = tensor.EmptyUnset(d, shape, tensor.FormatStrides(shape, tensor.ChannelsLast))
			}
			v := make([]float64, x.Numel())
			for i := range v {
				if v[i] = float64(r.IntN(9) - 4); d.IsFloat() && r.IntN(8) == 0 {
					v[i] = []float64{math.NaN(), math.Inf(-1), math.Inf(1), 0.3, math.Copysign(0, -1)}[r.IntN(5)]
				}
			}
			x.SetFloats(v)
			inputs = append(inputs, x)
		}
		many := map[string]bool{} // averages of more elements than are added in the kernel's order, or that may be
		var lines, outs []string
		var want []*tensor.Tensor
		list := func(nd int, most, least int) string {
			var s []string
			for range nd {
				s = append(s, fmt.Sprint(least+r.IntN(most-least+1)))
			}
			return "[" + strings.Join(s, ", ") + "]"
		}
		for len(outs) < 40 {
			k := r.IntN(3)
			name, nd := []string{"a", "b", "c"}[k], []int{2, 2, 3}[k]
			flag := func() string { return []string{"True", "False"}[r.IntN(2)] }
			var line string
			results := 1
			switch r.IntN(6) {
			case 0, 1:
				line, results = fmt.Sprintf("max_pool%dd_with_indices.default(%s, %s, %s, %s, %s, %s)", nd, name, list(nd, 4, 1), list(nd, 3, 1), list(nd, 1, 0), list(nd, 2, 1), flag()), 2
			case 2, 3:
				divisor := []string{"None", "3"}[r.IntN(2)]
				line = fmt.Sprintf("avg_pool%dd.default(%s, %s, %s, %s, %s, %s, %s)", nd, name, list(nd, 7, 1), list(nd, 3, 1), list(nd, 2, 0), flag(), flag(), divisor)
			case 4:
				line = fmt.Sprintf("_adaptive_avg_pool%dd.default(%s, %s)", nd, name, list(nd, 3, 1))
				if r.IntN(2) == 0 {
					line, results = fmt.Sprintf("adaptive_max_pool%dd.default(%s, %s)", nd, name, list(nd, 3, 1)), 2
				}
			case 5:
				line = fmt.Sprintf("%s_pad%dd.default(%s, %s)", []string{"reflection", "replication"}[r.IntN(2)], nd, name, list(2*nd, 4, 0))
				if r.IntN(2) == 0 {
					line = fmt.Sprintf("constant_pad_nd.default(%s, %s, 2)", name, list(2*nd, 3, -2))
				}
			}
			res := fmt.Sprintf("r%d", len(lines))
			many[res] = d == tensor.Float32 && strings.Contains(line, "avg_pool") && (nd == 3 || strings.HasPrefix(line, "_adaptive") || elements(line) > 36)
			text := "    " + res + " = torch.ops.aten." + line + "\n"
			names := []string{res}
			if results == 2 {
				text += fmt.Sprintf("    %sa = %s[0]\n    %sb = %s[1]\n", res, res, res, res)
				names = []string{res + "a", res + "b"}
			}
			g, err := fx.ParseGraph("def forward(self, a, b, c):\n" + text + "    return (" + strings.Join(names, ", ") + ",)")
			if err != nil {
				t.Fatal(err)
			}
			v, err := fx.Run(ctx, &fx.GraphModule{Graph: g}, inputs, interp.Aten(ctx, aten.Eager))
			if err != nil {
				continue // such a window is refused
			}
			lines, outs = append(lines, text), append(outs, names...)
			for _, x := range v.([]any) {
				want = append(want, x.(*tensor.Tensor))
			}
		}
		g, err := fx.ParseGraph("def forward(self, a, b, c):\n" + strings.Join(lines, "") + "    return (" + strings.Join(outs, ", ") + ")")
		if err != nil {
			t.Fatal(err)
		}
		gm := &fx.GraphModule{Graph: g}
		if err := interp.Propagate(ctx, gm, inputs); err != nil {
			t.Fatal(err)
		}
		tiers := []lowering.Tier{lowering.Tiles}
		if _, err := native.FindCompiler(); err == nil && round%2 == 0 {
			tiers = append(tiers, lowering.Cpp)
		}
		for _, tier := range tiers {
			p, err := lowering.Compile(ctx, gm, lowering.Config{CacheDir: t.TempDir(), Tier: tier, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Run(inputs)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				x, y := got[i].(*tensor.Tensor).Floats(), w.Floats()
				for k := range y {
					if many[strings.TrimRight(outs[i], "ab")] && math.Abs(x[k]-y[k]) <= 1e-6*math.Abs(y[k])+1e-7 {
						continue // they are added in another order
					}
					if x[k] != y[k] && (x[k] == x[k] || y[k] == y[k]) {
						t.Errorf("%s of %s, tier %d: element %d is %v, want %v\n%s", outs[i], d, tier, k, x[k], y[k], strings.Join(lines, ""))
						break
					}
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// elements is how many a window has whose sizes are the first list of a call.
func elements(line string) int {
	n := 1
	for _, s := range strings.Split(line[strings.Index(line, "[")+1:strings.Index(line, "]")], ",") {
		k, _ := strconv.Atoi(strings.TrimSpace(s))
		n *= k
	}
	return n
}
