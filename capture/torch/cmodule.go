package torch

import (
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// buildC makes torch._C: the native half of the package.
func (t *Torch) buildC(in *vm.Interp) (*vm.Module, error) {
	t.basicTypes()
	t.tensorType()
	t.c = in.NewModule("torch._C", "")
	t.graphTypes()
	t.nn = in.NewModule("torch._C._nn", "")
	in.Modules.SetStr("torch._C._nn", t.nn)
	t.nn.GetAttrHook = t.lazyFunctions(t.nn, "torch._C._nn", "torch._C._nn.")
	t.nn.Func("_parse_to", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		dev, d, _, mf, err := t.parseTo(args, kw)
		if err != nil {
			return nil, err
		}
		out := []vm.Object{vm.None, vm.None, vm.False, vm.None}
		if dev != nil {
			out[0] = dev
		}
		if d != nil {
			out[1] = t.DTypeObject(*d)
		}
		if mf != nil {
			out[3] = mf
		}
		return vm.NewTuple(out...), nil
	})
	// The operators of torch.fft and its like live in modules of their own, which are also what graphs name.
	for _, n := range []string{"_VariableFunctions", "_fft", "_linalg", "_special"} {
		m := in.NewModule("torch._C."+n, "")
		in.Modules.SetStr("torch._C."+n, m)
		prefix := "torch._C." + n + "."
		if n == "_VariableFunctions" {
			prefix = "torch."
		}
		m.GetAttrHook = t.lazyFunctions(m, "torch._C."+n, prefix)
		t.c.Set(n, m)
	}
	t.c.Func("_function_names", func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		prefix, _ := vm.AsStr(args[0])
		return functionNames(prefix), nil
	})
	c := t.c
	autograd := in.NewModule("torch._C._autograd", "")
	in.Modules.SetStr("torch._C._autograd", autograd)
	data := autograd.Func("_get_data_attr", func(_ *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallFunction, "torch._C._autograd._get_data_attr", args, kw, t.dataOf)
	})
	data.Native = Target("torch._C._autograd._get_data_attr")
	for name, v := range map[string]vm.Object{"_nn": t.nn, "_autograd": autograd, "TensorBase": t.TensorType, "Tensor": t.TensorType, "Size": t.SizeType, "dtype": t.DTypeType,
		"device": t.DeviceType, "SymInt": t.SymIntType, "strided": t.layout, "sparse_coo": &Layout{"sparse_coo", t.layout.class}, "sparse_csr": &Layout{"sparse_csr", t.layout.class}, "layout": t.layout.class, "memory_format": t.formats[tensor.ContiguousFormat].class,
		"_GraphModuleBase": t.GraphModuleType, "_Graph": t.GraphType, "_Node": t.NodeType} {
		c.Set(name, v)
	}
	for f, o := range t.formats {
		c.Set(string(f), o)
	}
	c.Set("legacy_contiguous_format", t.formats[tensor.ContiguousFormat])
	for _, n := range []string{"float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128",
		"uint16", "uint32", "uint64", "complex32", "chalf", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
		"float", "double", "half", "long", "int", "short", "cfloat", "cdouble"} {
		d, _ := tensor.ParseDType(n)
		c.Set(n, t.DTypeObject(d))
	}
	c.GetAttrHook = func(in *vm.Interp, name string) (vm.Object, bool, error) {
		f := t.Natives[name]
		if f == nil {
			return nil, false, nil
		}
		m, err := f(in)
		if err != nil {
			return nil, false, err
		}
		c.Set(name, m)
		return m, true, nil
	}
	t.generatorType()
	t.registerTensorFns()
	t.registerStorage()
	t.registerState()
	t.registerAutocast()
	t.registerInference()
	t.edgeNames()
	c.Func("_checkpoint_region", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if len(a) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "_checkpoint_region() needs a function")
		}
		return t.checkpointRegion(func() (vm.Object, error) { return in.Call(a[0], a[1:], kw) })
	})
	t.registerOps()
	return c, nil
}

