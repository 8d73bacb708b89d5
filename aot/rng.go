package aot

import (
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// drawAgain has what draws random numbers in both graphs, as a checkpointed region does, draw the same ones: the forward graph keeps the state of
// the generator before each such call, and the backward graph goes back to it. Mirrors functionalize_rng_ops of torch/_functorch/partitioners.py.
func (p *Parts) drawAgain() {
	fw, bw := p.Forward.Graph, p.Backward.Graph
	for _, again := range slices.Clone(bw.Nodes) {
		if again.Op != fx.CallFunction || again.Operator() == nil || !again.IsRandom(fx.UnknownMay) {
			continue
		}
		first := fw.Node(again.Name)
		if first == nil || first.Target != again.Target {
			continue
		}
		state := tensor.EmptyFake(tensor.UInt8, []int64{int64(len(aten.DefaultGenerator.State()))}, []int64{1})
		op := fx.FnRef("torch.ops." + first.Target)
		var kept *fx.Node
		fw.InsertBefore(first, func() {
			save := fw.CreateNode(fx.CallFunction, "torch.ops.higher_order.run_and_save_rng_state", append([]fx.Arg{op}, first.Args...), first.Kwargs, "")
			save.Custom, save.Val = first.Custom, []any{state, first.Val}
			kept = fw.CallFunction("operator.getitem", save, int64(0))
			kept.Val = state
			drawn := fw.CallFunction("operator.getitem", save, int64(1))
			drawn.Val = first.Val
			fw.ReplaceUses(first, drawn)
		})
		fw.Erase(first)
		out := fw.OutputNode()
		outs := out.Args[0].(fx.Tuple)
		out.Args[0] = slices.Insert(slices.Clone(outs), len(outs)-p.numbers(), fx.Arg(kept))

		ins := bw.Placeholders()
		bw.InsertBefore(ins[p.Saved], func() {
			in := bw.Placeholder("rng_state_output")
			in.Val = state
			kept = in
		})
		p.Saved++
		bw.InsertBefore(again, func() {
			with := bw.CreateNode(fx.CallFunction, "torch.ops.higher_order.run_with_rng_state", append([]fx.Arg{kept, op}, again.Args...), again.Kwargs, "")
			with.Custom, with.Val = again.Custom, again.Val
			bw.ReplaceUses(again, with)
		})
		bw.Erase(again)
	}
}
