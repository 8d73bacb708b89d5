package capture

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/numpy"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// Arrays of numpy are tensors to a trace. One that comes in is seen as its face: an object of class ndarray over a tensor, which has the
// array's source and becomes an input of the graph as tensors do. Calls of numpy on faces become calls of torch._numpy on their tensors, and
// what those give gets a face in turn. Compiled code makes tensors of the arrays at its entry, and arrays of the tensors at its exit.
//
// PyTorch has NumpyNdarrayVariable in _dynamo/variables/tensor.py, and NumpyVariable in misc.py.

// numpyFunctions are the functions of numpy that a trace knows.
type numpyFunctions struct {
	known   map[vm.Object]numpyFunction
	unknown map[vm.Object]bool // functions of the modules that are traced for which torch._numpy has none
}

// numpyFunction is what stands in graphs for a function of numpy.
type numpyFunction struct {
	f    vm.Object // of torch._numpy
	path string    // the way to it
	name string    // its __name__
}

// functionsOfNumpy lists them; nil as long as no program has imported numpy.
func (d *Dynamo) functionsOfNumpy() (*numpyFunctions, error) {
	if d.numpy != nil || numpy.Loaded(d.In) == nil {
		return d.numpy, nil
	}
	defer d.T.Push(torch.Unwatched)()
	utils, err := d.In.Import("torch._dynamo.utils")
	if err != nil {
		return nil, err
	}
	v, err := d.In.CallMethod(utils, "_numpy_functions")
	if err != nil {
		return nil, err
	}
	lists, err := d.In.IterAll(v)
	if err != nil {
		return nil, err
	}
	fs := &numpyFunctions{known: map[vm.Object]numpyFunction{}, unknown: map[vm.Object]bool{}}
	rows, err := d.In.IterAll(lists[0])
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		t, _ := vm.AsTuple(r)
		name, err := d.In.GetAttr(t.Items[1], "__name__")
		if err != nil {
			return nil, err
		}
		path, _ := vm.AsStr(t.Items[2])
		if own, err := d.In.GetAttr(t.Items[0], "__name__"); err == nil { // one object under several names goes by its own
			if n, _ := vm.AsStr(own); fs.known[t.Items[0]].f != nil && !strings.HasSuffix(path, "."+n) {
				continue
			}
		}
		n, _ := vm.AsStr(name)
		fs.known[t.Items[0]] = numpyFunction{t.Items[1], path, n}
	}
	rows, err = d.In.IterAll(lists[1])
	if err != nil {
		return nil, err
	}
	for _, f := range rows {
		fs.unknown[f] = true
	}
	d.numpy = fs
	return fs, nil
}

// face is the face of an array or a scalar of numpy that came in; nil for what is none, or where traces leave numpy alone.
func (wo *world) face(o vm.Object, src source.Source) *torch.Tensor {
	switch o.(type) {
	case *numpy.Array, *vm.Instance:
	default:
		return nil
	}
	key := faceKey{o, ""}
	if src != nil {
		key.src = src.Name()
	}
	if p := wo.faces[key]; p != nil {
		return p
	}
	if !wo.tracesNumpy || !wo.t.IsArray(o) {
		return nil
	}
	q, err := wo.t.FromArray(o)
	if err != nil {
		return nil
	}
	if a, ok := o.(*numpy.Array); ok {
		a.A.ReadOnly = false // as PyTorch leaves it; the trace has a copy
	}
	p := wo.t.Face(q.(*torch.Tensor).T)
	wo.faces[key] = p
	if src == nil {
		return p
	}
	wo.sources[p] = source.Numpy{Base: src, Of: wo.t}
	wo.order = append(wo.order, p)
	if k := source.Identity(o); k != nil && wo.sources[k] == nil {
		wo.sources[k] = src
	}
	return p
}

// faceKey tells faces apart: one array that comes in by two ways is two inputs.
type faceKey struct {
	o   vm.Object
	src string
}

// facesIn are values with faces in the place of the arrays among them, inside of lists and tuples too; any says that there are faces.
func (tr *tracer) facesIn(values []vm.Object) (out []vm.Object, any bool, err error) {
	out = slices.Clone(values)
	for i, v := range values {
		var in bool
		if out[i], in, err = tr.faceIn(v); err != nil {
			return nil, false, err
		}
		any = any || in
	}
	return out, any, nil
}

