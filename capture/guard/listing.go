package guard

import (
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// Listed is the guards on one value as torch._dynamo.explain lists them: what is guarded, by which maker of guards, and the checks
// that came of it.
type Listed struct {
	Name         string // of the source; "" for the state of the process
	Where, Maker string // Where: LOCAL, GLOBAL or SHAPE_ENV
	Types, Code  []string
}

// ambient are the guards that every frame has beyond those of values.
var ambient = []Listed{
	{Where: "SHAPE_ENV", Maker: "SHAPE_ENV"},
	{Where: "GLOBAL", Maker: "DEFAULT_DEVICE", Types: []string{"DEFAULT_DEVICE"}, Code: []string{"utils_device.CURRENT_DEVICE == None"}},
	{Where: "GLOBAL", Maker: "GRAD_MODE"},
	{Where: "GLOBAL", Maker: "DETERMINISTIC_ALGORITHMS"},
	{Where: "GLOBAL", Maker: "TORCH_FUNCTION_STATE"},
}

// List lists the guards so far, those of one value and maker together.
func (d *Draft) List() []Listed { return list(d.list, d.values) }

// List lists the guards, those of one value and maker together.
func (s *Set) List() []Listed { return list(s.guards, s.values) }

func list(gs []*Guard, values map[string]vm.Object) []Listed {
	out := append([]Listed(nil), ambient...)
	at := map[string]int{}
	for _, g := range inTree(gs) {
		if g.Source == nil || g.Kind == LambdaGuard || g.isKey {
			continue
		}
		name, maker := g.Source.Name(), g.maker(values)
		key := maker + " " + name
		i, ok := at[key]
		if !ok {
			where := "GLOBAL"
			if source.IsLocal(g.Source) {
				where = "LOCAL"
			}
			i = len(out)
			at[key] = i
			out = append(out, Listed{Name: name, Where: where, Maker: maker})
		}
		l := &out[i]
		if g.Kind != NoHasattr {
			l.Types = append(l.Types, g.Kind.String())
		}
		if g.Kind != TensorMatch {
			l.Code = append(l.Code, g.Expr)
		}
	}
	return out
}

// maker is PyTorch's name for what makes a guard.
func (g *Guard) maker(values map[string]vm.Object) string {
	switch g.Kind {
	case IDMatch:
		if _, ok := g.Source.(source.Builtin); ok {
			return "BUILTIN_MATCH"
		}
		if g.part == "__code__" {
			return "CLOSURE_MATCH"
		}
		switch values[g.Source.Name()].(type) {
		case vm.Bool, *vm.NoneType:
			return "CONSTANT_MATCH"
		}
		return "FUNCTION_MATCH"
	case EqualsMatch:
		switch values[g.Source.Name()].(type) {
		case vm.Int, vm.Float, vm.Str:
			return "CONSTANT_MATCH"
		}
	}
	if m := g.Kind.row().maker; m != "" {
		return m
	}
	return g.Kind.String()
}
