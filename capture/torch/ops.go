package torch

import (
	"errors"
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// varargs are the methods whose list argument may be spread: x.view(2, 3).
var varargs = map[string]bool{"view": true, "reshape": true, "permute": true, "expand": true, "repeat": true, "flip": true, "new_zeros": true,
	"new_ones": true, "new_empty": true, "tile": true, "sum_to_size": true, "broadcast_to": true, "rot90": false, "zeros": true, "ones": true, "empty": true, "rand": true, "randn": true, "resize_": true}

// dtypeKeywords are arguments that PyTorch's Python layer handles for every factory.
var factoryKeywords = map[string]bool{"requires_grad": true}

// Packet runs the operator `name` of namespace ns on Python arguments, choosing the overload as PyTorch does.
func (t *Torch) Packet(ns, name string, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	ops := aten.Packet(ns, name)
	if len(ops) == 0 {
		return nil, t.In.Errorf(t.In.Exc.NotImplementedError, "whittle has no operator %s::%s", ns, name)
	}
	vals := make([]aten.Value, len(args))
	for i, a := range args {
		v, ok := t.Value(a)
		if !ok {
			return nil, t.badArgument(name, ops, i, a)
		}
		vals[i] = v
	}
	var kws map[string]aten.Value
	requires := false
	for _, k := range kw {
		if factoryKeywords[k.Name] && !hasArg(ops, k.Name) {
			b, err := t.In.Truth(k.Value)
			if err != nil {
				return nil, err
			}
			requires = b
			continue
		}
		v, ok := t.Value(k.Value)
		if !ok {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "%s(): argument '%s' must not be %s", name, k.Name, k.Value.Type().Name)
		}
		if kws == nil {
			kws = map[string]aten.Value{}
		}
		kws[t.keyword(ops, k.Name)] = v
	}
	if ns == "aten" {
		form, fvals, fkws := aten.PythonForm(name, vals, kws)
		if vals, kws = fvals, fkws; form != name {
			ops = aten.Packet(ns, form)
		}
	}
	op, bound, err := aten.ResolveOverload(ops, vals, kws)
	if err != nil {
		return nil, t.signatureError(name, ops, args, kw, err)
	}
	out, err := t.Run(op, bound)
	if err != nil {
		return nil, t.Error(err)
	}
	if requires {
		if x, ok := out.(*tensor.Tensor); ok {
			if err := t.Grad.SetRequiresGrad(x, true); err != nil {
				return nil, t.Error(err)
			}
		}
	}
	return t.results(op, out), nil
}

// Run dispatches one bound call. Random operators without a generator use the default one.
func (t *Torch) Run(op *aten.Op, bound []aten.Value) (aten.Value, error) {
	if op.Tags&(aten.Random|aten.Factory|aten.Composite) != 0 {
		for i, a := range op.Sig().Args {
			if bound[i] != nil {
				continue
			}
			switch {
			case a.Type.Base == "Generator" && op.Tags&aten.Random != 0 && t.Dispatch == aten.Dispatcher(t.Grad):
				bound[i] = t.Generator
			case a.Name == "dtype" && t.DefaultDType != tensor.Float32 && op.Tags&aten.Factory != 0 && floatFactory[op.Sig().Name]:
				bound[i] = t.DefaultDType
			}
		}
	}
	return t.dispatcher().Dispatch(op, bound)
}

// floatFactory operators make the default dtype when none is given.
var floatFactory = map[string]bool{"zeros": true, "ones": true, "empty": true, "rand": true, "randn": true, "eye": true, "linspace": true, "empty_strided": true}

func hasArg(ops []*aten.Op, name string) bool {
	for _, o := range ops {
		if o.Sig().Arg(name) >= 0 {
			return true
		}
	}
	return false
}

// keyword maps PyTorch's Python names of arguments to the schema's: input is self, axis is dim.
func (t *Torch) keyword(ops []*aten.Op, name string) string {
	if hasArg(ops, name) {
		return name
	}
	alias := map[string]string{"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x2": "other"}[name]
	if alias != "" && hasArg(ops, alias) {
		return alias
	}
	return name
}

// results gives several results the named tuple that PyTorch gives them: torch.return_types.max.
func (t *Torch) results(op *aten.Op, out aten.Value) vm.Object {
	l, ok := out.([]aten.Value)
	rets := op.Sig().Returns
	if !ok || len(rets) < 2 || rets[0].Name == "" || len(l) != len(rets) {
		return t.Object(out)
	}
	name := op.Sig().Name
	cls := t.returns[name]
	if cls == nil {
		fields := make([]string, len(rets))
		for i, r := range rets {
			fields[i] = r.Name
		}
		cls = t.returnType(name, fields)
		t.returns[name] = cls
	}
	tup := t.Object(out).(*vm.Tuple)
	return &vm.Instance{Class: cls, Native: tup}
}