// faceIn is facesIn for one value.
func (tr *tracer) faceIn(v vm.Object) (vm.Object, bool, error) {
	switch c := v.(type) {
	case *torch.Tensor:
		return v, tr.t.IsFace(c), nil
	case *numpy.Array:
		p := tr.world.face(c, tr.world.sourceOf(c))
		if p == nil {
			_, err := tr.t.FromArray(c)
			return nil, false, tr.unconverted(c, err)
		}
		return p, true, nil
	case *vm.Instance:
		if p := tr.world.face(c, tr.world.sourceOf(c)); p != nil {
			return p, true, nil
		}
	case *vm.List:
		tr.world.seeItems(c)
		items, any, err := tr.facesIn(c.Items)
		if any {
			return vm.NewList(items...), true, err
		}
		return v, false, err
	case *vm.Tuple:
		tr.world.seeItems(c)
		items, any, err := tr.facesIn(c.Items)
		if any {
			return vm.NewTuple(items...), true, err
		}
		return v, false, err
	}
	return v, false, nil
}

// unconverted is the break at an array that no tensor can stand for.
func (tr *tracer) unconverted(o vm.Object, err error) error {
	why := "arrays of this class are not supported"
	var r *vm.Raised
	if errors.As(err, &r) {
		why, _ = tr.in.Str(r.Exc)
	}
	text, serr := tr.in.Str(o)
	if serr != nil {
		return serr
	}
	return unsupported(breaks.NumpyConversion, fmt.Sprintf("failed to convert %s to ndarray. \nInternal error is: %s.", text, why))
}

// arrayOperators are the operators of Python that arrays have, by their methods without underscores.
var arrayOperators = map[string]string{"add": "add", "sub": "sub", "mul": "mul", "truediv": "truediv", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
	"matmul": "matmul", "and": "and_", "or": "or_", "xor": "xor", "lshift": "lshift", "rshift": "rshift",
	"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne", "neg": "neg", "pos": "pos", "invert": "invert", "getitem": "getitem"}

// arrayOperator finds the operator that a method of arrays is. A reflected one has its operands the other way round.
func arrayOperator(method string) (op string, reflected bool) {
	name, ok := strings.CutPrefix(method, "__")
	if !ok {
		return "", false
	}
	name = strings.TrimSuffix(name, "__")
	if op := arrayOperators[name]; op != "" || name == "" {
		return op, false
	}
	if op := arrayOperators[name[1:]]; op != "" && name[0] == 'r' {
		return op, true
	} else if op != "" && name[0] == 'i' {
		return "i" + strings.TrimSuffix(op, "_"), false
	}
	return "", false
}

// arrayUse is told of everything that is wanted of an array or a scalar of numpy, by traced code or by native code that it calls.
func (tr *tracer) arrayUse(u vm.ArrayUse) (vm.Object, bool, error) {
	if tr.depth > 0 || tr.d.active != tr || tr.d.outer != nil || tr.ended {
		return nil, false, nil
	}
	if !tr.world.tracesNumpy {
		if a, ok := u.Args[0].(*numpy.Array); ok && tr.world.sourceOf(a) != nil {
			return nil, false, tr.journal.located(unsupported(breaks.NativeMethod, "ndarray", u.Name))
		}
		return nil, false, nil
	}
	args, any, err := tr.facesIn(u.Args)
	if err != nil || !any {
		return nil, false, tr.journal.located(err)
	}
	var v vm.Object
	p, isFace := args[0].(*torch.Tensor)
	switch {
	case !isFace || !tr.t.IsFace(p): // a scalar that the trace knows, beside an array
		v, err = tr.arrayMethod(u.Name, args, u.Kw)
	case u.Attr && u.Set:
		err = unsupported(breaks.TensorAttribute)
	case u.Attr:
		v, err = tr.arrayAttr(p, u.Name)
	default:
		v, err = tr.arrayMethod(u.Name, args, u.Kw)
	}
	return v, true, tr.journal.located(err)
}

