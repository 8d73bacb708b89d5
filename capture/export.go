package capture

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// A graph for torch._dynamo.export stands for the whole program, not for one frame under guards. So the tensors of modules are attributes of
// the graph module rather than inputs, a call of one of torch's modules is one node, sizes are read from the inputs that have them, and
// what a module keeps may not be changed.

// Export is what a program that is exported said of the sizes of its arguments.
type Export struct {
	dims map[*tensor.Tensor]map[int]*namedDim
}

// namedDim is a dimension that has the name of a torch.export.Dim: scale*root + offset, where the root lies within bounds.
type namedDim struct {
	name, root    string
	bounds        symbolic.Range
	scale, offset int64
}

// exporting reads the tuples of torch.export.dynamic_shapes._process_dynamic_shapes.
func (d *Dynamo) exporting(constraints vm.Object) (*Export, error) {
	items, err := d.In.IterAll(constraints)
	if err != nil {
		return nil, err
	}
	ex := &Export{dims: map[*tensor.Tensor]map[int]*namedDim{}}
	for _, it := range items {
		t, ok := vm.AsTuple(it)
		if !ok || len(t.Items) != 8 {
			return nil, d.In.Errorf(d.In.Exc.TypeError, "a constraint of an export has eight parts")
		}
		x, ok := t.Items[0].(*torch.Tensor)
		if !ok {
			return nil, d.In.Errorf(d.In.Exc.TypeError, "a constraint of an export is on a tensor")
		}
		n := &namedDim{bounds: symbolic.All}
		n.name, _ = vm.AsStr(t.Items[2])
		n.root, _ = vm.AsStr(t.Items[5])
		if lo, ok := vm.AsInt(t.Items[3]); ok && lo > 0 {
			n.bounds.Lo = lo
		}
		if hi, ok := vm.AsInt(t.Items[4]); ok {
			n.bounds.Hi = hi
		}
		n.scale, _ = vm.AsInt(t.Items[6])
		n.offset, _ = vm.AsInt(t.Items[7])
		dim, _ := vm.AsInt(t.Items[1])
		if ex.dims[x.T] == nil {
			ex.dims[x.T] = map[int]*namedDim{}
		}
		ex.dims[x.T][int(dim)] = n
	}
	return ex, nil
}

// namedDims are the dimensions of a tensor that the program named.
func (sy *symbols) namedDims(x *tensor.Tensor) map[int]*namedDim {
	if sy.d.ctx.Export == nil {
		return nil
	}
	return sy.d.ctx.Export.dims[x]
}

// namedSize is the size, seen as size, of a dimension that has a name. Dimensions of one root have one symbol.
func (sy *symbols) namedSize(n *namedDim, size int64, from string) *symbolic.Expr {
	root := sy.roots[n.root]
	if root == nil {
		root = sy.unknowns.Size((size-n.offset)/n.scale, from, symbolic.Dynamic)
		if root.Op != symbolic.OpSym {
			return symbolic.Int(size)
		}
		sy.unknowns.Constrain(root.Name, n.bounds)
		sy.roots[n.root] = root
	}
	return symbolic.Add(symbolic.Mul(symbolic.Int(n.scale), root), symbolic.Int(n.offset))
}

// member is what a graph module takes over from the modules of the program: a tensor, or a module.
type member struct {
	name  string
	value vm.Object
}

// addMember is the name under which the graph module has v; src says how the program reaches it.
func (og *output) addMember(v vm.Object, src source.Source) string {
	base := memberName(memberPath(src, og.env))
	name := base
	for i := 1; ; i++ {
		at := slices.IndexFunc(og.members, func(m member) bool { return m.name == name })
		if at < 0 {
			break
		}
		if og.members[at].value == v {
			return name
		}
		name = fmt.Sprintf("%s_%d", base, i)
	}
	og.members = append(og.members, member{name, v})
	return name
}

// memberPath is a source as a program would write it: L['self'].layers.0.weight, without the tables that modules keep their members in.
func memberPath(src source.Source, e *source.Env) string {
	switch s := src.(type) {
	case source.Module:
		return memberPath(s.Base, e)
	case source.Native:
		return memberPath(s.Base, e)
	case source.Attr:
		if slices.Contains(moduleTables, s.Of) {
			if m, ok := s.Base.(source.Module); ok {
				return memberPath(m.Base, e)
			}
		}
		return memberPath(s.Base, e) + "." + s.Of
	case source.Item:
		if table, ok := s.Base.(source.Attr); ok && slices.Contains(moduleTables, table.Of) {
			if key, ok := vm.AsStr(s.Key); ok {
				return memberPath(s.Base, e) + "." + key
			}
		}
		return memberPath(s.Base, e) + "[" + s.Text + "]"
	case source.Value:
		if d, err := s.Base.Get(e); err == nil {
			if dict, ok := vm.AsDict(d); ok && s.I < dict.Len() {
				if key, ok := vm.AsStr(dict.Keys()[s.I]); ok {
					return memberPath(s.Base, e) + "." + key
				}
			}
		}
	case source.Placed:
		return memberPath(s.Source, e)
	}
	return src.Name()
}

// moduleTables are the dicts that an nn.Module keeps its members in.
var moduleTables = []string{"_parameters", "_buffers", "_modules"}