func (t *Torch) returnType(name string, fields []string) *vm.Type {
	var gs []*vm.GetSet
	for i, f := range fields {
		gs = append(gs, getter(f, func(o vm.Object) vm.Object {
			tup, _ := vm.AsTuple(o)
			return tup.Items[i]
		}))
	}
	return t.In.NewNativeType(vm.Spec{Name: name, Module: "torch.return_types", Bases: []*vm.Type{vm.TupleType}, NoDict: true, GetSet: gs,
		Methods: map[string]vm.GoFunc{"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			tup, _ := vm.AsTuple(a[0])
			s := "torch.return_types." + name + "(\n"
			for i, x := range tup.Items {
				r, err := in.Repr(x)
				if err != nil {
					return nil, err
				}
				if i > 0 {
					s += ",\n"
				}
				s += fields[i] + "=" + r
			}
			return vm.Str(s + ")"), nil
		}}})
}

func (t *Torch) badArgument(name string, ops []*aten.Op, i int, a vm.Object) error {
	s := ops[0].Sig()
	arg, want := "input", "Tensor"
	if i < len(s.Args) {
		arg = s.Args[i].Name
		if arg == "self" {
			arg = "input"
		}
		want = s.Args[i].Type.Base
	}
	return t.In.Errorf(t.In.Exc.TypeError, "%s(): argument '%s' (position %d) must be %s, not %s", name, arg, i+1, pyType(want), a.Type().Name)
}

func pyType(s string) string {
	switch s {
	case "Scalar":
		return "Number"
	case "SymInt":
		return "int"
	}
	return s
}

// signatureError words a failed overload choice as PyTorch's Python argument parser does.
func (t *Torch) signatureError(name string, ops []*aten.Op, args []vm.Object, kw []vm.KwArg, err error) error {
	var ae *aten.Error
	if errors.As(err, &ae) && len(ops) == 1 {
		s := ops[0].Sig()
		if i := s.Arg(ae.Arg); i >= 0 && i < len(args) {
			arg := ae.Arg
			if arg == "self" {
				arg = "input"
			}
			return t.In.Errorf(t.In.Exc.TypeError, "%s(): argument '%s' (position %d) must be %s, not %s", name, arg, i+1, pyType(s.Args[i].Type.Base), args[i].Type().Name)
		}
	}
	var got []string
	for _, a := range args {
		got = append(got, a.Type().Name)
	}
	for _, k := range kw {
		got = append(got, k.Name+"="+k.Value.Type().Name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s() received an invalid combination of arguments - got (%s), but expected one of:", name, strings.Join(got, ", "))
	for _, o := range ops {
		var ps []string
		star := false
		for _, a := range o.Sig().Args {
			if a.KwOnly && !star {
				ps, star = append(ps, "*"), true
			}
			n := a.Name
			if n == "self" {
				n = "input"
			}
			ps = append(ps, pyType(a.Type.Base)+" "+n)
		}
		fmt.Fprintf(&b, "\n * (%s)", strings.Join(ps, ", "))
	}
	b.WriteString("\n")
	return t.In.Errorf(t.In.Exc.TypeError, "%s", b.String())
}

// spread packs x.view(2, 3) into x.view((2, 3)); self is args[0].
func spread(name string, args []vm.Object, skip int) []vm.Object {
	if !varargs[name] || len(args) < skip+1 {
		return args
	}
	for _, a := range args[skip:] {
		switch a.(type) {
		case vm.Int, vm.Bool, *Scalar:
		default:
			return args
		}
	}
	out := append([]vm.Object(nil), args[:skip]...)
	return append(out, vm.NewTuple(args[skip:]...))
}

// function is the torch function of an operator packet: torch.relu.
func (t *Torch) function(module, target, name string) *vm.Builtin {
	b := &vm.Builtin{Name: name, Module: module, Max: -1, Native: Target(target)}
	b.Fn = func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallFunction, target, args, kw, func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.Packet("aten", name, spread(name, args, 0), kw)
		})
	}
	return b
}

// Target marks a callable as a graph target of that qualified name.
type Target string

// method is the Tensor method of an operator packet.
func (t *Torch) method(name string) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallMethod, name, args, kw, func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.Packet("aten", name, spread(name, args, 1), kw)
		})
	}
}