// lazyFunctions makes functions of a module when they are first asked for: one per operator packet.
func (t *Torch) lazyFunctions(m *vm.Module, module, prefix string) func(in *vm.Interp, name string) (vm.Object, bool, error) {
	return func(in *vm.Interp, name string) (vm.Object, bool, error) {
		if strings.HasPrefix(name, "__") || len(aten.Packet("aten", name)) == 0 {
			return nil, false, nil
		}
		f := t.function(module, prefix+name, name)
		m.Dict.SetStr(name, f)
		return f, true, nil
	}
}

// functionNames lists the operators that a module of functions shows, by the prefix of their names: modules get them as they are first used.
func functionNames(prefix string) vm.Object {
	var names []vm.Object
	last := ""
	for _, op := range aten.All() {
		name := op.Sig().Name
		short, ok := strings.CutPrefix(name, prefix)
		if !ok || name == last || op.Sig().Namespace != "aten" || strings.HasPrefix(short, "_") || len(aten.Signatures(name, false)) == 0 {
			continue
		}
		if prefix == "" && slices.ContainsFunc([]string{"fft_", "linalg_", "special_"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		last = name
		names = append(names, vm.Str(short))
	}
	return vm.NewList(names...)
}

// opsNotInTorch are operators that PyTorch shows under torch._C._nn or as methods only.
var opsNotInTorch = map[string]bool{"linear": true, "gelu": true, "silu": true, "softplus": true, "elu": true, "leaky_relu": true, "hardtanh": true, "mse_loss": true,
	"l1_loss": true, "nll_loss": true, "cross_entropy_loss": true, "avg_pool2d": true, "view": true, "pad": true, "one_hot": true, "relu6": true, "mish": true, "hardswish": true, "hardsigmoid": true, "repeat": true, "expand": true,
	"scaled_dot_product_attention": true, "glu": true, "contiguous": true, "random_": true, "copy_": true, "uniform_": true, "normal_": true, "unique_dim": true}

func (t *Torch) generatorType() {
	var cls *vm.Type
	cls = t.In.NewNativeType(vm.Spec{Name: "Generator", Module: "torch._C", NoDict: true,
		New: func(in *vm.Interp, _ *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			dev, _, _, _, err := t.parseTo(args, kw)
			if err == nil && dev != nil && dev.D.Type != "cpu" {
				err = in.Errorf(in.Exc.RuntimeError, "Device type %s is not supported for torch.Generator() api.", strings.ToUpper(dev.D.Type))
			}
			return &Generator{tensor.NewGenerator(defaultSeed), cls}, err
		},
		GetSet: []*vm.GetSet{getter("device", func(vm.Object) vm.Object { return &Device{tensor.CPU, t} })},
		Methods: map[string]vm.GoFunc{
			"seed":         t.inPython("torch.random", "_seed"),
			"clone_state":  t.inPython("torch.random", "_clone_state"),
			"__reduce__":   t.inPython("torch.random", "_reduce"),
			"__setstate__": t.inPython("torch.random", "_restore"),
			"manual_seed": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				n, ok := vm.AsInt(a[1])
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "manual_seed expected a long, but got %s", a[1].Type().Name)
				}
				a[0].(*Generator).G.ManualSeed(uint64(n))
				return a[0], nil
			},
			"initial_seed": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeInt(int64(a[0].(*Generator).G.InitialSeed())), nil
			},
			"get_state": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				s := a[0].(*Generator).G.State()
				x, err := tensor.FromBytes(tensor.UInt8, s, int64(len(s)))
				if err != nil {
					return nil, t.Error(err)
				}
				return t.Wrap(x), nil
			},
			"set_state": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				p, ok := a[1].(*Tensor)
				if !ok || p.T.DType != tensor.UInt8 {
					return nil, in.Errorf(in.Exc.TypeError, "RNG state must be a torch.ByteTensor")
				}
				return a[0], t.Error(a[0].(*Generator).G.SetState(p.T.Bytes()))
			},
		}})
	t.c.Set("Generator", cls)
	t.generatorObject = &Generator{t.Generator, cls}
	t.c.Set("default_generator", t.generatorObject)
}

