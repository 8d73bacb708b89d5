package capture

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	snap "whittle/capture/snapshot"
	"whittle/capture/torch"
)

// FrameRecord is a frame as capture found it, with all that decides what is made of it, and what was made of it. Another process can
// capture it again: Replay.
type FrameRecord struct {
	File      string `json:"file"`
	Function  string `json:"function"`
	Line      int    `json:"line,omitempty"` // where the function begins
	FullGraph bool   `json:"fullgraph,omitempty"`
	Dynamic   *bool  `json:"dynamic,omitempty"`
	Backend   string `json:"backend"`
	Grad      bool   `json:"grad"`

	Values    *snap.Snapshot          `json:"values"`
	Func      int                     `json:"func"`
	Code      int                     `json:"code"`
	BackendFn int                     `json:"backend_fn"` // -1: a registered one
	Locals    []int                   `json:"locals"`
	Stack     []int                   `json:"stack"`
	Operators []int                   `json:"operators,omitempty"` // that the program defined
	PC        int                     `json:"pc"`
	Failed    []string                `json:"failed,omitempty"` // why earlier captures of the code do not fit, newest first
	Always    bool                    `json:"always,omitempty"` // the frame was asked for by name, not met on the way
	Config    map[string]int          `json:"config"`           // settings of torch._dynamo.config
	Seen      map[string]recordedSeen `json:"seen,omitempty"`   // sizes and numbers of earlier captures, by source

	Came Came `json:"came"`
}

// Came is what a capture came to.
type Came struct {
	Status string   `json:"status"`
	Graph  string   `json:"graph,omitempty"`  // its text; "": none
	Breaks []string `json:"breaks,omitempty"` // kind, line and reason of each
	Error  string   `json:"error,omitempty"`
	Kind   string   `json:"kind,omitempty"` // the error's class
}

type recordedSeen struct {
	Number int      `json:"number"`
	Wild   bool     `json:"wild"`
	Size   []int64  `json:"size"`
	Free   []bool   `json:"free"`
	Rank   bool     `json:"rank"`
	Stride []string `json:"stride"`
	Shift  []bool   `json:"shift"`
}

// mostItems bounds how much an iterator of a recorded frame may have left to give.
const mostItems = 100_000

// remaining lists what an iterator on a frame's stack has left to give.
func remaining(in *vm.Interp) func(o vm.Object) ([]vm.Object, bool) {
	return func(o vm.Object) ([]vm.Object, bool) {
		it, ok := o.(*replayIter)
		if !ok {
			return nil, false
		}
		var items []vm.Object
		for it = it.copy(); len(items) < mostItems; {
			v, err := it.Next(in)
			if err != nil {
				return nil, false
			}
			if v == nil {
				return items, true
			}
			items = append(items, v)
		}
		return nil, false
	}
}

// record writes a frame down before it is captured.
func (d *Dynamo) record(f *vm.Frame, failed []string) (*FrameRecord, error) {
	r := &FrameRecord{Failed: failed, File: f.Code.Filename, Function: f.Code.Name, Line: f.Code.FirstLine, FullGraph: d.ctx.FullGraph, Dynamic: d.ctx.Dynamic, Backend: d.ctx.Backend.Name, Grad: d.T.Grad.Enabled(),
		PC: f.PC, Always: d.always[f.Code.Code], BackendFn: -1, Config: map[string]int{}}
	w := snap.NewEncoder(d.In, d.T, remaining(d.In))
	var err error
	add := func(what string, o vm.Object) int {
		i, aerr := w.Add(o)
		if aerr != nil && err == nil {
			err = fmt.Errorf("frame %s, %s: %w", f.Code.Name, what, aerr)
		}
		return i
	}
	r.Func, r.Code = add("its function", f.Func), add("its code", f.Code)
	for i, v := range f.LocalsPlus {
		r.Locals = append(r.Locals, add("variable "+f.Code.LocalsPlusName(i), v))
	}
	for _, v := range f.Stack[:f.SP] {
		r.Stack = append(r.Stack, add("the stack", v))
	}
	switch fn := d.ctx.Backend.Fn.(type) {
	case *vm.Function, *vm.Instance, *vm.BoundMethod:
		var terr error
		if r.BackendFn, terr = w.Try(fn); terr != nil {
			return nil, terr
		}
	}
	if err != nil {
		return nil, err
	}
	if r.Operators, err = w.Operators(); err != nil {
		return nil, err
	}
	if err := d.recordConfig(r, w); err != nil {
		return nil, err
	}
	for source, s := range d.history[codeIDOf(f.Code.Code)] {
		if r.Seen == nil {
			r.Seen = map[string]recordedSeen{}
		}
		r.Seen[source] = recordedSeen{add("sizes", s.number), s.wild, s.size, s.free, s.rank, s.stride, s.shift}
	}
	r.Values, err = w.Finish()
	return r, err
}

