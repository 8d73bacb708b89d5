package capture

import (
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// laterText stands for a text with tensors written into it. Only a run knows how they look: the text is made behind the graph, of values
// that the graph gives back, as PyTorch's StringFormatVariable is.
type laterText struct {
	of   []vm.Object // tensors, texts and other values
	make func(in *vm.Interp, of []vm.Object) (vm.Object, error)
}

// Type is that of what it stands for.
func (*laterText) Type() *vm.Type { return vm.StrType }

// recipe makes the text in a run.
func (t *laterText) recipe(p *planner) (recipe, error) {
	parts, err := p.values(t.of)
	if err != nil {
		return nil, err
	}
	return func(r *rebuild) (vm.Object, error) {
		of, err := r.all(parts)
		if err != nil {
			return nil, err
		}
		return t.make(r.env.In, of)
	}, nil
}

// written reports whether the text of a value shows tensors: it is one, or a container with one.
func written(o vm.Object) bool {
	seen := map[vm.Object]bool{}
	var shows func(o vm.Object) bool
	shows = func(o vm.Object) bool {
		switch o.(type) {
		case *torch.Tensor, *laterText:
			return true
		case *vm.List, *vm.Dict, *vm.Set, *vm.FrozenSet, *vm.Tuple, *vm.Instance:
		default:
			return false
		}
		if seen[o] {
			return false
		}
		seen[o] = true
		if l, ok := vm.AsList(o); ok {
			return slices.ContainsFunc(l.Items, shows)
		}
		if t, ok := vm.AsTuple(o); ok {
			return slices.ContainsFunc(t.Items, shows)
		}
		if d, ok := vm.AsDict(o); ok {
			return slices.ContainsFunc(d.Keys(), shows) || slices.ContainsFunc(d.Values(), shows)
		}
		if s, ok := o.(interface{ Items() []vm.Object }); ok {
			return slices.ContainsFunc(s.Items(), shows)
		}
		return false
	}
	return shows(o)
}

// format puts a text off that shows tensors; others are read as they are written.
func (u upcoming) format() error {
	spec := vm.Object(vm.Str(""))
	k := 0
	if u.ins.Arg&4 != 0 {
		spec, k = u.top(0), 1
	}
	x := u.top(k)
	if !written(x) {
		u.reads.content(x)
		return nil
	}
	how := u.ins.Arg & 3
	u.f.Stack[u.f.SP-1-k] = vm.Str("")
	u.f.Ext = &pending{swap: &laterText{[]vm.Object{x, spec}, func(in *vm.Interp, of []vm.Object) (vm.Object, error) {
		spec, _ := vm.AsStr(of[1])
		s, err := in.FormatValue(of[0], how, spec)
		return vm.Str(s), err
	}}}
	return nil
}

// join makes the text of an f-string of its parts.
func (u upcoming) join() error {
	at := u.f.Stack[u.f.SP-int(u.ins.Arg) : u.f.SP]
	if !slices.ContainsFunc(at, isLater) {
		return nil
	}
	parts := slices.Clone(at)
	for i := range at {
		at[i] = vm.Str("")
	}
	u.f.Ext = &pending{swap: &laterText{parts, func(in *vm.Interp, of []vm.Object) (vm.Object, error) {
		return in.CallMethod(vm.Str(""), "join", vm.NewTuple(of...))
	}}}
	return nil
}

func isLater(o vm.Object) bool {
	_, ok := o.(*laterText)
	return ok
}

// formatted is the text that a call formats, if it is one of str.format, and the values given to it.
func formatted(callable vm.Object, args []vm.Object) (text vm.Object, values []vm.Object, ok bool) {
	b, isBuiltin := callable.(*vm.Builtin)
	if !isBuiltin || b.Name != "format" {
		return nil, nil, false
	}
	if text, ok = b.Self.(vm.Str); ok {
		return text, args, true
	}
	if b.Owner == vm.StrType && len(args) > 0 {
		return args[0], args[1:], true
	}
	return nil, nil, false
}

// formatOperator puts "text % values" off where the values show tensors. Its operands lie on the stack.
func (u upcoming) formatOperator() bool {
	text, ok := u.top(1).(vm.Str)
	if !ok || u.ins.Op != code.BINARY_OP || code.BinOps[u.ins.Arg] != "%" || !written(u.top(0)) {
		return false
	}
	values := u.top(0)
	u.f.Stack[u.f.SP-2], u.f.Stack[u.f.SP-1] = vm.Str(""), vm.NewTuple()
	u.f.Ext = &pending{swap: &laterText{[]vm.Object{values}, func(in *vm.Interp, of []vm.Object) (vm.Object, error) {
		return in.BinaryOp("%", text, of[0])
	}}}
	return true
}

// formatMethod puts text.format(...) off where the arguments show tensors.
func formatMethod(callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool) {
	text, args, ok := formatted(callable, args)
	if !ok || isLater(text) {
		return nil, false
	}
	of := slices.Clone(args)
	for _, k := range kw {
		of = append(of, k.Value)
	}
	if !slices.ContainsFunc(of, written) {
		return nil, false
	}
	return &laterText{of, func(in *vm.Interp, of []vm.Object) (vm.Object, error) {
		named := make([]vm.KwArg, len(kw))
		for i, k := range kw {
			named[i] = vm.KwArg{Name: k.Name, Value: of[len(args)+i]}
		}
		m, err := in.GetAttr(text, "format")
		if err != nil {
			return nil, err
		}
		return in.Call(m, of[:len(args)], named)
	}}, true
}

// textGiven is the break at a call of native code that is given a text which a run makes.
func textGiven(callable vm.Object, args []vm.Object, kw []vm.KwArg) error {
	switch f := callable.(type) {
	case *vm.Function:
		return nil
	case *vm.Builtin:
		if f.Name == "print" { // which ends the graph whatever it is given
			return nil
		}
	}
	if slices.ContainsFunc(args, isLater) || slices.ContainsFunc(kw, func(k vm.KwArg) bool { return isLater(k.Value) }) {
		return unsupported(breaks.TextOfTensors)
	}
	return nil
}

// readsLater is the break at an instruction that looks into a text that a run makes.
func (u upcoming) readsLater() error {
	for k := range min(operands(u.ins), u.f.SP) {
		if isLater(u.top(k)) && u.ins.Op != code.FORMAT_VALUE {
			return unsupported(breaks.TextOfTensors)
		}
	}
	return nil
}
