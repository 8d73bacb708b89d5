package capture

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"whittle/capture/breaks"
	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/resume"
	"whittle/capture/source"
	"whittle/capture/symbolic"
)

// compilation is the way of one frame from its first trace to compiled code, or to the decision that it runs as plain Python.
type compilation struct {
	d  *Dynamo
	f  *vm.Frame
	st *codeState
	e  *source.Env
	ev *FrameEvent

	inside func() // ends the part of the log that is about the attempt under way

	metrics *metrics
	numbers []symbolic.Input // those of the inputs, as the last attempt had them
	booked  func()           // books the time of the compilation; nil => it has not begun
	over    bool             // the compilation is done, and the program was told

	// Where an attempt learned that the trace has to end; nil => it runs on.
	stop *point
	jump bool // the stop is a branch on a tensor
	rest bool // what is behind the stop runs as plain Python
}

// compile captures a frame, compiles its graph and runs it.
func (d *Dynamo) compile(f *vm.Frame, st *codeState, e *source.Env, unfit []Unfit) (vm.Object, error) {
	var reasons []string
	for _, u := range unfit {
		reasons = append(reasons, u.String())
	}
	ev := &FrameEvent{ID: fmt.Sprintf("%d/%d", st.id, len(st.entries)), Name: f.Code.Name, File: shortFile(f.Code.Filename), Line: f.Code.FirstLine, Reasons: reasons}
	if d.Observe.Record != nil && d.Observe.Record(f) {
		var err error
		if ev.record, err = d.record(f, reasons); err != nil {
			d.Observe.Recorded(nil, err)
		}
	}
	d.lookAtLogs()
	if d.logs.any {
		d.logFrame(f)
	}
	c := &compilation{d: d, f: f, st: st, e: e, ev: ev, inside: d.within(ev.ID, 0), metrics: &metrics{start: time.Now()}}
	defer func() { c.inside() }()
	if len(unfit) > 0 {
		if err := c.again(unfit); err != nil {
			return nil, err
		}
	}
	d.structuredStart(c)
	if full, err := c.full(); err != nil {
		return nil, err
	} else if full {
		d.structuredLimit(c)
		c.ev.Status = "limit"
		d.report(c.ev)
		st.full = true
		return d.beyondLimit(f, st)
	}
	d.compiling = ev.ID
	d.structuredTrace(c)
	c.booked = d.Phase("_compile.compile_inner")
	c.count("total")
	d.logStartOf(f, ev.Line)
	d.loadProfile()
	if err := c.begun(); err != nil {
		return nil, err
	}
	for {
		v, done, err := c.attempt()
		if !done && err == nil {
			continue
		}
		if derr := c.done(); derr != nil && err == nil {
			err = derr
		}
		return v, err
	}
}

// count counts a frame. Of those that have to be one graph PyTorch keeps no account.
func (c *compilation) count(what string) {
	if !c.d.ctx.FullGraph {
		c.d.count("frames", what, 1)
	}
}

// skip lets the frame run as plain Python, now and from now on.
func (c *compilation) skip(status string) (vm.Object, error) {
	c.ev.Status = status
	c.d.report(c.ev)
	c.st.skip = true
	if err := c.done(); err != nil {
		return nil, err
	}
	return c.d.plain(c.f)
}

