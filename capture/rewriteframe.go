package capture

import (
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// rewriter is a function of the program that frames are given to before they run: it may answer with other code for them, and a check that
// says when that may be used again.
type rewriter struct {
	d        *Dynamo
	callback vm.Object
	versions map[*vm.Code][]rewritten
}

// rewritten is code that the program made of a frame's.
type rewritten struct {
	code  *vm.Code
	check vm.Object // of the frame's variables
}

// frame is the hook of the interpreter while a rewriter is at work. What the rewriter itself calls is left alone.
func (r *rewriter) frame(in *vm.Interp, f *vm.Frame) (vm.Object, error) {
	if r.d.IsLibrary(f.Code.Filename) || f.Func == nil || f.Locals != nil || f.PC != 0 {
		return in.EvalFrame(f)
	}
	to, err := r.codeFor(in, f)
	if err != nil {
		return nil, err
	}
	if to == nil {
		return in.EvalFrame(f)
	}
	if len(f.LocalsPlus) > to.NLocalsPlus() || len(f.Code.FreeVars) != len(to.FreeVars) {
		return nil, in.Errorf(in.Exc.RuntimeError, "the code that %s was replaced by has other variables", f.Code.Name)
	}
	g := in.NewFrame(f.Func, to)
	g.Globals, g.Builtins, g.Back = f.Globals, f.Builtins, f.Back
	copy(g.LocalsPlus, f.LocalsPlus)
	return in.EvalFrame(g)
}

// codeFor is the code that the program wants to run for a frame; nil for the frame's own.
func (r *rewriter) codeFor(in *vm.Interp, f *vm.Frame) (*vm.Code, error) {
	defer r.d.T.Push(func(a *torch.Ambient) { a.FrameHook = nil })()
	f.Retain()
	for _, v := range r.versions[f.Code] {
		if v.check == vm.None {
			return v.code, nil
		}
		ok, err := in.Call(v.check, []vm.Object{f.LocalsDict()}, nil)
		if err != nil {
			return nil, err
		}
		if fits, err := in.Truth(ok); err != nil || fits {
			return v.code, err
		}
	}
	out, err := in.Call(r.callback, []vm.Object{f, vm.MakeInt(int64(len(r.versions[f.Code]))), vm.NewDict()}, nil)
	if err != nil || out == vm.None {
		return nil, err
	}
	pair, ok := vm.AsTuple(out)
	if !ok || len(pair.Items) != 2 {
		return nil, in.Errorf(in.Exc.TypeError, "expected code and a check, not %s", out.Type().Name)
	}
	c, ok := pair.Items[0].(*vm.Code)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "expected a code object, not %s", pair.Items[0].Type().Name)
	}
	r.versions[f.Code] = append(r.versions[f.Code], rewritten{c, pair.Items[1]})
	return c, nil
}

// rewriteModule binds what has frames rewritten by the program.
func (d *Dynamo) rewriteModule(m *vm.Module) {
	cls := d.In.NewNativeType(vm.Spec{Name: "_Rewriter", Module: "torch._C._dynamo", NoDict: true})
	m.Func("rewriter", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "rewriter() takes a function")
		}
		return &vm.Instance{Class: cls, Native: &rewriter{d: d, callback: a[0], versions: map[*vm.Code][]rewritten{}}}, nil
	})
	m.Func("rewriting", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) == 4 {
			if i, ok := a[0].(*vm.Instance); ok {
				if r, ok := i.Native.(*rewriter); ok {
					args, err := in.IterAll(a[2])
					if err != nil {
						return nil, err
					}
					var kw []vm.KwArg
					if dict, ok := vm.AsDict(a[3]); ok {
						dict.Each(func(k, v vm.Object) bool {
							n, _ := vm.AsStr(k)
							kw = append(kw, vm.KwArg{Name: n, Value: v})
							return true
						})
					}
					defer d.T.Push(func(a *torch.Ambient) { a.FrameHook = r.frame })()
					return in.Call(a[1], args, kw)
				}
			}
		}
		return nil, in.Errorf(in.Exc.TypeError, "rewriting() takes a rewriter, a function, its arguments and keyword arguments")
	})
}
