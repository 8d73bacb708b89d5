package capture

import (
	"fmt"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// ddpModule adds what torch._dynamo.backends.distributed.DDPOptimizer is made of.
func (d *Dynamo) ddpModule(m *vm.Module) {
	// ddp_split(gm, limit, first) cuts a captured graph at bucket boundaries: a list of (piece, names of what it reads, names of
	// what it gives, example inputs), and the names of the whole graph's results and placeholders.
	m.Func("ddp_split", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		g := d.T.NativeGraph(a[0])
		if g == nil {
			return nil, in.Errorf(in.Exc.TypeError, "DDPOptimizer splits a torch.fx.GraphModule, not %s", a[0].Type().Name)
		}
		limit, _ := vm.AsInt(a[1])
		first, _ := vm.AsInt(a[2])
		of, n := g.GM.Graph.Buckets(limit, first, func(p *fx.Node) int64 {
			if t, ok := p.Val.(*tensor.Tensor); ok && p.Type == "torch.nn.parameter.Parameter" && d.T.Grad.RequiresGrad(t) {
				return p.TensorBytes()
			}
			return 0
		})
		parts, err := g.GM.Split(of, n)
		if err != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "DDPOptimizer: %s", err)
		}
		names := func(ns []*fx.Node) vm.Object {
			l := vm.NewList()
			for _, x := range ns {
				l.Items = append(l.Items, vm.Str(x.Name))
			}
			return l
		}
		list := vm.NewList()
		logging := d.Logging(LogDDPGraphs)
		for i, p := range parts {
			if logging {
				d.Log(LogDDPGraphs, GraphText(fmt.Sprintf("%s, graph %d of %d", p.GM.ClassName, i, len(parts)), p.GM.Readable("GraphModule", nil)))
			}
			obj, err := d.T.NewGraphModule(p.GM, nil)
			if err != nil {
				return nil, err
			}
			examples := vm.NewList()
			for _, x := range p.Inputs {
				t, ok := x.Val.(*tensor.Tensor)
				if !ok {
					return nil, in.Errorf(in.Exc.RuntimeError, "DDPOptimizer: piece %d reads %s, which is no tensor", i, x.Name)
				}
				examples.Items = append(examples.Items, d.T.Wrap(t))
			}
			list.Items = append(list.Items, vm.NewTuple(obj, names(p.Inputs), names(p.Outputs), examples))
		}
		var results []*fx.Node
		if out := g.GM.Graph.OutputNode(); out != nil {
			if t, ok := out.Args[0].(fx.Tuple); ok {
				for _, x := range t {
					if r, ok := x.(*fx.Node); ok {
						results = append(results, r)
						continue
					}
					return nil, in.Errorf(in.Exc.RuntimeError, "DDPOptimizer: a result of the graph is no tensor")
				}
			}
		}
		return vm.NewTuple(list, names(results), names(g.GM.Graph.Placeholders())), nil
	})
}