// recordConfig keeps the settings.
func (d *Dynamo) recordConfig(r *FrameRecord, w *snap.Encoder) error {
	m, err := d.In.Import("torch._dynamo.config")
	if err != nil {
		return err
	}
	all, err := d.In.CallMethod(m, "get_config_copy")
	if err != nil {
		return err
	}
	dict, _ := vm.AsDict(all)
	if dict == nil {
		return fmt.Errorf("torch._dynamo.config.get_config_copy() gave a %s", all.Type().FullName())
	}
	for _, k := range dict.Keys() {
		v, _, _ := dict.Get(d.In, k)
		name, _ := vm.AsStr(k)
		if r.Config[name], err = w.Try(v); err != nil {
			return err
		}
	}
	return nil
}

// codeIDOf is the id of a code object.
func codeIDOf(c *code.Code) codeID { return codeID{c.Filename, c.Name, c.FirstLine} }

// came notes what a capture came to.
func (d *Dynamo) came(ev *FrameEvent) Came {
	c := Came{Status: ev.Status, Breaks: ev.breaks}
	if ev.Graph != nil {
		c.Graph = ev.Graph.String()
	}
	if ev.Err != nil {
		c.Error, c.Kind = ev.Err.Error(), "Unsupported"
		var r *vm.Raised
		if errors.As(ev.Err, &r) {
			c.Kind = r.Exc.Class.Qualname
		}
	}
	return c
}

// Replay captures a recorded frame again, in an interpreter that need not have run anything before, and runs what was made of it. backend
// gives a registered backend by its name. It returns what the capture came to, and the error that the frame ended with.
func (d *Dynamo) Replay(r *FrameRecord, backend func(name string) (vm.Object, error)) (Came, error) {
	var came Came
	for _, m := range []string{"torch", "torch._dynamo.config"} {
		if _, err := d.In.Import(m); err != nil {
			return came, err
		}
	}
	w := snap.NewDecoder(r.Values, d.In, d.T)
	var err error
	get := func(i int) vm.Object {
		if err != nil {
			return nil
		}
		var v vm.Object
		v, err = w.Get(i)
		return v
	}
	for _, i := range r.Operators {
		get(i)
	}
	fn, _ := get(r.Func).(*vm.Function)
	c, _ := get(r.Code).(*vm.Code)
	var fnBackend vm.Object
	if r.BackendFn >= 0 {
		fnBackend = get(r.BackendFn)
	} else if err == nil {
		fnBackend, err = backend(r.Backend)
	}
	if err != nil {
		return came, err
	}
	if fn == nil || c == nil || len(r.Locals) != c.NLocalsPlus() || len(r.Stack) > c.StackSize+1 || r.PC < 0 || r.PC >= len(c.Instrs) {
		return came, fmt.Errorf("the record of %s is damaged", r.Function)
	}
	f := d.In.NewFrame(fn, c)
	for i, k := range r.Locals {
		f.LocalsPlus[i] = get(k)
	}
	for i, k := range r.Stack {
		f.Stack[i] = get(k)
	}
	f.SP, f.PC = len(r.Stack), r.PC
	names := make([]string, 0, len(r.Config))
	for name := range r.Config {
		names = append(names, name)
	}
	sort.Strings(names)
	config, cerr := d.In.Import("torch._dynamo.config")
	if cerr != nil {
		return came, cerr
	}
	for _, name := range names {
		if v := get(r.Config[name]); err == nil {
			err = d.In.SetAttr(config, name, v)
		}
	}
	seen := map[string]*seenSizes{}
	for source, s := range r.Seen {
		seen[source] = &seenSizes{get(s.Number), s.Wild, s.Size, s.Free, s.Rank, s.Stride, s.Shift}
	}
	if err != nil {
		return came, err
	}
	ctx := &Context{FullGraph: r.FullGraph, Dynamic: r.Dynamic, Backend: Backend{Name: r.Backend, Fn: fnBackend, Compile: func(gm vm.Object, inputs []vm.Object) (vm.Object, error) {
		return d.In.Call(fnBackend, []vm.Object{gm, vm.NewList(inputs...)}, nil)
	}}}
	d.history[codeIDOf(c.Code)] = seen
	st := &codeState{}
	for _, why := range slices.Backward(r.Failed) {
		id, why, _ := strings.Cut(why, ": ")
		st.entries = append(st.entries, &entry{id: id, ctx: ctx, guards: guard.NeverHolds(why)})
	}
	d.codes[c.Code] = st
	d.always[c.Code] = r.Always
	d.T.Grad.SetEnabled(r.Grad)
	defer d.push(func(u *underway, a *torch.Ambient) { u.ctx, a.FrameHook = ctx, d.frame })()
	oldFrame := d.Observe.Frame
	defer func() { d.Observe.Frame = oldFrame }()
	first := true
	d.Observe.Frame = func(ev *FrameEvent) {
		if first {
			came, first = d.came(ev), false
		}
		if oldFrame != nil {
			oldFrame(ev)
		}
	}
	_, err = d.compiled(f)
	return came, err
}
