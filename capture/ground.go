package capture

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/guard"
	"whittle/capture/python/vm"
	"whittle/capture/sizes"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
)

// ground is what all parts of one trace stand on: the session, the frame that is captured, and what is written down of it. Parts
// embed it. The pointers stay as they are for the whole trace.
type ground struct {
	d    *Dynamo
	in   *vm.Interp
	t    *torch.Torch
	env  *source.Env // of the real frame: what sources are read from
	root *vm.Frame   // the copy of the frame that is captured

	guards   *guard.Draft   // the facts that the trace relied on so far
	unknowns *symbolic.Env  // the numbers that may differ from call to call
	sizes    *sizes.Tracker // the sizes of stand-ins in terms of those

	state globalState // on entry
	depth int         // of calls of the torch API and of plain Python that are being run; inside of them nothing is captured
	ended bool        // the frame has run
}

func newGround(d *Dynamo, root *vm.Frame, e *source.Env) *ground {
	unknowns := symbolic.NewEnv()
	return &ground{d: d, in: d.In, t: d.T, env: e, root: root, unknowns: unknowns, sizes: sizes.New(unknowns), state: d.globalState(d.T.Grad.Enabled())}
}

// listening reports whether what the interpreter does now is done by traced code: not by the API that it calls, nor by another trace.
func (gr *ground) listening() bool {
	return gr.d.active != nil && gr.d.active.ground == gr && gr.depth == 0 && !gr.ended
}

// frames walks from the running frame out to the frame that is captured.
func (gr *ground) frames(visit func(f *vm.Frame) bool) {
	if gr.ended {
		return
	}
	for f := gr.in.Frame(); f != nil; f = f.Back {
		if !visit(f) || f == gr.root {
			return
		}
	}
}

// userPlace is the line of the innermost frame that PyTorch would trace, too.
func (gr *ground) userPlace() guard.Place {
	var at guard.Place
	gr.frames(func(f *vm.Frame) bool {
		if f != gr.root && !gr.mirrored(f) {
			return true
		}
		at = guard.Place{Code: f.Code, Line: f.Line(), In: gr.in}
		return false
	})
	return at
}

// origin is the line that a node of the graph belongs to: modules of torch.nn count for the line that calls them.
func (gr *ground) origin() fx.Origin {
	var o fx.Origin
	gr.frames(func(f *vm.Frame) bool {
		if f != gr.root && !gr.shown(f) {
			return true
		}
		o = lineOf(guard.Place{Code: f.Code, Line: f.Line(), In: gr.in})
		return false
	})
	return o
}

// lineOf is a place as the origin of a node.
func lineOf(p guard.Place) fx.Origin {
	return fx.Origin{File: p.Code.Filename, Line: p.Line, Func: p.Code.Name, Code: strings.TrimSpace(p.Text())}
}

// header is how traces name the line that a frame is at.
func (gr *ground) header(f *vm.Frame) string {
	depth := 0
	for g := f; g != nil && g != gr.root; g = g.Back {
		if gr.mirrored(g) {
			depth++
		}
	}
	name := f.Code.QualName
	name = strings.ReplaceAll(name, "<locals>.", "")
	s := fmt.Sprintf("%s:%d in %s (%s)", f.Code.Filename, f.Line(), f.Code.Name, name)
	if depth > 0 {
		s += fmt.Sprintf(" (inline depth: %d)", depth)
	}
	return s
}

// mirrored reports whether a frame runs code that PyTorch traces, too.
func (gr *ground) mirrored(f *vm.Frame) bool {
	if f.Code.Filename == "torch/nn/modules/module.py" { // see moduleguards.go
		return !strings.HasPrefix(f.Code.Name, "_") || f.Code.Name == "__init__" || moduleStates.has(f.Code.Name)
	}
	return inlinedTorch(f.Code) || !gr.d.IsLibrary(f.Code.Filename)
}

// shown reports whether the lines of a frame are where nodes come from: those of the program, and of what the library has for transforms and for
// operators with bodies.
func (gr *ground) shown(f *vm.Frame) bool {
	file := f.Code.Filename
	for _, prefix := range []string{"torch/_functorch/", "torch/_higher_order_ops/", "torch/autograd/forward_ad.py"} {
		if strings.HasPrefix(file, prefix) {
			return true
		}
	}
	return gr.mirrored(f) && !inlinedTorch(f.Code)
}

// inlinedTorch reports whether code is of the modules, or of what they and programs call that PyTorch looks into as if it were the program's.
func inlinedTorch(c *vm.Code) bool {
	switch c.Filename {
	case "torch/nn/functional.py":
		return inlinedFunctional.has(c.QualName)
	case "torch/backends/mha.py":
		return true
	}
	outermost, _, _ := strings.Cut(c.QualName, ".")
	return strings.HasPrefix(c.Filename, "torch/nn/modules/") && !answers.has(outermost)
}

// quiet reports whether the running frame is the library's own way of doing what PyTorch does by other means.
func (gr *ground) quiet() bool {
	f := gr.in.Frame()
	return f != nil && f.Globals != gr.env.Globals && !gr.mirrored(f)
}

// callsModule reports whether the running frame is what every call of a module goes through: what that reads of the module,
// moduleguards.go guards.
func (gr *ground) callsModule() bool {
	return gr.quiet() && gr.in.Frame().Code.Filename == "torch/nn/modules/module.py"
}

// repr is how Python writes a value; the name of its class for one that cannot be written.
func (gr *ground) repr(v vm.Object) string {
	r, err := gr.in.Repr(v)
	if err != nil {
		return v.Type().Name
	}
	return r
}

// sharedGenerator is the generator behind the functions of the module random.
func (gr *ground) sharedGenerator() (vm.Object, error) {
	m, err := gr.in.Import("random")
	if err != nil {
		return nil, err
	}
	return gr.in.GetAttr(m, "_inst")
}

// outside runs f in the middle of a trace as plain Python: nothing that it calls is captured.
func (gr *ground) outside(f func() (vm.Object, error)) (vm.Object, error) {
	defer gr.d.push(func(u *underway, a *torch.Ambient) {
		torch.Unwatched(a)
		u.outer = u.active
	})()
	gr.depth++
	defer func() { gr.depth-- }()
	return f()
}

// imports runs the code of a module that is imported in the middle of a trace: it is none of the program that is compiled, and what it makes
// stays, tensors with data among it.
func (gr *ground) imports(load func() (vm.Object, error)) (vm.Object, error) {
	return gr.outside(func() (vm.Object, error) {
		defer gr.d.T.Push(func(a *torch.Ambient) {
			a.Dispatch, a.Symbolic, a.Sizes, a.Numel, a.Record = gr.d.T.Eagerly(), false, nil, nil, nil
		})()
		return load()
	})
}

// attribute is what a module of Python has under a name.
func (gr *ground) attribute(module, name string) (vm.Object, error) {
	m, err := gr.in.Import(module)
	if err != nil {
		return nil, err
	}
	return gr.in.GetAttr(m, name)
}