// registerState binds the switches: grad mode, seeds, default dtype, print options.
func (t *Torch) registerState() {
	c, in := t.c, t.In
	hook := func(target string, f func(args []vm.Object, kw []vm.KwArg) (vm.Object, error)) vm.GoFunc {
		return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, target, args, kw, f)
		}
	}
	def := func(name, target string, f func(args []vm.Object, kw []vm.KwArg) (vm.Object, error)) {
		b := c.Func(name, hook(target, f))
		b.Native = Target(target)
		b.Module = "torch._C"
	}
	def("_set_grad_enabled", "torch._C._set_grad_enabled", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		b, err := in.Truth(a[0])
		if err != nil {
			return nil, err
		}
		t.setGrad(b)
		return vm.None, nil
	})
	def("_log_api_usage_once", "torch._C._log_api_usage_once", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return vm.None, nil })
	c.Func("is_grad_enabled", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(t.Grad.Enabled()), nil
	})
	c.Func("_manual_seed", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n, ok := vm.AsInt(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "manual_seed expected a long, but got %s", a[0].Type().Name)
		}
		t.Generator.ManualSeed(uint64(n))
		return t.generatorObject, nil
	})
	c.Func("_set_num_threads", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n, _ := vm.AsInt(a[0])
		parallel.Set(int(min(n, 1<<16)))
		return vm.None, nil
	})
	c.Func("_get_num_threads", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return vm.MakeInt(int64(parallel.Threads())), nil
	})
	c.Func("get_default_dtype", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return t.DTypeObject(t.DefaultDType), nil
	})
	c.Func("_set_default_dtype", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		d, ok := a[0].(*DType)
		if !ok || !d.D.IsFloat() {
			return nil, in.Errorf(in.Exc.TypeError, "only floating-point types are supported as the default type")
		}
		t.DefaultDType = d.D
		return vm.None, nil
	})
	t.registerModes()
	t.registerFileCheck()
	t.registerOverrides()
	t.registerQuestions()
	c.Func("_get_printoptions", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		sci := vm.Object(vm.None)
		if t.Print.SciMode != nil {
			sci = vm.MakeBool(*t.Print.SciMode)
		}
		return vm.NewTuple(vm.MakeInt(int64(t.Print.Precision)), vm.MakeInt(t.Print.Threshold), vm.MakeInt(t.Print.EdgeItems), vm.MakeInt(int64(t.Print.LineWidth)), sci), nil
	})
	c.Func("_set_printoptions", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		for _, k := range kw {
			n, _ := vm.AsInt(k.Value)
			switch k.Name {
			case "precision":
				t.Print.Precision = int(n)
			case "threshold":
				t.Print.Threshold = n
			case "edgeitems":
				t.Print.EdgeItems = n
			case "linewidth":
				t.Print.LineWidth = int(n)
			case "sci_mode":
				if k.Value == vm.None {
					t.Print.SciMode = nil
				} else {
					b, err := in.Truth(k.Value)
					if err != nil {
						return nil, err
					}
					t.Print.SciMode = &b
				}
			}
		}
		return vm.None, nil
	})
	c.Func("_autograd_grad", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return t.autogradGrad(a) }).Fresh = true
	c.Func("_autograd_record", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return t.autogradRecord(a) })
	c.Func("_autograd_bump", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) { // a tensor was written
		x, ok := a[0].(*Tensor)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_autograd_bump() needs a tensor")
		}
		x.T.Bump()
		return vm.None, nil
	})
	c.Func("_install", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		m, ok := a[0].(*vm.Module)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_install() needs the torch module")
		}
		t.module = m
		lazy := t.lazyFunctions(m, "torch", "torch.")
		m.GetAttrHook = func(in *vm.Interp, name string) (vm.Object, bool, error) {
			if v, ok := c.Dict.GetStr(name); ok && !strings.HasPrefix(name, "_") {
				m.Dict.SetStr(name, v)
				return v, true, nil
			}
			if opsNotInTorch[name] || strings.HasPrefix(name, "fft_") || strings.HasPrefix(name, "linalg_") || strings.HasPrefix(name, "special_") {
				return nil, false, nil
			}
			if v, ok, err := lazy(in, name); ok || err != nil {
				return v, ok, err
			}
			if lazyModules[name] {
				v, err := in.Import("torch." + name)
				if in.Matches(err, in.Exc.ImportError) && strings.Contains(err.Error(), "No module named 'torch."+name+"'") {
					return nil, false, nil // torch lacks the attribute then
				}
				if err != nil {
					return nil, false, err
				}
				m.Dict.SetStr(name, v)
				return v, true, nil
			}
			return nil, false, nil
		}
		for _, f := range t.prepare {
			if err := f(); err != nil {
				return nil, err
			}
		}
		return vm.None, nil
	})
}

