package capture

import (
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// outGuard is a guard as torch._dynamo.explain lists it: what is guarded, by which maker of guards, and the checks that came of it.
type outGuard struct {
	name, source, create string
	types, code          []string
}

// ambient are the guards that every frame has beyond those of values.
var ambient = []outGuard{
	{source: "SHAPE_ENV", create: "SHAPE_ENV"},
	{source: "GLOBAL", create: "DEFAULT_DEVICE", types: []string{"DEFAULT_DEVICE"}, code: []string{"utils_device.CURRENT_DEVICE == None"}},
	{source: "GLOBAL", create: "GRAD_MODE"},
	{source: "GLOBAL", create: "DETERMINISTIC_ALGORITHMS"},
	{source: "GLOBAL", create: "TORCH_FUNCTION_STATE"},
}

// outGuards are the guards of an entry, those of one value and maker together.
func (tr *tracer) outGuards(gs []*Guard) []outGuard {
	out := append([]outGuard(nil), ambient...)
	at := map[string]int{}
	for _, g := range inTree(gs) {
		if g.Source == nil || g.Kind == "LAMBDA_GUARD" || strings.HasPrefix(g.Expr, "list(") {
			continue
		}
		name, create := g.Source.Name(), tr.maker(g)
		key := create + " " + name
		i, ok := at[key]
		if !ok {
			where := "GLOBAL"
			if source.IsLocal(g.Source) {
				where = "LOCAL"
			}
			i = len(out)
			at[key] = i
			out = append(out, outGuard{name: name, source: where, create: create})
		}
		o := &out[i]
		if g.Kind != "NO_HASATTR" {
			o.types = append(o.types, g.Kind)
		}
		if g.Kind != "TENSOR_MATCH" {
			o.code = append(o.code, g.Expr)
		}
	}
	return out
}

// maker is PyTorch's name for what makes a guard.
func (tr *tracer) maker(g *Guard) string {
	switch g.Kind {
	case "NO_HASATTR", "DYNAMIC_INDICES":
		return "TENSOR_MATCH"
	case "OBJECT_ALIASING":
		return "DUPLICATE_INPUT"
	case "LENGTH_CHECK":
		return "SEQUENCE_LENGTH"
	case "ID_MATCH":
		if _, ok := g.Source.(source.Builtin); ok {
			return "BUILTIN_MATCH"
		}
		if strings.Contains(g.Expr, ".__code__") {
			return "CLOSURE_MATCH"
		}
		switch tr.guards.values[g.Source.Name()].(type) {
		case vm.Bool, *vm.NoneType:
			return "CONSTANT_MATCH"
		}
		return "FUNCTION_MATCH"
	case "EQUALS_MATCH":
		switch tr.guards.values[g.Source.Name()].(type) {
		case vm.Int, vm.Float, vm.Str:
			return "CONSTANT_MATCH"
		}
	}
	return g.Kind
}

// count is an addition to torch._dynamo.utils.counters.
type count struct {
	table, key string
	n          int
}

// count adds to torch._dynamo.utils.counters[table][key]. It waits where nobody has imported that module.
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
		d.outGuards = &[]outGuard{}
		return vm.None, nil
	})
	m.Func("kept_guards", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		l := vm.NewList()
		if d.outGuards != nil {
			for _, g := range *d.outGuards {
				l.Items = append(l.Items, vm.NewTuple(vm.Str(g.name), vm.Str(g.source), vm.Str(g.create), strs(g.types), strs(g.code)))
			}
		}
		d.outGuards = nil
		return l, nil
	})
}

// setReason gives a GraphModule its compile_subgraph_reason: why the graph ends where it does.
func (d *Dynamo) setReason(gm vm.Object, tr *tracer, out *outcome) error {
	reason := "return_value"
	at := []stackFrame{{tr.root.Code, tr.root.Line()}}
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