// again tells of the guards of earlier code that failed. The error is the script's, where it wants no recompiles.
func (c *compilation) again(unfit []Unfit) error {
	d, ev := c.d, c.ev
	for _, u := range unfit {
		ev.logged = append(ev.logged, u.logged(d.logs.on[logGuardTree]))
	}
	reasons := ev.logged
	d.logRecompile(c.f, ev.Line, reasons, func() []string { return d.allReasons(c.st, c.e) })
	d.failures = append(d.failures, &RecompileEvent{Frame: ev.ID, Function: ev.Name, File: ev.File, Line: ev.Line, Reasons: unfit})
	for _, u := range unfit {
		if err := d.guardFailed(u, c.f.Code); err != nil {
			return err
		}
	}
	forbidden, err := d.configBool("error_on_recompile")
	if err != nil {
		return err
	}
	if forbidden {
		ev.Status = "error"
		d.report(ev)
		return d.raise("torch._dynamo.exc", "RecompileError", vm.Str(fmt.Sprintf("Recompiling function %s in %s:%d\n    triggered by the following guard failure(s):\n    - %s", ev.Name, c.f.Code.Filename, ev.Line, strings.Join(reasons, "\n    - "))))
	}
	if d.Observe.Recompile != nil {
		d.Observe.Recompile(&RecompileEvent{Frame: ev.ID, Function: ev.Name, File: ev.File, Line: ev.Line, Reasons: unfit})
	}
	return nil
}

// guardFailed tells the program of a guard that failed, where it asked for that.
func (d *Dynamo) guardFailed(u Unfit, c *vm.Code) error {
	if u.failed == nil {
		return nil
	}
	m, err := d.In.Import("torch._dynamo.types")
	if err != nil {
		return err
	}
	cls, err := d.In.GetAttr(m, "GuardFail")
	if err != nil {
		return err
	}
	fail, err := d.In.Call(cls, []vm.Object{vm.Str(u.String()), c}, nil)
	if err != nil {
		return err
	}
	_, err = d.Disabled(u.failed, []vm.Object{fail}, nil)
	return err
}

// full reports whether the code object has been compiled as often as the settings allow.
func (c *compilation) full() (bool, error) {
	d, n := c.d, len(c.st.entries)
	limit, err := d.configInt("cache_size_limit", 8)
	if err != nil {
		return false, err
	}
	total, err := d.configInt("accumulated_cache_size_limit", 256)
	if err != nil {
		return false, err
	}
	if n < min(limit, total) {
		return false, nil
	}
	name := "accumulated_cache_size_limit"
	if n >= limit {
		name = "cache_size_limit"
	}
	c.st.limit = name
	hard, err := d.configBool("fail_on_cache_limit_hit")
	if err != nil {
		return false, err
	}
	if hard {
		return false, d.raise("torch._dynamo.exc", "FailOnRecompileLimitHit", vm.Str(name+" reached, because fail_on_cache_limit_hit = True this is a HARD failure"))
	}
	d.logLimit(c.f, c.ev, n >= limit, limit, total)
	return true, nil
}

// attempt traces the frame, up to the stop where there is one. done is false when the trace has learned where to stop the next time.
func (c *compilation) attempt() (v vm.Object, done bool, err error) {
	d, f, ev := c.d, c.f, c.ev
	ev.Attempts++
	if err := d.loadPolyfills(); err != nil {
		return nil, false, err
	}
	private := d.clone(f)
	tr := newTracer(d, private, c.e, c.stop)
	defer tr.over()
	if ev.Attempts > 1 {
		c.inside()
		c.inside = d.within(ev.ID, ev.Attempts-1)
	}
	d.logf(logTracing, "Step 1: torchdynamo start tracing %s %s:%d", ev.Name, f.Code.Filename, ev.Line)
	d.logf(logCreateEnv, "create_env")
	var out *outcome
	out, err = tr.run()
	if err == nil {
		out.jump, out.rest = c.jump, c.rest
		if !out.broke {
			d.logf(logTraced, "Step 1: torchdynamo done tracing %s (RETURN_VALUE)", ev.Name)
			d.logf(logReturn, "RETURN_VALUE triggered compile")
		}
		v, err = c.finish(tr, out)
		return v, true, err
	}
	tr.effects.Undo()
	var during *escaped
	var wrong *fakeFailed
	var u *Unsupported
	var r *vm.Raised
	switch {
	case errors.As(err, &during):
		return nil, true, during.err
	case errors.As(err, &wrong):
		v, err = c.refused(wrong)
		return v, true, err
	case errors.As(err, &u):
		return c.ended(tr, private, u)
	case errors.As(err, &r):
		v, err = c.raised(tr, err)
		return v, true, err
	}
	return nil, true, err
}