// lazyModules are the parts of torch that are imported when they are first named.
var lazyModules = map[string]bool{"optim": true, "_dynamo": true, "_inductor": true, "_functorch": true, "fx": true, "compiler": true, "library": true, "testing": true,
	"utils": true, "_logging": true, "fft": true, "masked": true, "signal": true, "linalg": true, "special": true, "func": true, "distributions": true, "cuda": true, "backends": true, "jit": true,
	"_higher_order_ops": true, "_decomp": true, "amp": true, "random": true, "overrides": true, "distributed": true, "export": true, "futures": true, "cpu": true, "accelerator": true, "xpu": true, "mtia": true, "mps": true, "onnx": true, "profiler": true, "sparse": true, "version": true, "_subclasses": true}

// tensorList is a tensor, or several; what is none is nil.
func (t *Torch) tensorList(o vm.Object) ([]*tensor.Tensor, error) {
	return t.tensorsOr(o, func(vm.Object) error { return nil })
}

// tensorsOr is tensorList, where other says of what is no tensor whether it may be there.
func (t *Torch) tensorsOr(o vm.Object, other func(vm.Object) error) ([]*tensor.Tensor, error) {
	if p, ok := o.(*Tensor); ok {
		return []*tensor.Tensor{p.T}, nil
	}
	items, err := t.In.IterAll(o)
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(items))
	for i, x := range items {
		if p, ok := x.(*Tensor); ok {
			out[i] = p.T
		} else if err := other(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// autogradGrad is the engine under torch.autograd.grad and torch.autograd.backward:
// (outputs, grad_outputs or None, inputs or None, retain_graph, create_graph, allow_unused, accumulate).
func (t *Torch) autogradGrad(a []vm.Object) (vm.Object, error) {
	roots, starts, err := t.tensorsOrEdges(a[0])
	if err != nil {
		return nil, err
	}
	grads := make([]*tensor.Tensor, len(roots))
	if a[1] != vm.None {
		if grads, err = t.seedList(a[1]); err != nil {
			return nil, err
		}
	}
	o := BackwardOptions{}
	if a[2] != vm.None {
		if o.Inputs, o.At, err = t.tensorsOrEdges(a[2]); err != nil {
			return nil, err
		}
		if o.At != nil {
			o.Inputs = nil
		}
	}
	for i, p := range []*bool{&o.RetainGraph, &o.CreateGraph, &o.AllowUnused, &o.Accumulate} {
		if *p, err = t.In.Truth(a[3+i]); err != nil {
			return nil, err
		}
	}
	if err := t.fitSeeds(roots, grads); err != nil {
		return nil, err
	}
	if t.wrappedAmong(roots) {
		o.On = t.dispatcher()
	}
	alone := false
	o.Alone = &alone
	res, err := t.propagate(roots, starts, grads[:len(roots)], o)
	if err != nil {
		return nil, t.Error(err)
	}
	items := make([]vm.Object, len(res))
	for i, g := range res {
		items[i] = t.Wrap(g)
	}
	out := vm.NewTuple(items...)
	if t.In.Made = nil; alone && t.unwatched() {
		t.In.Made = out
	}
	return out, nil
}

// seedList are the gradients that a backward pass starts with: a tensor, or several of which some may be None, as nil.
func (t *Torch) seedList(o vm.Object) ([]*tensor.Tensor, error) {
	return t.tensorsOr(o, func(x vm.Object) error {
		if x == vm.None {
			return nil
		}
		return t.In.Errorf(t.In.Exc.TypeError, "gradients can be either Tensors or None, but got %s", x.Type().Name)
	})
}

// fitSeeds says what is wrong with the gradients that a backward pass starts with. Where none is given, as nil, the output has to be a real scalar.
func (t *Torch) fitSeeds(roots, grads []*tensor.Tensor) error {
	wrong := func(format string, args ...any) error { return t.In.Errorf(t.In.Exc.RuntimeError, format, args...) }
	size := func(x *tensor.Tensor) string { s, _ := t.In.Repr(t.Size(x.Shape)); return s }
	for i, out := range roots[:min(len(roots), len(grads))] {
		g := grads[i]
		switch {
		case out == nil: // an edge: what flows there has the shape of whatever is there
		case g == nil && out.Numel() == 1 && out.DType.Kind() == tensor.KindComplex && t.Grad.RequiresGrad(out):
			return wrong("grad can be implicitly created only for real scalar outputs but got torch.%s", out.DType)
		case g == nil:
		case !slices.Equal(g.Shape, out.Shape):
			return wrong("Mismatch in shape: grad_output[%d] has a shape of %s and output[%d] has a shape of %s.", i, size(g), i, size(out))
		case (g.DType.Kind() == tensor.KindComplex) != (out.DType.Kind() == tensor.KindComplex):
			return wrong("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "+
				"grad_output[%d] has a dtype of torch.%s and output[%d] has a dtype of torch.%s.", i, g.DType, i, out.DType)
		}
	}
	if len(roots) > len(grads) {
		return wrong("got %d tensors and %d gradients", len(roots), len(grads))
	}
	return nil
}

// pass is a backward pass under way.
type pass struct {
	number int64
	inputs bool        // it computes gradients of some tensors alone
	behind []vm.Object // what the program wants called when the pass is over
}

// tensorsOrEdges are tensors, or places in the graph where gradients are: where one of them is a GradientEdge edges has them all.
func (t *Torch) tensorsOrEdges(o vm.Object) (ts []*tensor.Tensor, edges []GradEdge, err error) {
	if p, ok := o.(*Tensor); ok {
		return []*tensor.Tensor{p.T}, nil, nil
	}
	items, err := t.In.IterAll(o)
	if err != nil {
		return nil, nil, err
	}
	ts, at := make([]*tensor.Tensor, len(items)), make([]GradEdge, len(items))
	for i, x := range items {
		switch p, isTensor := x.(*Tensor); {
		case isTensor:
			ts[i], at[i] = p.T, t.Grad.EdgeOf(p.T)
		default:
			if tup, ok := vm.AsTuple(x); ok && len(tup.Items) == 2 && nodeOf(tup.Items[0]) != nil {
				nr, _ := vm.AsInt(tup.Items[1])
				at[i], edges = GradEdge{nodeOf(tup.Items[0]), int(nr)}, at
			}
		}
	}
	return ts, edges, nil
}

// propagate runs a backward pass, from starts where there are some.
func (t *Torch) propagate(roots []*tensor.Tensor, starts []GradEdge, grads []*tensor.Tensor, o BackwardOptions) ([]*tensor.Tensor, error) {
	t.passNumber++
	t.passes = append(t.passes, pass{number: t.passNumber, inputs: o.Inputs != nil || o.At != nil})
	var out []*tensor.Tensor
	var err error
	if starts != nil {
		out, err = t.Grad.BackwardFrom(starts, grads, o)
	} else {
		out, err = t.Grad.Backward(roots, grads, o)
	}
	for n := 0; err == nil && n < len(t.passes[len(t.passes)-1].behind); n++ { // which may grow
		_, err = t.In.Call(t.passes[len(t.passes)-1].behind[n], nil, nil)
	}
	t.passes = t.passes[:len(t.passes)-1]
	return out, err
}

// passNames binds what programs ask about the backward pass that runs them.
func (t *Torch) passNames() {
	t.c.Func("_current_graph_task_id", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		if n := len(t.passes); n > 0 {
			return vm.MakeInt(t.passes[n-1].number), nil
		}
		return vm.MakeInt(-1), nil
	})
	t.c.Func("_queue_callback", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n := len(t.passes)
		if n == 0 {
			return nil, in.Errorf(in.Exc.RuntimeError, "Final callbacks can only be installed during backward pass.")
		}
		t.passes[n-1].behind = append(t.passes[n-1].behind, a[0])
		return vm.None, nil
	})
	t.c.Func("_is_checkpoint_valid", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeBool(!slices.ContainsFunc(t.passes, func(p pass) bool { return p.inputs })), nil
	})
}