// arrayMethod calls a method of an array, which may be an operator.
func (tr *tracer) arrayMethod(name string, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	switch name {
	case "__len__":
		sizes := tr.sizesOf(args[0].(*torch.Tensor))
		if len(sizes) == 0 {
			return nil, tr.in.Errorf(tr.in.Exc.TypeError, "len() of unsized object")
		}
		return sizes[0], nil
	case "tolist":
		return tr.arrayList(args[0].(*torch.Tensor))
	case "__iter__":
		rows, err := tr.unpackTensor(args[0])
		if err != nil {
			return nil, err
		}
		if rows == nil {
			return nil, tr.in.Errorf(tr.in.Exc.TypeError, "iteration over a 0-d array")
		}
		return tr.in.Iter(rows)
	case "__bool__", "__str__", "__repr__", "__format__", "__divmod__", "__rdivmod__":
		b := strings.Trim(name, "_")
		if b == "rdivmod" {
			b, args = "divmod", []vm.Object{args[1], args[0]}
		}
		return nil, tr.refusedBuiltin(b, args, nil)
	case "__float__", "__int__", "__index__", "__complex__":
		return nil, unsupported(breaks.DataDependentOperator, readsNumber)
	case "tostring", "tobytes":
		return nil, unsupported(breaks.ArrayMethod, name)
	case "clip":
		kw = renamedBounds(kw)
	}
	op, reflected := arrayOperator(name)
	if op == "" {
		if name == "__array_ufunc__" {
			return tr.calledByNative(args, kw)
		}
		if strings.HasPrefix(name, "__array") || strings.HasPrefix(name, "__copy") || strings.HasPrefix(name, "__reduce") || strings.HasPrefix(name, "__deepcopy") {
			return nil, unsupported(breaks.NativeMethod, "ndarray", name)
		}
		return tr.numpyCall("wrapped_"+name, torch.ArrayWrapper("numpy_method_wrapper", "'"+name+"'"), args, kw)
	}
	if reflected {
		args = []vm.Object{args[1], args[0]}
	}
	for _, a := range args {
		if p, ok := a.(*torch.Tensor); ok && !tr.t.IsFace(p) && op != "getitem" { // with a tensor it is the tensor's operator
			return tr.tensorOperator(op, args)
		}
	}
	return tr.numpyCall("wrapped_"+op, torch.ArrayWrapper("numpy_operator_wrapper", "operator."+op), args, kw)
}

// calledByNative is a call of a ufunc by native code, as by map, which asks the array: __array_ufunc__(ufunc, "__call__", *inputs).
func (tr *tracer) calledByNative(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if len(args) > 3 {
		if m, _ := vm.AsStr(args[2]); m == "__call__" {
			if v, done, err := tr.numpyFunctionCall(args[1], args[3:], kw); done || err != nil {
				return v, err
			}
		}
	}
	return nil, unsupported(breaks.NumpyMethod)
}

// tensorOperator is an operator of Python in a graph.
func (tr *tracer) tensorOperator(op string, args []vm.Object) (vm.Object, error) {
	f, err := tr.t.Resolve("operator." + op)
	if err != nil {
		return nil, err
	}
	return tr.record(&torch.Call{Op: fx.CallFunction, Target: "operator." + op, Args: args, Run: func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return tr.in.Call(f, a, kw)
	}})
}

// arrayList is a.tolist(): lists of the numbers, which PyTorch gives only where they come from outside and are looked at by nothing.
func (tr *tracer) arrayList(p *torch.Tensor) (vm.Object, error) {
	plain := tr.t.Wrap(p.T)
	if f := tr.standIns.fakes[p.T]; f != nil {
		plain = tr.t.Wrap(f)
	}
	return tr.in.CallMethod(plain, "tolist")
}

