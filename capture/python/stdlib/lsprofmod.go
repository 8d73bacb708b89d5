package stdlib

import (
	"math"
	"slices"
	"time"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// profiler is _lsprof.Profiler: how often each function was called, and how long that took, in all and for each function that it calls.
type profiler struct {
	m        *lsprof
	timer    vm.Object // nil: the clock
	unit     float64   // of what timer gives, if that is an integer, in seconds; 0: it gives seconds
	subcalls bool
	builtins bool
	entries  map[any]*profiled
	order    []*profiled
	running  *profiledRun // innermost
}

// lsprof is the module _lsprof.
type lsprof struct {
	entry, subentry *vm.Type
	began           time.Time
}

// callCounts are of a function, or of a function as another one calls it. Times are nanoseconds, or units of the timer.
type callCounts struct {
	calls     int64
	recursive int64 // that ended while another one ran
	running   int64
	total     int64 // without those of recursive calls, which are part of others
	inline    int64 // without what the function called itself
}

// ended counts a call.
func (c *callCounts) ended(total, inline int64) {
	c.running--
	if c.running == 0 {
		c.total += total
	} else {
		c.recursive++
	}
	c.inline += inline
	c.calls++
}

// profiled is a function.
type profiled struct {
	callCounts
	code  vm.Object // code, or a text that says what it is
	calls map[*profiled]*callCounts
	order []*profiled // keys of calls
}

// called is what counts calls of e by p.
func (p *profiled) called(e *profiled) *callCounts {
	c := p.calls[e]
	if c == nil {
		if p.calls == nil {
			p.calls = map[*profiled]*callCounts{}
		}
		c = &callCounts{}
		p.calls[e] = c
		p.order = append(p.order, e)
	}
	return c
}

// profiledRun is a call under way.
type profiledRun struct {
	of     *profiled
	began  int64
	inside int64 // the time of calls that it made
	outer  *profiledRun
}

// now is the time on the timer. What goes wrong with one that is a function of Python is told, and nobody's error.
func (p *profiler) now(in *vm.Interp) int64 {
	if p.timer == nil {
		return int64(time.Since(p.m.began))
	}
	v, err := in.Call(p.timer, nil, nil)
	var t int64
	if err == nil {
		t, err = p.ticks(in, v)
	}
	if err != nil && in.Unraisable != nil {
		in.Unraisable(err, "", p.timer)
	}
	return t
}

// ticks is a time that a timer gave.
func (p *profiler) ticks(in *vm.Interp, v vm.Object) (int64, error) {
	if p.unit > 0 {
		return in.Index(v)
	}
	f, err := in.Float(v)
	return int64(math.Floor(f * 1e9)), err
}

// Profile implements vm.Profiler.
func (p *profiler) Profile(in *vm.Interp, f *vm.Frame, event string, arg vm.Object) {
	if event == "call" || event == "return" {
		p.turn(in, event == "call", f.Code, func() vm.Object { return f.Code })
		return
	}
	b, ok := arg.(*vm.Builtin)
	self := vm.Object(nil)
	if bound, is := arg.(*vm.BoundMethod); is {
		b, ok = bound.Func.(*vm.Builtin)
		self = bound.Self
	}
	if ok && p.builtins {
		p.turn(in, event == "c_call", b, func() vm.Object { return vm.Str(describeBuiltin(in, b, self)) })
	}
}

// turn notes that the function of a key was entered, or left.
func (p *profiler) turn(in *vm.Interp, enter bool, key any, name func() vm.Object) {
	e := p.entries[key]
	if enter {
		if e == nil {
			e = &profiled{code: name()}
			p.entries[key] = e
			p.order = append(p.order, e)
		}
		run := &profiledRun{of: e, outer: p.running}
		e.running++
		if p.subcalls && run.outer != nil {
			run.outer.of.called(e).running++
		}
		p.running = run
		run.began = p.now(in)
		return
	}
	run := p.running
	if run == nil {
		return // it was entered before
	}
	if e == nil {
		p.running = run.outer
		return
	}
	p.leave(in, run, e)
}

// leave counts a run, of the function e.
func (p *profiler) leave(in *vm.Interp, run *profiledRun, e *profiled) {
	total := p.now(in) - run.began
	inline := total - run.inside
	p.running = run.outer
	e.ended(total, inline)
	if run.outer == nil {
		return
	}
	run.outer.inside += total
	if p.subcalls {
		run.outer.of.called(e).ended(total, inline)
	}
}

// disable ends profiling, and all calls under way with it.
func (p *profiler) disable(in *vm.Interp) {
	in.SetProfile(nil)
	for p.running != nil {
		p.leave(in, p.running, p.running.of)
	}
}

func (p *profiler) clear() {
	p.entries, p.order = map[any]*profiled{}, nil
	p.running = nil
}

// describeBuiltin is how statistics name a function that is not written in Python; self is what it is bound to, if anything.
func describeBuiltin(in *vm.Interp, b *vm.Builtin, self vm.Object) string {
	if self == nil {
		self = b.Self
	}
	if self == nil && b.Owner != nil {
		if r, err := in.Repr(b); err == nil {
			return r
		}
	}
	if self != nil {
		if m := self.Type().Lookup(b.Name); m != nil {
			if r, err := in.Repr(m); err == nil {
				return r
			}
		}
	}
	if b.Module != "" {
		return "<built-in method " + b.Module + "." + b.Name + ">"
	}
	return "<built-in method " + b.Name + ">"
}

// stats are what getstats gives.
func (p *profiler) stats() vm.Object {
	factor := 1e-9
	if p.timer != nil && p.unit != 0 {
		factor = p.unit
	}
	row := func(t *vm.Type, code vm.Object, c *callCounts, rest ...vm.Object) vm.Object {
		return vm.NewStructValue(t, append([]vm.Object{code, vm.MakeInt(c.calls), vm.MakeInt(c.recursive), vm.Float(factor * float64(c.total)), vm.Float(factor * float64(c.inline))}, rest...)...)
	}
	out := vm.NewList()
	for _, e := range p.order {
		if e.callCounts.calls == 0 {
			continue
		}
		var calls vm.Object = vm.None
		if len(e.order) > 0 {
			list := vm.NewList()
			for _, sub := range e.order {
				if c := e.calls[sub]; c.calls > 0 {
					list.Items = append(list.Items, row(p.m.subentry, sub.code, c))
				}
			}
			calls = list
		}
		out.Items = append(out.Items, row(p.m.entry, e.code, &e.callCounts, calls))
	}
	return out
}

// configure reads the arguments that say what is profiled; those at i and i+1.
func (p *profiler) configure(c *clinic.Call, i int) {
	p.subcalls, p.builtins = c.Bool(i), c.Bool(i+1)
}

// lsprofModule is _lsprof.
func lsprofModule(in *vm.Interp) (*vm.Module, error) {
	mod := in.NewModule("_lsprof", "Fast profiler")
	fields := []string{"code", "callcount", "reccallcount", "totaltime", "inlinetime"}
	m := &lsprof{began: time.Now(),
		entry:    vm.NewStructSequence(in, "_lsprof", "profiler_entry", "", 6, append(slices.Clone(fields), "calls")...),
		subentry: vm.NewStructSequence(in, "_lsprof", "profiler_subentry", "", 5, fields...)}
	mod.Set("profiler_entry", m.entry)
	mod.Set("profiler_subentry", m.subentry)
	mod.Set("Profiler", in.NewNativeType(m.profilerSpec()))
	return mod, nil
}

func (m *lsprof) profilerSpec() vm.Spec {
	methods := map[string]vm.GoFunc{}
	method := func(name, params string, f func(c *clinic.Call, p *profiler) (vm.Object, error)) vm.GoFunc {
		return clinic.Method(name, params, func(c *clinic.Call) (vm.Object, error) {
			return f(c, c.Self.(*vm.Instance).Native.(*profiler))
		})
	}
	def := func(name, params string, f func(c *clinic.Call, p *profiler) (vm.Object, error)) {
		methods[name] = method(name, params, f)
	}
	methods["__init__"] = method("Profiler", "timer=None, timeunit:float=0.0, subcalls:bool=True, builtins:bool=True", func(c *clinic.Call, p *profiler) (vm.Object, error) {
		p.timer = nil
		if !c.None(0) {
			p.timer = c.Args[0]
		}
		p.unit = c.Float(1)
		p.configure(c, 2)
		return vm.None, nil
	})
	def("enable", "subcalls:bool=True, builtins:bool=True", func(c *clinic.Call, p *profiler) (vm.Object, error) {
		p.configure(c, 0)
		c.SetProfiler(c.Self, p)
		return vm.None, nil
	})
	def("disable", "", func(c *clinic.Call, p *profiler) (vm.Object, error) {
		p.disable(c.Interp)
		return vm.None, nil
	})
	def("clear", "", func(c *clinic.Call, p *profiler) (vm.Object, error) {
		p.clear()
		return vm.None, nil
	})
	def("getstats", "", func(c *clinic.Call, p *profiler) (vm.Object, error) { return p.stats(), nil })
	return vm.Spec{Name: "Profiler", Module: "_lsprof", Strict: true, NoDict: true, Methods: methods,
		Doc: "Profiler(timer=None, timeunit=None, subcalls=True, builtins=True)\n\n    Builds a profiler object using the specified timer function.",
		New: func(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, &profiler{m: m, entries: map[any]*profiled{}}), nil
		}}
}