// autogradRecord notes how the gradients of a function of the program are computed: (name, inputs, outputs, f, materialize, ctx).
// f takes a gradient per output, None for one that never arrived unless materialize is set, and gives one per input. What ctx, None or the
// context of an autograd.Function, was given to save is saved in the node.
func (t *Torch) autogradRecord(a []vm.Object) (vm.Object, error) {
	if len(a) != 6 {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "_autograd_record() takes 6 arguments (%d given)", len(a))
	}
	name, _ := vm.AsStr(a[0])
	ins, err := t.tensorList(a[1])
	if err != nil {
		return nil, err
	}
	outs, err := t.tensorList(a[2])
	if err != nil {
		return nil, err
	}
	f := a[3]
	zeros, err := t.In.Truth(a[4])
	if err != nil {
		return nil, err
	}
	apply := func(grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
		items := make([]vm.Object, len(grads))
		for i, g := range grads {
			if g == nil && zeros {
				if g, err = t.zerosLike(outs[i]); err != nil {
					return nil, err
				}
			}
			items[i] = t.Wrap(g)
		}
		r, err := t.In.Call(f, items, nil)
		if err != nil {
			return nil, err
		}
		return t.tensorList(r)
	}
	if t.Record != nil {
		return vm.None, t.Error(t.Record(name, ins, outs, apply))
	}
	t.Grad.Record(name, ins, outs, apply)
	if ctx, ok := a[5].(*vm.Instance); ok && len(outs) > 0 {
		return vm.None, t.keep(outs[0], ctx)
	}
	return vm.None, nil
}

