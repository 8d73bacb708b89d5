package capture

import (
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/python/vm"
)

// logPlan is a call that was put off, whose arguments compiled code rebuilds.
type logPlan struct {
	fn   vm.Object
	args []recipe
	kw   []string // names of the last len(kw) arguments

	result part // what the call gives; nil => nothing
}

// member reports whether one of os is in a set of torch._dynamo.config.
func (d *Dynamo) member(setting string, os ...vm.Object) bool {
	set, err := d.config(setting)
	if err != nil {
		return false
	}
	if n, err := d.In.Len(set); err != nil || n == 0 {
		return false
	}
	for _, o := range os {
		if in, err := d.In.Contains(set, o); err == nil && in {
			return true
		}
	}
	return false
}

// putOff reports whether a call is one of config.reorderable_logging_functions.
func (tr *tracer) putOff(callable, f vm.Object) bool {
	return tr.d.member("reorderable_logging_functions", callable, f)
}

// logger decides about a call of logging: methods of loggers are dropped when config.ignore_logger_methods
// has them and break the graph otherwise.
func (tr *tracer) logger(f *vm.Function, callable vm.Object) (done bool, err error) {
	if !strings.HasPrefix(f.Qualname, "Logger.") {
		return false, nil
	}
	if tr.d.member("ignore_logger_methods", callable, f) {
		return true, nil
	}
	return false, unsupported(breaks.LoggerMethod)
}

// logs plans the calls that were put off.
func (p *planner) logs() ([]*logPlan, error) {
	var out []*logPlan
	for _, c := range p.tr.effects.Calls() {
		l := p.call(c.Result)
		l.fn = c.Fn
		args := append([]vm.Object(nil), c.Args...)
		for _, k := range c.Kw {
			l.kw = append(l.kw, k.Name)
			args = append(args, k.Value)
		}
		var err error
		if l.args, err = p.values(args); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// call is the plan of a call that was put off, by what stands for its result; nil => it gives nothing. What needs the result may be planned first.
func (p *planner) call(result vm.Object) *logPlan {
	if result == nil {
		return &logPlan{}
	}
	if p.calls[result] == nil {
		p.calls[result] = &logPlan{result: p.part(result)}
	}
	return p.calls[result]
}

// runLogs makes the calls that a plan put off, outside of any capture.
func (d *Dynamo) runLogs(p *plan, r *rebuild) error {
	for _, l := range p.logs {
		if err := d.runLog(l, r); err != nil {
			return err
		}
	}
	return nil
}

// runLog makes one call that was put off. One whose result is wanted is made when it is, if that is earlier.
func (d *Dynamo) runLog(l *logPlan, r *rebuild) error {
	if l.result != nil && r.made[l.result] != nil {
		return nil
	}
	args, err := r.all(l.args)
	if err != nil {
		return err
	}
	n := len(args) - len(l.kw)
	var kw []vm.KwArg
	for i, name := range l.kw {
		kw = append(kw, vm.KwArg{Name: name, Value: args[n+i]})
	}
	v, err := d.Disabled(l.fn, args[:n], kw)
	if err == nil && l.result != nil {
		r.made[l.result] = v
	}
	return err
}

// filtered reports whether TORCHDYNAMO_DEBUG_FUNCTION names another function: only that one is captured.
func (d *Dynamo) filtered(name string) bool {
	only := d.environ("TORCHDYNAMO_DEBUG_FUNCTION")
	return only != "" && only != name
}

// environ reads os.environ as the script sees it; "" for what is not set.
func (d *Dynamo) environ(name string) string {
	var s string
	_ = d.plainly(func() error {
		m, err := d.In.Import("os")
		if err != nil {
			return err
		}
		env, err := d.In.GetAttr(m, "environ")
		if err != nil {
			return err
		}
		v, err := d.In.CallMethod(env, "get", vm.Str(name))
		if err == nil {
			s, _ = vm.AsStr(v)
		}
		return err
	})
	return s
}
