package torch

import (
	"fmt"
	"slices"
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
	return t.packet(ns, name, inner, args, kw)
}

// How an operator is called: by a name that Python binds, which is strict about types, or by the stack itself and by torch.ops, which are not.
type form uint8

const (
	inner    form = iota // an operator such as +, or the stack
	function             // torch.NAME
	method               // Tensor.NAME
	packet               // torch.ops.aten.NAME
)

func (t *Torch) packet(ns, name string, how form, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	shown := args
	switch how {
	case function, method:
		skip := 0
		if how == method {
			skip = 1
		}
		var err error
		if args, err = t.asList(name, args, skip); err != nil {
			return nil, err
		}
	}
	ops := t.Library.Packet(ns, name)
	if len(ops) == 0 {
		return nil, t.In.Errorf(t.In.Exc.NotImplementedError, "whittle has no operator %s::%s", ns, name)
	}
	vals := make([]aten.Value, len(args))
	for i, a := range args {
		v, ok := t.Value(a)
		if !ok {
			return nil, t.signatureError(name, how, shown, kw, fmt.Errorf("%s(): argument %d must not be %s", name, i+1, a.Type().Name))
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
		if k.Name == "names" && k.Value == vm.None && !hasArg(ops, "names") && hasArg(ops, "dtype") {
			continue // of a factory: without names
		}
		v, ok := t.Value(k.Value)
		if !ok {
			return nil, t.signatureError(name, how, shown, kw, fmt.Errorf("%s(): argument '%s' must not be %s", name, k.Name, k.Value.Type().Name))
		}
		if kws == nil {
			kws = map[string]aten.Value{}
		}
		kws[t.keyword(ops, k.Name)] = v
	}
	if _, ok := kws["out"]; ok && ns == "aten" && how != inner && how != packet && !takesOut(name, how == method) {
		return nil, t.signatureError(name, how, shown, kw, fmt.Errorf("%s() got an unexpected keyword argument 'out'", name))
	}
	if v, ok := kws["out"]; ok && v == nil && how == function {
		delete(kws, "out") // as if it were not there
	}
	outTuple(ops, kws)
	if ns == "aten" {
		form, fvals, fkws := aten.PythonForm(name, vals, kws)
		if vals, kws = fvals, fkws; form != name {
			ops = t.Library.Packet(ns, form)
		}
	}
	op, bound, err := aten.ResolveOverload(ops, vals, kws)
	if err != nil {
		return nil, t.signatureError(name, how, shown, kw, err)
	}
	if how == function || how == method {
		s := op.Sig()
		for i := range s.Args {
			a := &s.Args[i]
			var given vm.Object
			if i < len(args) {
				given = args[i]
			}
			if _, isBool := given.(vm.Bool); isBool && (a.Type.Base == "int" || a.Type.Base == "SymInt") && !a.Type.List {
				where := ""
				if !a.KwOnly {
					where = fmt.Sprintf(" (position %d)", i+1-min(1, int(how)-int(function)))
				}
				return nil, t.In.Errorf(t.In.Exc.TypeError, "%s(): argument '%s'%s must be int, not bool", name, a.Name, where)
			}
			if _, isT := bound[i].(*tensor.Tensor); a.Type.Base == "Tensor" && !a.Type.List && !isT && bound[i] != nil && !numbersForTensors[name] {
				if dd := unreadScalar(ops, vals, kws); dd != nil {
					return nil, dd
				}
				return nil, t.signatureError(name, how, shown, kw, fmt.Errorf("%s(): argument '%s' must be Tensor, not a number", name, a.Name))
			}
		}
	}
	if bound, err = t.byDefault(op, bound); err != nil {
		return nil, t.Error(err)
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

// byDefault converts integers that a pointwise operator would compute with as float32 to the default dtype, where that is another one: kernels promote
// numbers by themselves, and know no default of a program's.
func (t *Torch) byDefault(op *aten.Op, bound []aten.Value) ([]aten.Value, error) {
	if t.DefaultDType == tensor.Float32 || !op.Has(aten.Pointwise) || op.Has(aten.OutVariant) {
		return bound, nil
	}
	first := 0
	if op.Has(aten.Inplace) {
		first = 1 // whose dtype stays
	}
	integers := false
	for i, a := range bound {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil && a.DType.Kind() > tensor.KindInt {
				return bound, nil
			}
			integers = integers || a != nil && i >= first
		case tensor.DType, []aten.Value:
			return bound, nil
		}
	}
	if !integers {
		return bound, nil
	}
	v, err := aten.Fake.Dispatch(op, bound)
	r, ok := v.(*tensor.Tensor)
	if err != nil || !ok || r.DType.Kind() < tensor.KindFloat {
		return bound, nil // the call itself says what is wrong
	}
	to := t.DefaultDType
	if r.DType.Kind() == tensor.KindComplex && to == tensor.Float64 {
		to = tensor.Complex128
	} else if r.DType.Kind() == tensor.KindComplex {
		return bound, nil
	}
	bound = slices.Clone(bound)
	for i, a := range bound {
		if x, ok := a.(*tensor.Tensor); ok && x != nil {
			if bound[i], err = aten.CallKw(t.dispatcher(), "aten._to_copy", []aten.Value{x}, map[string]aten.Value{"dtype": to}); err != nil {
				return nil, err
			}
		}
	}
	return bound, nil
}

// unreadScalar is the error of a call whose tensors without dimensions would have to be read as numbers, and have no data; nil for other calls.
func unreadScalar(ops []*aten.Op, vals []aten.Value, kws map[string]aten.Value) error {
	some := false
	number := func(v aten.Value) aten.Value {
		if x, ok := v.(*tensor.Tensor); ok && x != nil && x.Fake && len(x.Shape) == 0 {
			some = true
			return int64(1)
		}
		return v
	}
	as, named := slices.Clone(vals), map[string]aten.Value{}
	for i := range as {
		if i > 0 {
			as[i] = number(as[i])
		}
	}
	for k, v := range kws {
		named[k] = number(v)
	}
	if !some {
		return nil
	}
	if op, _, err := aten.ResolveOverload(ops, as, named); err != nil || op == nil {
		return nil
	}
	return &DataDependent{Op: "aten._local_scalar_dense.default"}
}

// Run dispatches one bound call. Random operators without a generator use the default one.
func (t *Torch) Run(op *aten.Op, bound []aten.Value) (aten.Value, error) {
	random := op.Facts().Effect == aten.Random
	if random || op.Tags&(aten.Factory|aten.Composite) != 0 {
		s := op.Sig()
		for i := range s.Args {
			a := &s.Args[i]
			if bound[i] != nil {
				continue
			}
			switch {
			case a.Type.Base == "Generator" && random && t.Dispatch == t.Eagerly():
				bound[i] = t.Generator
			case a.Name == "dtype" && t.DefaultDType != tensor.Float32:
				if d := t.factoryDType(op, bound); d != tensor.Invalid {
					bound[i] = d
				}
			}
		}
	}
	return t.dispatcher().Dispatch(op, bound)
}

// floatFactory operators make the default dtype when none is given, numberFactory operators that of the numbers that they are given.
var floatFactory = map[string]bool{"zeros": true, "ones": true, "empty": true, "rand": true, "randn": true, "eye": true, "linspace": true, "empty_strided": true, "logspace": true, "range": true,
	"hann_window": true, "hamming_window": true, "blackman_window": true, "bartlett_window": true, "kaiser_window": true, "fft_fftfreq": true, "fft_rfftfreq": true, "scalar_tensor": true}
var numberFactory = map[string]bool{"full": true, "arange": true}

// factoryDType is the dtype that an operator without tensors makes when none is given, Invalid where its kernel knows.
func (t *Torch) factoryDType(op *aten.Op, bound []aten.Value) tensor.DType {
	name := op.Sig().Name
	if slices.ContainsFunc(bound, func(v aten.Value) bool { _, ok := v.(*tensor.Tensor); return ok }) {
		return tensor.Invalid
	}
	d := tensor.Invalid
	switch {
	case floatFactory[name], name == "normal" && op.Sig().Overload == "float_float":
		d = t.DefaultDType
	case numberFactory[name] && slices.ContainsFunc(bound, func(v aten.Value) bool { _, ok := v.(float64); return ok }):
		d = t.DefaultDType
	}
	if slices.ContainsFunc(bound, func(v aten.Value) bool { _, ok := v.(complex128); return ok }) && (d != tensor.Invalid || numberFactory[name]) {
		if d = tensor.Complex64; t.DefaultDType == tensor.Float64 {
			d = tensor.Complex128
		}
	}
	return d
}

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
	tup := t.Object(out).(*vm.Tuple)
	return &vm.Instance{Class: t.returnClass(name, rets), Native: tup}
}

// returnClass is the class of the results of an operator, whose names are those of rets.
func (t *Torch) returnClass(name string, rets []aten.Ret) *vm.Type {
	cls := t.returns[name]
	if cls == nil {
		fields := make([]string, len(rets))
		for i, r := range rets {
			fields[i] = r.Name
		}
		cls = t.returnType(name, fields)
		t.returns[name] = cls
	}
	return cls
}

func (t *Torch) returnType(name string, fields []string) *vm.Type {
	var gs []*vm.GetSet
	for i, f := range fields {
		gs = append(gs, getter(f, func(o vm.Object) vm.Object {
			tup, _ := vm.AsTuple(o)
			return tup.Items[i]
		}))
	}
	cls := t.In.NewNativeType(vm.Spec{Name: name, Module: "torch.return_types", Bases: []*vm.Type{vm.TupleType}, NoDict: true, GetSet: gs,
		New: func(in *vm.Interp, cls *vm.Type, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(a) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "structseq() missing required argument 'sequence' (pos 1)")
			}
			items, err := in.IterAll(a[0])
			if err != nil {
				return nil, in.Errorf(in.Exc.TypeError, "constructor requires a sequence")
			}
			if len(items) != len(fields) {
				return nil, in.Errorf(in.Exc.TypeError, "torch.return_types.%s() takes a %d-sequence (%d-sequence given)", name, len(fields), len(items))
			}
			return &vm.Instance{Class: cls, Native: vm.NewTuple(items...)}, nil
		},
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
	n := vm.MakeInt(int64(len(fields)))
	for _, a := range []string{"n_fields", "n_sequence_fields"} {
		cls.Dict.SetStr(a, n)
	}
	cls.Dict.SetStr("n_unnamed_fields", vm.MakeInt(0))
	return cls
}

// takesOut says whether a function takes out= in Python; one without signatures does.
func takesOut(name string, method bool) bool {
	sigs := aten.Signatures(name, method)
	return len(sigs) == 0 || slices.ContainsFunc(sigs, func(s aten.Signature) bool {
		return slices.ContainsFunc(s.Params, func(p aten.Param) bool { return p.Outs > 0 })
	})
}

// outTuple gives the tensors of out=(values, indices) to the arguments of the overload that takes as many.
func outTuple(ops []*aten.Op, kws map[string]aten.Value) {
	l, ok := kws["out"].([]aten.Value)
	if !ok || len(l) < 2 {
		return
	}
	for _, o := range ops {
		var names []string
		for _, a := range o.Sig().Args {
			if a.Write() && a.KwOnly {
				names = append(names, a.Name)
			}
		}
		if len(names) != len(l) {
			continue
		}
		delete(kws, "out")
		for i, n := range names {
			kws[n] = l[i]
		}
		return
	}
}

// signatureError words a call that fits no overload, of which err is the reason.
func (t *Torch) signatureError(name string, how form, args []vm.Object, kw []vm.KwArg, err error) error {
	if how == packet {
		return t.Error(err)
	}
	c := pythonCall{t: t, name: name, method: how == method, args: args, kw: slices.Clone(kw)}
	if how == method {
		c.self, c.args = args[0], args[1:]
	}
	c.numpyNames()
	if e := c.argumentError(); e != nil {
		return e
	}
	return t.In.Errorf(t.In.Exc.TypeError, "%s", err)
}

// asList packs x.view(2, 3) into x.view((2, 3)); self is args[0].
func (t *Torch) asList(name string, args []vm.Object, skip int) ([]vm.Object, error) {
	if len(args) < skip+1 {
		return args, nil
	}
	switch a := args[skip].(type) { // what most calls have
	case *Tensor:
		if !wholeTensor(a) {
			return args, nil
		}
	case *vm.Tuple, *vm.List:
		return args, nil
	}
	if !varargs[name] {
		return args, nil
	}
	for _, a := range args[skip:] {
		switch a := a.(type) {
		case vm.Int, vm.Bool, *Scalar:
		case *Tensor:
			if !wholeTensor(a) {
				return args, nil
			}
		default:
			if a.Type().Lookup("__index__") == nil || !isScalar(a) {
				return args, nil
			}
		}
	}
	list := slices.Clone(args[skip:])
	for i, a := range list {
		p, ok := a.(*Tensor)
		if !ok {
			continue
		}
		var err error
		if list[i], err = t.item(p.T); err != nil {
			return nil, err
		}
	}
	return append(slices.Clone(args[:skip]), vm.NewTuple(list...)), nil
}

// wholeTensor reports whether p is taken where a size is: a whole number, in however many dimensions.
func wholeTensor(p *Tensor) bool { return p.T.DType.IsInt() && p.T.Numel() == 1 }

// function is the torch function of an operator packet: torch.relu.
func (t *Torch) function(module, target, name string) *vm.Builtin {
	b := &vm.Builtin{Name: name, Module: module, Max: -1, Native: Target(target)}
	run := func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.packet("aten", name, function, args, kw)
	}
	b.Fresh, b.Fn = true, t.making(func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallFunction, target, args, kw, run)
	})
	return b
}

