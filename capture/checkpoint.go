package capture

import (
	"fmt"
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/source"
)

// checkpoint is torch.utils.checkpoint.checkpoint(fn, *args): one node that names the graph of fn. What fn reads comes in in
// the order of its use.
func (bo *bodies) checkpoint(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) == 0 {
		return nil, false, nil // plain Python words the error
	}
	var settings []fx.Kwarg // of checkpoint itself
	var given []vm.KwArg    // for fn
	for _, k := range kw {
		if !checkpointSettings.has(k.Name) {
			given = append(given, k)
			continue
		}
		v, err := bo.t.GraphArg(k.Value, func(vm.Object) (fx.Arg, bool, error) { return nil, false, nil })
		if err != nil {
			return nil, false, unsupported(breaks.CheckpointArgument, k.Name)
		}
		settings = append(settings, fx.Kwarg{Name: k.Name, Val: v})
	}
	b, lifted, err := bo.reading(args[0], args[1:], given)
	if err != nil {
		return nil, false, err
	}
	v, err := bo.node("tag_activation_checkpoint", append([]fx.Arg{bo.file("wrap_body", b)}, lifted...), settings, b.tree, nil)
	return v, err == nil, err
}

// byUse sorts what a body reads by the nodes that read it; the symbols of a tensor's sizes come before it.
func (bo *bodies) byUse(g *fx.Graph, inputs []outside) []outside {
	var out []outside
	add := func(v outside) {
		if slices.Contains(inputs, v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, n := range g.Nodes {
		n.WalkInputs(func(in *fx.Node) {
			if in.Op != fx.Placeholder {
				return
			}
			v := outsideOf(in)
			if v.tensor != nil {
				for _, name := range bo.out.symbolsOf(v.tensor) {
					add(outside{number: name})
				}
			}
			add(v)
		})
	}
	for _, v := range inputs {
		add(v)
	}
	return out
}

// pytreeFacts are what PyTorch's capture guards when an operator with a body goes through its arguments: the parts of
// torch.utils._pytree that it traces. check is what is printed of a part, "" for its identity.
var pytreeFacts = []struct {
	kind      guard.Kind
	check, of string
}{
	{guard.IDMatch, "", ""},
	{guard.IDMatch, "", ".TreeSpec"},
	{guard.IDMatch, "", "._is_leaf.__code__"},
	{guard.TypeMatch, "___check_type_id(%s, <id>)", "._LEAF_SPEC"},
	{guard.IDMatch, "", "._LEAF_SPEC.type"},
	{guard.IDMatch, "", "._LEAF_SPEC.context"},
	{guard.EqualsMatch, "%s == 1", "._LEAF_SPEC.num_nodes"},
	{guard.EqualsMatch, "%s == 1", "._LEAF_SPEC.num_leaves"},
	{guard.EqualsMatch, "%s == 0", "._LEAF_SPEC.num_children"},
	{guard.TypeMatch, "___check_type_id(%s, <id>)", "._LEAF_SPEC.children_specs"},
	{guard.LengthCheck, "not %s", "._LEAF_SPEC.children_specs"},
	{guard.IDMatch, "", "._get_node_type.__code__"},
	{guard.DictVersion, "___dict_version(%s) == 3", ".SUPPORTED_NODES"},
	{guard.IDMatch, "", "._tree_flatten_helper.__code__"},
	{guard.IDMatch, "", "._is_namedtuple_instance.__code__"},
}

// usePytree guards what PyTorch relies on when it flattens arguments.
func (bo *bodies) usePytree() {
	for _, name := range []string{"len", "list", "type", "tuple", "isinstance"} {
		if v, ok := bo.in.Builtins.Dict.GetStr(name); ok {
			bo.world.useBuiltin(name, v)
		}
	}
	module := source.Import{Module: "torch.utils._pytree"}.Name()
	for _, f := range pytreeFacts {
		if f.kind == guard.IDMatch {
			bo.guards.Add(guard.Part(module + f.of))
		} else {
			bo.guards.Add(guard.New(f.kind, fmt.Sprintf(f.check, module+f.of), nil, nil))
		}
	}
	bo.guards.Add(guard.Part("G['_<id>_c0'].Tensor"), guard.Part("G['_<id>_c0'].Tensor.__bases__[0]"))
}