// arrayAttr reads an attribute of an array.
func (tr *tracer) arrayAttr(p *torch.Tensor, name string) (vm.Object, error) {
	switch name {
	case "T", "real", "imag":
		return tr.numpyCall("numpy_attr_wrapper", "torch._dynamo.utils.numpy_attr_wrapper", []vm.Object{p, vm.Str(name)}, nil)
	case "ndim":
		return vm.MakeInt(int64(len(p.T.Shape))), nil
	case "itemsize":
		return vm.MakeInt(int64(p.T.DType.Size())), nil
	case "shape":
		return vm.NewTuple(tr.sizesOf(p)...), tr.standIns.useValue(p)
	case "size":
		return tr.in.CallMethod(tr.stand(p), "numel")
	case "strides", "nbytes":
		sizes := tr.sizesOf(p)
		for _, s := range sizes {
			if _, fixed := s.(vm.Int); !fixed {
				return nil, unsupported(breaks.ArrayAttribute, name)
			}
		}
		if name == "nbytes" {
			return vm.MakeInt(p.T.Numel() * int64(p.T.DType.Size())), nil
		}
		steps := make([]vm.Object, len(p.T.Stride))
		for i, s := range p.T.Stride {
			steps[i] = vm.MakeInt(s * int64(p.T.DType.Size()))
		}
		return vm.NewTuple(steps...), nil
	}
	return nil, unsupported(breaks.ArrayAttribute, name)
}

// stand is the tensor that a face stands for in this trace.
func (tr *tracer) stand(p *torch.Tensor) vm.Object {
	if f, err := tr.standIns.fake(p); err == nil {
		return tr.t.Wrap(f)
	}
	return tr.t.Wrap(p.T)
}

// sizesOf are the sizes of an array: numbers, or symbols.
func (tr *tracer) sizesOf(p *torch.Tensor) []vm.Object {
	f, err := tr.standIns.fake(p)
	if err == nil {
		if s := tr.standIns.sizesOf(f, false); s != nil {
			return s
		}
	}
	out := make([]vm.Object, len(p.T.Shape))
	for i, n := range p.T.Shape {
		out[i] = vm.MakeInt(n)
	}
	return out
}

// renamedBounds are the keyword arguments of clip by the names that torch._numpy has for them.
func renamedBounds(kw []vm.KwArg) []vm.KwArg {
	kw = slices.Clone(kw)
	for i := range kw {
		kw[i].Name = strings.TrimPrefix(kw[i].Name, "a_")
	}
	return kw
}

// numpyFunctionCall is a call of a function of numpy by traced code; done is false for other callables.
func (tr *tracer) numpyFunctionCall(callable vm.Object, args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	fs, err := tr.d.functionsOfNumpy()
	if fs == nil || err != nil || tr.quiet() {
		return nil, false, err
	}
	f, known := fs.known[callable]
	switch {
	case !known && !fs.unknown[callable]:
		return nil, false, tr.ufuncMethod(callable)
	case !tr.world.tracesNumpy:
		return nil, false, unsupported(breaks.NumpyOff, tr.repr(callable))
	case !known:
		return nil, false, unsupported(breaks.NumpyFunction, tr.repr(callable))
	}
	args, _, err = tr.facesIn(args)
	if err != nil {
		return nil, false, err
	}
	kw = slices.Clone(kw)
	for i := range kw {
		if kw[i].Value, _, err = tr.faceIn(kw[i].Value); err != nil {
			return nil, false, err
		}
	}
	switch f.name {
	case "dtype", "finfo", "iinfo":
		for _, a := range args {
			if _, isTensor := a.(*torch.Tensor); isTensor {
				return nil, false, unsupported(breaks.ArrayAttribute, "dtype")
			}
		}
		v, err = tr.outside(func() (vm.Object, error) { return tr.in.Call(callable, args, kw) })
		return v, true, err
	case "issubdtype":
		v, err = tr.outside(func() (vm.Object, error) { return tr.in.Call(callable, args, kw) })
		return v, true, err
	case "clip":
		kw = renamedBounds(kw)
	}
	if strings.HasPrefix(f.path, "torch._numpy.random.") {
		if on, err := tr.d.configBool("use_numpy_random_stream"); err != nil || on {
			if err != nil {
				return nil, false, err
			}
			return nil, false, unsupported(breaks.NumpyStream, f.name)
		}
	}
	v, err = tr.numpyCall("wrapped_"+f.name, torch.ArrayWrapper("numpy_to_tensor_wrapper", f.path), args, kw)
	return v, true, err
}