// raised is the end at an exception of the traced code: plain Python will raise it again, with the real values.
func (c *compilation) raised(tr *tracer, err error) (vm.Object, error) {
	d, ev := c.d, c.ev
	ev.Status = "skipped"
	b := tr.observed(err)
	if b != nil {
		c.metrics.failed("Unsupported", b)
		b.Frame = ev.ID
		ev.Status = "unsupported"
		b.whole = true
		if d.ctx.FullGraph {
			b.Kind = "fullgraph"
		}
		d.broke(ev, b)
	}
	if d.ctx.FullGraph {
		ev.Status, ev.Err = "unsupported", err
	}
	if b == nil || !d.ctx.FullGraph {
		return c.skip(ev.Status)
	}
	d.report(ev)
	c.st.skip = true
	return nil, d.raiseAt("torch._dynamo.exc", "Unsupported", b.Reason.Message(), b.at)
}

// ended is the end of a trace for a reason of the table: an error where the whole frame has to be one graph; plain Python where the
// frame cannot go on behind the break; else the next attempt stops there.
func (c *compilation) ended(tr *tracer, private *vm.Frame, u *Unsupported) (v vm.Object, done bool, err error) {
	d, f, ev := c.d, c.f, c.ev
	b := &BreakEvent{Frame: ev.ID, Kind: "break", Reason: u.Reason, Stack: tr.journal.stack, at: tr.journal.breakAt}
	row := u.Reason.ID.Row()
	if len(b.Stack) == 0 && !row.Before {
		b.at = []guard.Place{{Code: f.Code, Line: int(f.Code.Instrs[tr.at.pc].Line)}}
		b.Stack = []StackEntry{{f.Code.Name, int(f.Code.Instrs[tr.at.pc].Line), ev.File}}
	}
	b.Line = breakLine(b.Stack)
	own := len(b.Stack) <= 1                                    // the break is in the frame itself
	if !own && f.Code.Instrs[tr.at.pc].Op == code.BEFORE_WITH { // what __enter__ could not do is what the instruction cannot
		b.Reason = breaks.New(breaks.ContextEntry, tr.repr(tr.entered))
		u, row, own = &Unsupported{b.Reason}, b.Reason.ID.Row(), true
		b.at, b.Stack = b.at[:1], b.Stack[:1]
		b.Line = breakLine(b.Stack)
	}
	switch {
	case d.ctx.FullGraph:
		return nil, true, c.forbidden(b, u)
	case row.Frame || row.Missing && own || tr.journal.inComprehension || !resumable(private, tr.at.pc) || c.stop != nil && *c.stop == tr.at:
		b.Kind = "skip"
		if at := tr.restart; at.step > 0 && !row.Frame && !c.rest {
			d.broke(ev, b)
			c.stop, c.jump, c.rest = &at, false, true
			d.logf(logRestart, "Restarting analysis due to _dynamo/symbolic_convert.py:161 in fail_and_restart_analysis")
			c.metrics.restarts = append(c.metrics.restarts, u.Reason.Message())
			c.metrics.before = time.Since(c.metrics.start)
			return nil, false, nil
		}
		c.metrics.failed("Unsupported", b)
		b.whole = true
		d.broke(ev, b)
		v, err = c.skip("skipped")
		return v, true, err
	}
	if f.Code.Instrs[tr.at.pc].Op == code.STORE_ATTR {
		// Whatever the assignment could not do, the break is that of the instruction. PyTorch looks for no loop around it.
		if kind := b.counted(); kind != "" {
			d.count(kind, b.Reason.Message(), 1)
		}
		b.Reason, b.at, b.Stack = breaks.New(breaks.TensorAttribute), b.at[:min(1, len(b.at))], b.Stack[:min(1, len(b.Stack))]
		b.Line = breakLine(b.Stack)
	} else if resume.InLoop(f.Code.Code, tr.at.pc) {
		// A resume function per iteration would be compiled each time: the frame runs as plain Python, and what it calls is compiled.
		b.loop = true
		d.broke(ev, b)
		c.count("ok")
		v, err = c.skip("skipped")
		return v, true, err
	}
	d.broke(ev, b)
	if !row.Branch {
		d.logf(logRestart, "Restarting analysis due to _dynamo/symbolic_convert.py:161 in fail_and_restart_analysis")
	}
	at := tr.at
	c.stop, c.jump = &at, row.Branch
	if !row.Branch {
		c.metrics.restarts = append(c.metrics.restarts, u.Reason.Message())
		c.metrics.before = time.Since(c.metrics.start)
	}
	if row.Branch {
		ev.Attempts--
		d.unique-- // PyTorch compiles up to the branch without starting again
	}
	return nil, false, nil
}