var (
	wholeLookup = regexp.MustCompile(`^[GL]\['?(.*?)'?\]$`)
	indexed     = regexp.MustCompile(`\[(\d+)\]`)
	noLetter    = regexp.MustCompile(`[^a-zA-Z0-9]`)
)

// memberName makes an attribute's name of a path, as OutputGraph.module_key_name does.
func memberName(path string) string {
	name := wholeLookup.ReplaceAllString(path, "$1")
	name = indexed.ReplaceAllString(name, "_$1")
	name = noLetter.ReplaceAllString(name, "_")
	if name == "" || !strings.ContainsAny(name[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		name = "sub" + name
	}
	return name
}

// ofModule makes the stand-in of a tensor that a module has: an attribute of the graph module.
func (st *standIns) ofModule(p *torch.Tensor, src source.Source) (*tensor.Tensor, error) {
	st.world.guard(p, src)
	n := st.out.graph.GetAttr(st.out.addMember(p, src))
	f := tensor.FakeLike(p.T)
	n.Val = f
	st.stand(f, p, n)
	return f, st.asDifferentiable(f, p.T)
}

// leafModule is a call of one of torch's own modules, one node of an exported graph. Those that only hold others, and those with hooks, are
// traced through as everywhere; so are all of them in the body of an operator.
func (tr *tracer) leafModule(m *vm.Instance, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	src := tr.world.sourceOf(m)
	if tr.d.ctx.Export == nil || tr.out.branch != nil || src == nil || moduleKind(m.Class) != source.LibraryModule || isA(m.Class, "torch.nn.modules.container", "Sequential") {
		return nil, false, nil
	}
	for _, table := range []string{"_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"} {
		if d, ok := moduleTable(m, table); ok && d.Len() > 0 {
			return nil, false, nil
		}
	}
	v, err := tr.api(&torch.Call{Op: fx.CallModule, Target: tr.out.addMember(m, src), Args: args, Kw: kw, Run: func(a []vm.Object, k []vm.KwArg) (vm.Object, error) {
		return tr.in.Call(m, a, k)
	}})
	return v, true, err
}

// mayNotAssign is the error at an assignment to an attribute of a module that is exported.
func (rd *reads) mayNotAssign(m *vm.Instance, name string) error {
	if rd.d.ctx.Export == nil || rd.quiet() {
		return nil
	}
	msg := fmt.Sprintf("Mutating module attribute %s during export.", name)
	return &escaped{rd.d.raiseAt("builtins", "AssertionError", msg, []guard.Place{rd.userPlace()})}
}

// fromOutside notes where the program used a tensor that is none of its arguments and of no module: export has to refuse it.
func (st *standIns) fromOutside(in *input) {
	if l, ok := source.Start(in.source).(source.Local); ok && slices.Contains(st.root.Code.VarNames, l.Var) {
		return
	}
	in.usedAt = st.journal.stackFrames()
}

// readSizes turns the inputs of the graph that are sizes into reads of the tensors that have them.
func (sy *symbols) readSizes() {
	if sy.d.ctx.Export == nil {
		return
	}
	og := sy.out
	var behind *fx.Node // the first node that is no placeholder
	for _, n := range og.graph.Nodes {
		if n.Op != fx.Placeholder {
			behind = n
			break
		}
	}
	inputs := slices.Clone(og.inputs)
	og.inputs = nil
	old := map[string]*fx.Node{}
	for _, in := range inputs {
		if in.symbol != "" {
			old[in.symbol] = in.node
		} else {
			og.inputs = append(og.inputs, in)
		}
	}
	og.graph.InsertBefore(behind, func() {
		for _, in := range og.inputs {
			s := sy.inputSizes[in.source.Name()]
			if s == nil {
				continue
			}
			read := func(op string, e *symbolic.Expr, args ...fx.Arg) {
				n := old[e.Name]
				if e.Op != symbolic.OpSym || n == nil {
					return
				}
				r := og.operator(op, append([]fx.Arg{in.node}, args...)...)
				r.Val = n.Val
				og.graph.ReplaceUses(n, r)
				delete(old, e.Name)
				og.graph.Erase(n)
			}
			for i, e := range s.size {
				read("sym_size.int", e, int64(i))
			}
			for i, e := range s.stride {
				read("sym_stride.int", e, int64(i))
			}
			read("sym_storage_offset.default", s.offset)
		}
	})
}

// giveMembers gives the graph module what it takes over from the program's modules, and says where the program used tensors that it may not.
func (d *Dynamo) giveMembers(gm vm.Object, og *output, ins []input) error {
	if d.ctx.Export == nil {
		return nil
	}
	return d.plainly(func() error {
		for _, m := range og.members {
			method := "register_buffer"
			if p, ok := m.value.(*torch.Tensor); !ok || isParameter(p) {
				method = "__setattr__"
			}
			if _, err := d.In.CallMethod(gm, method, vm.Str(m.name), m.value); err != nil {
				return err
			}
		}
		used := vm.NewDict()
		for _, in := range ins {
			if in.usedAt == nil {
				continue
			}
			stack := vm.NewList()
			for _, p := range in.usedAt {
				s, err := d.frameSummary(p)
				if err != nil {
					return err
				}
				stack.Items = append(stack.Items, s)
			}
			used.SetStr(in.source.Name(), vm.NewList(stack))
		}
		return d.In.SetAttr(gm, "_source_to_user_stacks", used)
	})
}
