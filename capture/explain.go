package capture

import (
	"whittle/capture/guard"
	"whittle/capture/python/vm"
)

// count is an addition to torch._dynamo.utils.counters.
type count struct {
	table, key string
	n          int
}

// Count adds to torch._dynamo.utils.counters[table][key]. It waits where nobody has imported that module.
func (d *Dynamo) Count(table, key string, n int) { d.count(table, key, n) }

func (d *Dynamo) count(table, key string, n int) {
	d.counts = append(d.counts, count{table, key, n})
	if _, ok := d.In.Modules.GetStr("torch._dynamo.utils"); !ok {
		return
	}
	_ = d.plainly(func() error {
		m, err := d.In.Import("torch._dynamo.utils")
		if err != nil {
			return err
		}
		_, err = d.In.CallMethod(m, "_take_counts")
		return err
	})
}

// explainModule adds what explain() and the counters read.
func (d *Dynamo) explainModule(m *vm.Module) {
	strs := func(ss []string) vm.Object {
		if ss == nil {
			return vm.None
		}
		l := vm.NewList()
		for _, s := range ss {
			l.Items = append(l.Items, vm.Str(s))
		}
		return l
	}
	m.Func("take_counts", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		l := vm.NewList()
		for _, c := range d.counts {
			l.Items = append(l.Items, vm.NewTuple(vm.Str(c.table), vm.Str(c.key), vm.MakeInt(int64(c.n))))
		}
		d.counts = nil
		return l, nil
	})
	m.Func("keep_guards", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		d.outGuards = &[]guard.Listed{}
		return vm.None, nil
	})
	m.Func("kept_guards", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		l := vm.NewList()
		if d.outGuards != nil {
			for _, g := range *d.outGuards {
				l.Items = append(l.Items, vm.NewTuple(vm.Str(g.Name), vm.Str(g.Where), vm.Str(g.Maker), strs(g.Types), strs(g.Code)))
			}
		}
		d.outGuards = nil
		return l, nil
	})
}

// setReason gives a GraphModule its compile_subgraph_reason: why the graph ends where it does.
func (d *Dynamo) setReason(gm vm.Object, tr *tracer, out *outcome) error {
	reason := "return_value"
	at := []guard.Place{{Code: tr.root.Code, Line: tr.root.Line()}}
	if out.broke {
		b := d.breaks[len(d.breaks)-1]
		reason = b.Reason.Explain()
		if len(b.at) > 0 {
			at = b.at
		}
	}
	return d.plainly(func() error {
		m, err := d.In.Import("torch._dynamo.eval_frame")
		if err != nil {
			return err
		}
		cls, err := d.In.GetAttr(m, "GraphCompileReason")
		if err != nil {
			return err
		}
		stack := vm.NewList()
		for _, p := range at {
			s, err := d.frameSummary(p)
			if err != nil {
				return err
			}
			stack.Items = append(stack.Items, s)
		}
		r, err := d.In.Call(cls, []vm.Object{vm.Str(reason), stack, vm.MakeBool(out.broke)}, nil)
		if err != nil {
			return err
		}
		return d.In.SetAttr(gm, "compile_subgraph_reason", r)
	})
}