// forbidden is the error at a break where fullgraph allows none.
func (c *compilation) forbidden(b *BreakEvent, u *Unsupported) error {
	d, ev, row := c.d, c.ev, u.Reason.ID.Row()
	b.Kind = "fullgraph"
	ev.Status, ev.Err = "unsupported", u
	said := u.Reason.Message()
	if row.UserError != "" {
		said = row.UserError + " For more information about this error, see: " + row.Docs
	}
	if row.UserErrorType != "" {
		ev.Status = "error" // the user's, and no break
		if len(b.Stack) <= 1 {
			d.count("unimplemented", said, 1)
		}
	} else {
		d.broke(ev, b)
	}
	d.report(ev)
	d.failing(c.f, u)
	if row.UserErrorType != "" {
		kind, err := d.userErrorType(row.UserErrorType)
		if err != nil {
			return err
		}
		return d.raiseAt("torch._dynamo.exc", "UserError", said, b.at, kind)
	}
	return d.raiseAt("torch._dynamo.exc", cmp.Or(row.Class, "Unsupported"), u.Reason.Message(), b.at)
}

// refused is the end of a frame in which an operator refuses its arguments.
func (c *compilation) refused(wrong *fakeFailed) (vm.Object, error) {
	return c.failed(c.d.raiseAt("torch._dynamo.exc", "TorchRuntimeError", wrong.msg, wrong.at))
}

// failing tells of a frame whose capture or compilation failed.
func (d *Dynamo) failing(f *vm.Frame, err error) {
	if d.Observe.Failing != nil {
		d.Observe.Failing(f, d.ctx, err)
	}
}

// report tells of a frame that is done.
func (d *Dynamo) report(ev *FrameEvent) {
	if ev.record != nil {
		ev.record.Came = d.came(ev)
		d.recordedAt = d.Observe.Recorded(ev.record, nil)
	}
	if d.Observe.Frame != nil {
		d.Observe.Frame(ev)
	}
}

// counted is the counter of torch._dynamo.utils.counters that counts the break, "" for none: those behind which compiled code goes on, and
// the others of the frame itself. What a call that is traced through cannot do is forgotten by its caller.
func (b *BreakEvent) counted() string {
	row := b.Reason.ID.Row()
	switch {
	case row.Bare && b.Reason.ID != breaks.ObservedException:
		return ""
	case b.Kind == "break" && !b.loop:
		return "graph_break"
	case len(b.Stack) <= 1 || b.Reason.ID == breaks.ObservedException:
		return "unimplemented"
	}
	return ""
}

// broke tells of a break.
func (d *Dynamo) broke(ev *FrameEvent, b *BreakEvent) {
	d.breaks = append(d.breaks, b)
	if kind := b.counted(); kind != "" {
		d.count(kind, b.Reason.Message(), 1)
	}
	if b.Kind != "fullgraph" {
		d.logBreakAt(b, b.at)
	}
	ev.breaks = append(ev.breaks, fmt.Sprintf("%s in line %d: %s", b.Kind, b.Line, b.Reason))
	if d.Observe.Break != nil {
		d.Observe.Break(b)
	}
}