// ufuncMethod is the break at a method of a ufunc: add.reduce.
func (tr *tracer) ufuncMethod(callable vm.Object) error {
	var self vm.Object
	switch m := callable.(type) {
	case *vm.Builtin:
		self = m.Self
	case *vm.BoundMethod:
		self = m.Self
	}
	if np := numpy.Loaded(tr.in); self == nil || np == nil || self.Type() != np.UfuncType {
		return nil
	}
	return unsupported(breaks.NumpyMethod)
}

// numpyCall makes a node of a call of torch._numpy. What it gives are faces.
func (tr *tracer) numpyCall(name, target string, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	args = slices.Clone(args)
	for i := range args {
		args[i] = tr.numpyArgument(args[i])
	}
	kw = slices.Clone(kw)
	for i := range kw {
		kw[i].Value = tr.numpyArgument(kw[i].Value)
	}
	v, err := tr.record(&torch.Call{Op: fx.CallFunction, Target: target, Stem: name, Args: args, Kw: kw, Run: func(a []vm.Object, k []vm.KwArg) (vm.Object, error) {
		f, err := tr.t.Resolve(target)
		if err != nil {
			return nil, err
		}
		v, err := tr.in.Call(f, a, k)
		if err == nil {
			err = tr.refusedResult(target, v)
		}
		return v, err
	}})
	if err != nil {
		return nil, err
	}
	return tr.withFaces(v), nil
}

// numpyArgument is an argument of a call of numpy as graphs have it: types by name, and numbers that the trace knows as Python's.
func (tr *tracer) numpyArgument(o vm.Object) vm.Object {
	np := numpy.Loaded(tr.in)
	switch v := o.(type) {
	case *vm.Type:
		for c, name := range map[*vm.Type]string{vm.FloatType: "torch.float64", vm.IntType: "torch.int64", vm.BoolType: "torch.bool", vm.ComplexType: "torch.complex128"} {
			if v == c {
				if d, err := tr.t.Resolve(name); err == nil {
					return d
				}
			}
		}
		if np != nil && np.IsScalarType(v) {
			return vm.Str(v.Name)
		}
	case *vm.Instance:
		if np != nil {
			if x, _, ok := np.ScalarOf(v); ok {
				return np.Python(x)
			}
		}
	default:
		if np != nil && o.Type().IsSubtype(np.DTypeType) {
			if t, err := tr.in.GetAttr(o, "type"); err == nil {
				if c, ok := t.(*vm.Type); ok {
					return vm.Str(c.Name)
				}
			}
		}
	}
	return o
}

// refusedResult is the break at a result that no graph gives back.
func (tr *tracer) refusedResult(target string, v vm.Object) error {
	switch r := v.(type) {
	case nil, *torch.Tensor, *vm.NoneType, *torch.Scalar:
		return nil
	case *vm.Tuple:
		return nil
	case *vm.List:
		return nil
	case *vm.Instance:
		if _, ok := vm.AsTuple(r); ok {
			return nil
		}
	}
	kind, name := wrappedParts(target)
	return unsupported(breaks.NonTensorWrapped, v.Type().Name, kind, name)
}

// wrappedParts are the kind of a wrapper and the name of what it wraps, as its repr says them.
func wrappedParts(target string) (kind, name string) {
	class, wrapped, _ := strings.Cut(target, "(")
	name = strings.Trim(strings.TrimSuffix(wrapped, ")"), "'")
	name = name[strings.LastIndex(name, ".")+1:]
	switch {
	case strings.HasSuffix(class, "numpy_method_wrapper"):
		return "method", name
	case strings.HasSuffix(class, "numpy_operator_wrapper"):
		return "operator", "wrapped_" + name
	}
	return "function", name
}

// wrappedRepr is how Python shows the function of a node that calls torch._numpy; "" for other targets.
func wrappedRepr(target string) string {
	if !strings.HasPrefix(target, "torch._dynamo.utils.numpy_") || !strings.Contains(target, "(") {
		return ""
	}
	kind, name := wrappedParts(target)
	return fmt.Sprintf("<Wrapped %s <original %s>>", kind, name)
}

