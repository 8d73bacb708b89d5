package capture

import (
	"errors"
	"slices"
	"time"

	"whittle/capture/python/vm"
)

// metrics are the facts of one compilation that torch._dynamo.utils.get_compilation_metrics() shows.
type metrics struct {
	id, name, file         string
	line, cached           int
	guards, ops, nodes     int
	inputs                 int
	listed                 int // guards as explain() lists them, where a trace is written
	start                  time.Time
	total, before, backend time.Duration // before: the attempts that ended at a break
	failType, failReason   string        // "" => the frame did not fail
	failFile               string
	failLine               int
	restarts               []string // the breaks at which tracing began again, in words
	compiled               bool
}

// metricsLimit is how many compilations are kept at first; a program can set another number.
const metricsLimit = 64

// measure files what is known of a compilation that is done, and drops the oldest beyond the limit.
func (d *Dynamo) measure(m *metrics) {
	d.metrics = append(d.metrics, m)
	d.trimMetrics()
}

// trimMetrics drops the oldest compilations beyond the limit.
func (d *Dynamo) trimMetrics() {
	if n := len(d.metrics) - d.metricsKept; n > 0 {
		d.metrics = slices.Clone(d.metrics[n:])
	}
}

// failed notes for which reason the frame was given up.
func (m *metrics) failed(kind string, b *BreakEvent) {
	m.failType, m.failReason = kind, b.Reason.Message()
	if n := len(b.Stack); n > 0 {
		m.failFile, m.failLine = b.Stack[n-1].File, b.Stack[n-1].Line
	}
}

// measured completes the metrics of c from its event.
func (c *compilation) measured() {
	m, ev := c.metrics, c.ev
	if m.id != "" {
		return
	}
	m.id, m.name, m.file, m.line, m.cached = ev.ID, ev.Name, c.f.Code.Filename, ev.Line, len(c.st.entries)
	m.total = time.Since(m.start)
	m.guards = len(ev.Guards)
	m.compiled = ev.Status == "compiled"
	if m.compiled {
		m.cached--
	}
	if g := ev.Graph; g != nil {
		m.ops, m.nodes = len(g.Graph.Calls()), len(g.Graph.Nodes)
		m.inputs = m.nodes - m.ops - 1
	}
	if ev.Err != nil {
		m.before = m.total
	}
	if ev.Err != nil && m.failType == "" {
		m.failType, m.failReason = "Unsupported", ev.Err.Error()
		var r *vm.Raised
		if errors.As(ev.Err, &r) {
			m.failType = r.Exc.Class.Name
			if s, err := c.d.In.Str(r.Exc); err == nil {
				m.failReason = s
			}
		}
	}
	c.d.measure(m)
}

// callBack calls one of the functions that the program wants called around compilations.
func (d *Dynamo) callBack(fn vm.Object) error {
	if fn == nil {
		return nil
	}
	_, err := d.Disabled(fn, nil, nil)
	return err
}

// begun calls back at the start of a compilation.
func (c *compilation) begun() error { return c.d.callBack(c.d.onStart) }

// done ends a compilation, once: what it took is filed, and the program is called back.
func (c *compilation) done() error {
	if c.over {
		return nil
	}
	c.over = true
	c.measured()
	if c.booked != nil {
		c.booked()
		c.d.structuredEnd(c)
	}
	return c.d.callBack(c.d.onEnd)
}

// metricsModule binds what tells of compilations, and what is called around them.
func (d *Dynamo) metricsModule(m *vm.Module) {
	d.metricsKept = metricsLimit
	m.Func("on_compile", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "on_compile() takes two functions")
		}
		d.onStart, d.onEnd = a[0], a[1]
		return vm.None, nil
	})
	m.Func("frame_counter", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.MakeInt(int64(d.nextID)), nil })
	m.Func("frame_compile_counter", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		out := vm.NewDict()
		for _, st := range d.codes {
			if st.id < 0 {
				continue // of a frame that has to do with no tensor
			}
			if err := out.Set(d.In, vm.MakeInt(int64(st.id)), vm.MakeInt(int64(max(1, len(st.entries))))); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
	m.Func("clear_metrics", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		d.metrics = nil
		return vm.None, nil
	})
	m.Func("limit_metrics", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n, ok := vm.AsInt(a[0])
		if !ok || n < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "a limit is a number that is not negative")
		}
		d.metricsKept = int(n)
		d.trimMetrics()
		return vm.None, nil
	})
	m.Func("metrics", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		out := vm.NewList()
		for _, x := range d.metrics {
			o := vm.NewDict()
			text := func(s string) vm.Object {
				if s == "" {
					return vm.None
				}
				return vm.Str(s)
			}
			number := func(n int) vm.Object { return vm.MakeInt(int64(n)) }
			restarts := vm.NewList()
			for _, r := range x.restarts {
				restarts.Items = append(restarts.Items, vm.Str(r))
			}
			line := vm.Object(vm.None)
			if x.failFile != "" {
				line = number(x.failLine)
			}
			for name, v := range map[string]vm.Object{"compile_id": vm.Str(x.id), "co_name": vm.Str(x.name), "co_filename": vm.Str(x.file), "co_firstlineno": number(x.line),
				"cache_size": number(x.cached), "accumulated_cache_size": number(x.cached), "guard_count": number(x.guards), "graph_op_count": number(x.ops),
				"graph_node_count": number(x.nodes), "graph_input_count": number(x.inputs), "start_time": vm.Float(float64(x.start.UnixNano()) / 1e9),
				"entire_frame_compile_time_s": vm.Float(x.total.Seconds()), "backend_compile_time_s": vm.Float(x.backend.Seconds()), "fail_type": text(x.failType),
				"fail_reason": text(x.failReason), "fail_user_frame_filename": text(x.failFile), "fail_user_frame_lineno": line, "restart_reasons": restarts,
				"dynamo_time_before_restart_s": vm.Float(x.before.Seconds()), "has_guarded_code": vm.MakeBool(x.compiled)} {
				o.SetStr(name, v)
			}
			out.Items = append(out.Items, o)
		}
		return out, nil
	})
}