// zerosLike is a tensor of zeros with the shape and dtype of x, made by the dispatcher that is set.
func (t *Torch) zerosLike(x *tensor.Tensor) (*tensor.Tensor, error) {
	v, err := aten.Run(t.dispatcher(), "aten.zeros_like.default", x)
	if err != nil {
		return nil, err
	}
	return v.(*tensor.Tensor), nil
}

// tags are the tags of an operator, as a list of torch.Tag.
func (t *Torch) tags(op *aten.Op) (vm.Object, error) {
	m, err := t.In.Import("torch._tag")
	if err != nil {
		return nil, err
	}
	names := vm.Object(vm.None)
	if op.Library == nil {
		names = texts(op.PublicTags())
	}
	defined := op.Sig().Namespace + "::" + op.Sig().Name
	if op.Sig().Overload != "" {
		defined += "." + op.Sig().Overload
	}
	return t.In.CallMethod(m, "tags_of", names, vm.Str(defined))
}

// texts are strings as a list of Python.
func texts(ss []string) *vm.List {
	l := vm.NewList()
	for _, s := range ss {
		l.Items = append(l.Items, vm.Str(s))
	}
	return l
}

// definedName is the name under which an overload is defined: aten::add.Tensor.
func definedName(op *aten.Op) string {
	sig := op.Sig()
	name := sig.Namespace + "::" + sig.Name
	if sig.Overload != "" {
		name += "." + sig.Overload
	}
	return name
}

