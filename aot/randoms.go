package aot

import (
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// drawing are the operators that randoms replaces, and what each draws.
var drawing = map[string]string{"aten.rand.default": "rand", "aten.randn.default": "randn", "aten.randint.low": "randint"}

// randoms has what draws random numbers do so from seeds, all of which one call makes, as a kernel can.
// Mirrors torch/_inductor/fx_passes/replace_random.py.
func randoms(g *fx.Graph) error {
	call := func(op string, val *tensor.Tensor, args ...fx.Arg) *fx.Node {
		n := g.CreateNode(fx.CallFunction, "prims."+op+".default", args, nil, op+"_default")
		n.Val = val
		return n
	}
	seed := tensor.EmptyFake(tensor.Int64, nil, nil)
	var seeds []*fx.Node
	for _, n := range slices.Backward(slices.Clone(g.Nodes)) { // backwards, for PyTorch's names
		mode, out := drawing[n.Target], valueOf(n)
		if mode == "" || out == nil {
			continue
		}
		g.InsertBefore(n, func() {
			s := g.CreateNode(fx.CallFunction, "prims.inductor_lookup_seed.default", nil, nil, "")
			s.Val = seed
			seeds = append(seeds, s)
			var r *fx.Node
			if mode == "randint" {
				r = call("inductor_randint", retyped(out, tensor.Int64), n.Args[0], n.Args[1], n.Args[2], s)
			} else {
				r = call("inductor_random", retyped(out, tensor.Float32), n.Args[0], s, mode)
			}
			made := []*fx.Node{s, r}
			if valueOf(r).DType != out.DType {
				r = call("convert_element_type", out, r, out.DType)
				made = append(made, r)
			}
			if region := n.Meta[metaRegion]; region != nil { // the backward pass computes them again, from the same seeds
				for _, m := range made {
					m.Meta = map[string]any{metaRegion: region}
				}
			}
			g.ReplaceUses(n, r)
		})
		g.Erase(n)
	}
	if len(seeds) == 0 {
		return nil
	}
	slices.Reverse(seeds)
	g.InsertBefore(seeds[0], func() {
		n := int64(len(seeds))
		all := call("inductor_seeds", tensor.EmptyFake(tensor.Int64, []int64{n}, []int64{1}), n, tensor.CPU)
		for i, s := range seeds {
			s.Args = []fx.Arg{all, int64(i)}
			g.NameAfter(s, "inductor_lookup_seed_default")
		}
	})
	return nil
}

// retyped is a fake tensor of another type than t.
func retyped(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	return tensor.EmptyFake(d, t.Shape, t.Stride)
}