// withFaces is a result with faces in the place of its tensors.
func (tr *tracer) withFaces(v vm.Object) vm.Object {
	each := func(items []vm.Object) []vm.Object {
		out := make([]vm.Object, len(items))
		for i, x := range items {
			out[i] = tr.withFaces(x)
		}
		return out
	}
	switch r := v.(type) {
	case *torch.Tensor:
		return tr.t.Face(r.T)
	case *vm.Tuple:
		return vm.NewTuple(each(r.Items)...)
	case *vm.List:
		return vm.NewList(each(r.Items)...)
	case *vm.Instance:
		if t, ok := vm.AsTuple(r); ok {
			return &vm.Instance{Class: r.Class, Native: vm.NewTuple(each(t.Items)...)}
		}
	}
	return v
}

// ofArrays does the calls of torch that make an array of a tensor, or a tensor of an array; of others it gives the arrays among the
// arguments their faces.
func (tr *tracer) ofArrays(c *torch.Call) (v vm.Object, done bool, err error) {
	if numpy.Loaded(tr.in) != nil && (tr.world.tracesNumpy || c.Target == "torch.from_numpy") {
		if c.Args, _, err = tr.facesIn(c.Args); err != nil {
			return nil, false, err
		}
		for i := range c.Kw {
			if v, any, err := tr.faceIn(c.Kw[i].Value); err != nil {
				return nil, false, err
			} else if any {
				c.Kw = slices.Clone(c.Kw)
				c.Kw[i].Value = v
			}
		}
	}
	switch {
	case c.Op == fx.CallMethod && c.Target == "numpy":
		v, err = tr.tensorToArray(c)
		return v, true, err
	case c.Op == fx.CallFunction && c.Target == "torch.from_numpy":
		if !tr.world.tracesNumpy {
			return nil, false, unsupported(breaks.FromNumpyOff)
		}
		if len(c.Args) == 1 && tr.t.IsFace(c.Args[0]) {
			v, err = tr.inTorch("as_tensor", c.Args[0])
			return v, true, err
		}
	}
	return nil, false, nil
}

// tensorToArray is Tensor.numpy in a trace: the tensor by another name, so that the graph has a node for it.
func (tr *tracer) tensorToArray(c *torch.Call) (vm.Object, error) {
	if !tr.world.tracesNumpy {
		return nil, unsupported(breaks.TensorNumpyOff)
	}
	p, ok := c.Args[0].(*torch.Tensor)
	if !ok {
		return nil, unsupported(breaks.TensorNumpy)
	}
	force := false
	for _, k := range c.Kw {
		if k.Name == "force" {
			var err error
			if force, err = tr.in.Truth(k.Value); err != nil {
				return nil, err
			}
		}
	}
	if _, err := numpy.Of(tr.in); err != nil {
		return nil, err
	}
	var v vm.Object = p
	var err error
	if force {
		if v, err = tr.in.CallMethod(v, "detach"); err == nil {
			v, err = tr.in.CallMethod(v, "cpu")
		}
	} else {
		v, err = tr.in.CallMethod(v, "view_as", v)
	}
	if err != nil {
		return nil, err
	}
	return tr.withFaces(v), nil
}

// boundOfArrays is max or min of an array and another value: numpy's clip where that is a number, else maximum or minimum.
func (tr *tracer) boundOfArrays(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	if f.Module != "builtins" || f.Name != "max" && f.Name != "min" || len(args) != 2 || len(kw) > 0 || numpy.Loaded(tr.in) == nil {
		return nil, false, nil
	}
	args, any, err := tr.facesIn(args)
	if err != nil || !any || !tr.world.tracesNumpy {
		return nil, false, err
	}
	a, b := args[0], args[1]
	if !tr.t.IsFace(a) {
		a, b = b, a
	}
	if _, isTensor := b.(*torch.Tensor); isTensor {
		name := map[string]string{"max": "maximum", "min": "minimum"}[f.Name]
		v, err = tr.numpyCall("wrapped_"+name, torch.ArrayWrapper("numpy_to_tensor_wrapper", "torch._numpy."+name), []vm.Object{a, b}, nil)
		return v, true, err
	}
	bound := map[string]string{"max": "min", "min": "max"}[f.Name]
	v, err = tr.numpyCall("wrapped_clip", torch.ArrayWrapper("numpy_to_tensor_wrapper", "torch._numpy.clip"), []vm.Object{a}, []vm.KwArg{{Name: bound, Value: b}})
	return v, true, err
}