// registerOps makes torch.ops: namespaces of packets of overloads.
func (t *Torch) registerOps() {
	in := t.In
	packetOf := func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
		sig := o.(*vm.Instance).Native.(*aten.Op).Sig()
		return t.Resolve("torch.ops." + sig.Namespace + "." + sig.Name)
	}
	overload := in.NewNativeType(vm.Spec{Name: "OpOverload", Module: "torch._ops", Methods: map[string]vm.GoFunc{
		"__call__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			o := a[0].(*vm.Instance).Native.(*aten.Op)
			return t.call(fx.CallFunction, o.Name(), a[1:], kw, func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) { return t.callOverload(o, args, kw) })
		},
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			o := a[0].(*vm.Instance).Native.(*aten.Op)
			return vm.Str("<OpOverload(op='" + o.Sig().Namespace + "." + o.Sig().Name + "', overload='" + overloadName(o) + "')>"), nil
		},
		"__str__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(a[0].(*vm.Instance).Native.(*aten.Op).Name()), nil
		},
		"name": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(definedName(a[0].(*vm.Instance).Native.(*aten.Op))), nil
		},
	}, GetSet: []*vm.GetSet{
		{Name: "overloadpacket", Get: packetOf},
		{Name: "_overloadpacket", Get: packetOf},
		getter("_overloadname", func(o vm.Object) vm.Object { return vm.Str(overloadName(o.(*vm.Instance).Native.(*aten.Op))) }),
		getter("_name", func(o vm.Object) vm.Object { return vm.Str(definedName(o.(*vm.Instance).Native.(*aten.Op))) }),
		getter("__name__", func(o vm.Object) vm.Object {
			op := o.(*vm.Instance).Native.(*aten.Op)
			return vm.Str(op.Sig().Name + "." + overloadName(op))
		}),
		{Name: "_schema", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			return t.schema(o.(*vm.Instance).Native.(*aten.Op))
		}},
		getter("namespace", func(o vm.Object) vm.Object { return vm.Str(o.(*vm.Instance).Native.(*aten.Op).Sig().Namespace) }),
		{Name: "tags", Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) { return t.tags(o.(*vm.Instance).Native.(*aten.Op)) }},
	}})
	type overloads struct {
		ns, name string
		members  map[string]*vm.Instance
	}
	packetType := in.NewNativeType(vm.Spec{Name: "OpOverloadPacket", Module: "torch._ops", Methods: map[string]vm.GoFunc{
		"__call__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			p := a[0].(*vm.Instance).Native.(*overloads)
			return t.call(fx.CallFunction, "torch.ops."+p.ns+"."+p.name, a[1:], kw, func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				return t.packet(p.ns, p.name, packet, args, kw)
			})
		},
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			p := a[0].(*vm.Instance).Native.(*overloads)
			return vm.Str("<OpOverloadPacket(op='" + p.ns + "." + p.name + "')>"), nil
		},
		"__str__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			p := a[0].(*vm.Instance).Native.(*overloads)
			return vm.Str(p.ns + "." + p.name), nil
		},
		"overloads": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			p := a[0].(*vm.Instance).Native.(*overloads)
			l := vm.NewList()
			for _, o := range t.overloadsOf(p.ns, p.name) {
				l.Items = append(l.Items, vm.Str(overloadName(o)))
			}
			return l, nil
		},
		"__getattr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			p := a[0].(*vm.Instance).Native.(*overloads)
			name, _ := vm.AsStr(a[1])
			for _, o := range t.overloadsOf(p.ns, p.name) {
				if overloadName(o) == name {
					if m, ok := p.members[name]; ok && m.Native == o {
						return m, nil
					}
					m := &vm.Instance{Class: overload, Native: o}
					p.members[name] = m
					return m, nil
				}
			}
			return nil, in.Errorf(in.Exc.AttributeError, "The underlying op of '%s.%s' has no overload name '%s'", p.ns, p.name, name)
		},
	}, GetSet: []*vm.GetSet{
		getter("__name__", func(o vm.Object) vm.Object { return vm.Str(o.(*vm.Instance).Native.(*overloads).name) }),
	}})
	t.c.Set("_OpOverload", overload)
	t.c.Set("_OpOverloadPacket", packetType)
	t.c.Func("_packet", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		ns, _ := vm.AsStr(a[0])
		name, _ := vm.AsStr(a[1])
		if len(t.overloadsOf(ns, name)) == 0 {
			return nil, in.Errorf(in.Exc.AttributeError, "'_OpNamespace' '%s' object has no attribute '%s'", ns, name)
		}
		return &vm.Instance{Class: packetType, Native: &overloads{ns, name, map[string]*vm.Instance{}}}, nil
	})
	t.c.Func("_cond", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.cond(a) })
	t.c.Func("_tag_names", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return texts(aten.TagNames), nil })
	t.c.Func("_define_op", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.defineOp(a) })
	t.c.Func("_undefine_op", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		qualname, _ := vm.AsStr(a[0])
		ns, name, _ := strings.Cut(qualname, "::")
		for _, op := range t.Library.Packet(ns, strings.TrimSuffix(name, ".default")) {
			delete(t.objects, op.Name())
		}
		t.Library.Remove(ns, name)
		return vm.None, nil
	})
	t.packetName = func(o vm.Object) (string, bool) {
		i, ok := o.(*vm.Instance)
		if !ok {
			return "", false
		}
		switch n := i.Native.(type) {
		case *overloads:
			return "torch.ops." + n.ns + "." + n.name, true
		case *aten.Op:
			return n.Name(), true
		}
		return "", false
	}
}