// Target marks a callable as a graph target of that qualified name.
type Target string

// method is the Tensor method of an operator packet.
func (t *Torch) method(name string) vm.GoFunc {
	run := func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.packet("aten", name, method, args, kw)
	}
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallMethod, name, args, kw, run)
	}
}

// methodAt is a method of an operator whose tensor is argument number at, as that of polygamma(n, self) is.
func (t *Torch) methodAt(name string, at int) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallMethod, name, args, kw, func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			self, rest := args[0], args[1:]
			if len(rest) < at {
				return t.Packet("aten", name, rest, append(slices.Clone(kw), vm.KwArg{Name: "self", Value: self}))
			}
			return t.Packet("aten", name, slices.Insert(slices.Clone(rest), at, self), kw)
		})
	}
}

// Called is the operator that a call of torch.ops runs, by the call's target; nil for calls of other things. The error is what PyTorch says of arguments
// that no overload takes.
func (t *Torch) Called(target string, args []vm.Object, kw []vm.KwArg) (*aten.Op, error) {
	if fx.IsOverload(target) {
		return t.Library.Lookup(target), nil
	}
	path, ok := strings.CutPrefix(target, "torch.ops.")
	ns, name, whole := strings.Cut(path, ".")
	if !ok || !whole || strings.Contains(name, ".") {
		return nil, nil
	}
	ops := t.Library.Packet(ns, name)
	if len(ops) < 2 {
		if len(ops) == 0 {
			return nil, nil
		}
		return ops[0], nil
	}
	vals, kws := make([]aten.Value, len(args)), map[string]aten.Value{}
	for i, a := range args {
		vals[i], _ = t.Value(a)
	}
	for _, k := range kw {
		kws[t.keyword(ops, k.Name)], _ = t.Value(k.Value)
	}
	op, _, err := aten.ResolveOverload(ops, vals, kws)
	if err != nil {
		return nil, t.signatureError(name, packet, args, kw, err)
	}
	return op, nil
}

// Compliant reports whether an operator has the tag pt2_compliant_tag.
func (t *Torch) Compliant(op *aten.Op) (bool, error) {
	if op.Library == nil {
		return slices.Contains(op.PublicTags(), "pt2_compliant_tag") || op.Sig().Namespace != "aten", nil
	}
	tags, err := t.tags(op)
	if err != nil {
		return false, err
	}
	m, err := t.In.Import("torch._tag")
	if err != nil {
		return false, err
	}
	cls, err := t.In.GetAttr(m, "Tag")
	if err != nil {
		return false, err
	}
	tag, err := t.In.GetAttr(cls, "pt2_compliant_tag")
	if err != nil {
		return false, err
	}
	return t.In.Contains(tags, tag)
}