// overloadsOf are the overloads that torch.ops has of an operator: the program's, or PyTorch's, among them those that nothing here computes.
func (t *Torch) overloadsOf(ns, name string) []*aten.Op {
	if ops := t.Library.Packet(ns, name); len(ops) > 0 {
		return ops
	}
	return aten.Unwritten(ns, name)
}

func overloadName(o *aten.Op) string {
	if n := o.Sig().Overload; n != "" {
		return n
	}
	return "default"
}

// callOverload runs exactly this overload, as torch.ops.aten.add.Tensor(...) does.
func (t *Torch) callOverload(o *aten.Op, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	bound, err := t.Bind(o, args, kw)
	if err != nil {
		return nil, err
	}
	out, err := t.Run(o, bound)
	if err != nil {
		return nil, t.Error(err)
	}
	return t.Object(out), nil
}

// Bind puts the arguments of a call in the order of an operator's schema, with its defaults. What fits no operator is a RuntimeError, what does
// not fit this one the error that PyTorch gives.
func (t *Torch) Bind(o *aten.Op, args []vm.Object, kw []vm.KwArg) ([]aten.Value, error) {
	vals, ok := t.values(args)
	if !ok {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "%s() got an argument that no operator takes", o.FullName())
	}
	kws := map[string]aten.Value{}
	for _, k := range kw {
		v, ok := t.Value(k.Value)
		if !ok {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "%s() got an argument '%s' that no operator takes", o.FullName(), k.Name)
		}
		kws[k.Name] = v
	}
	bound, err := aten.Bind(o, vals.([]aten.Value), kws)
	return bound, t.Error(err)
}

// Overload is the operator behind an object of torch.ops, as in torch.ops.aten.add.Tensor; nil where it is none.
func Overload(o vm.Object) *aten.Op {
	if i, ok := o.(*vm.Instance); ok {
		op, _ := i.Native.(*aten.Op)
		return op
	}
	return nil
}
