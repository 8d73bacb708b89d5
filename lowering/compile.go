package lowering

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/klauspost/cpuid/v2"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/native"
	"whittle/kernels/tensor"
	"whittle/lowering/codegen"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
	"whittle/lowering/tiles"
)

// Compiled is a graph ready to run.
type Compiled struct {
	// Source is the generated C++, "" when no loop was left to generate.
	Source string
	// Steps describes the work in order, a line each: for debug dumps.
	Steps []string
	// Loops describes the work before loops were joined in kernels, a line each.
	Loops []string

	graph   *fx.Graph
	attrs   map[string]*tensor.Tensor
	subs    map[string]*fx.GraphModule // branches of torch.cond, which run on the eager kernels
	l       *lowerer
	steps   []sched.Step // after fusion
	program []instr

	mu      sync.Mutex // of what follows
	lib     *native.Library
	build   <-chan built // what is compiled while the first run is on tiles; nil once it is there
	ran     bool         // on tiles, while it was not
	tried   bool         // a run began that was as all later ones are
	err     error        // why there is no lib
	outs    []fx.Arg
	last    map[*ir.Buffer]int
	dead    [][]*ir.Buffer // what no step after each touches, and no output is
	resolve fx.Resolver    // runs extern calls
}

// built is what a compiler made.
type built struct {
	lib *native.Library
	err error
}

// instr is one step of the program; exactly one of the fields is set.
type instr struct {
	kernel *codegen.Kernel
	index  int64
	tiles  *tiles.Program // instead of the kernel's code, or until that is compiled
	tiled  bool           // tiles are faster than it
	node   *fx.Node
	view   *viewStep
	bounds *bounds
}

// buffers own the memory that the loops of an instruction touch; tiles have what generated code has as variables in memory, too.
func (in instr) buffers() []*ir.Buffer {
	switch {
	case in.tiles != nil:
		return in.tiles.Buffers()
	case in.kernel != nil:
		return in.kernel.Bufs
	}
	return nil
}

// Compile lowers gm, builds its kernels and returns the program. Placeholders and nodes must carry fake values in Val.
func Compile(ctx context.Context, gm *fx.GraphModule, cfg Config) (*Compiled, error) {
	insists := cfg.Tier != Any
	if !insists {
		var err error
		if cfg.Tier, insists, err = wanted(); err != nil {
			return nil, err
		}
	}
	end := cfg.phase("GraphLowering.run")
	l, err := lower(gm, cfg)
	if end(); err != nil {
		return nil, err
	}
	c := &Compiled{resolve: interp.Aten(ctx, aten.Eager), graph: gm.Graph, attrs: gm.Attrs, subs: gm.Submodules, l: l, last: map[*ir.Buffer]int{}}
	for i, s := range l.steps {
		switch o := s.Other.(type) {
		case extern:
			c.Loops = append(c.Loops, fmt.Sprintf("op%d: extern %s: %s", i, o.node.Target, o.node.Name))
		case viewStep:
			c.Loops = append(c.Loops, fmt.Sprintf("op%d: view %s of %s", i, o.buf.Name, o.of.Name))
		}
		for _, x := range s.Loops {
			c.Loops = append(c.Loops, fmt.Sprintf("op%d: loops %s", i, x))
		}
	}
	defer cfg.phase("GraphLowering.compile_to_fn")()
	defer cfg.phase("GraphLowering.compile_to_module")()
	generated := cfg.phase("GraphLowering.codegen")
	var src, table strings.Builder
	var loops [][]*ir.Loops    // of the kernels
	same := map[string]int64{} // the text of a kernel without comments => the first that has it: layers that are alike share their code
	end = cfg.phase("Scheduler.__init__")
	fused := cfg.phase("Scheduler.fused_nodes")
	steps := sched.Fuse(l.steps, cfg.Choices)
	c.steps = steps
	fused()
	alone := l.touched(steps)
	end()
	local := func(at int) func(*ir.Buffer) bool { return func(b *ir.Buffer) bool { return alone[b] == at } }
	results := l.unread(steps)
	result := func(b *ir.Buffer) bool { return results[b] }
	var best map[int]Form
	if cfg.Tuned != nil && cfg.Tier == Cpp {
		if best, err = tune(ctx, cfg, steps, local, result); err != nil {
			return nil, err
		}
	}
	end = cfg.phase("Scheduler.codegen")
	for at, s := range steps {
		switch o := s.Other.(type) {
		case extern:
			c.program = append(c.program, instr{node: o.node})
			c.Steps = append(c.Steps, "extern "+o.node.Target)
		case viewStep:
			c.program = append(c.program, instr{view: &o})
		case bounds:
			c.program = append(c.program, instr{bounds: &o})
			c.Steps = append(c.Steps, fmt.Sprintf("bounds of %s for %s", o.index.Name, o.node.Name))
		default:
			form := Form{threads: threads(cfg, s)}
			if f, ok := best[at]; ok {
				form = f
			}
			k := codegen.Generate(s.Loops, codegen.Options{Threads: form.threads, Local: local(at), Result: result})
			i := len(c.program)
			body := strings.TrimPrefix(k.Source, codegen.Prelude)
			index, known := same[native.Uncommented(body)]
			if !known {
				index = int64(i)
				same[native.Uncommented(body)] = index
				writeKernel(&src, &table, body, index)
			}
			next := instr{kernel: k, index: index}
			if next.tiled = form.tiles; cfg.Tier == Tiles || next.tiled {
				if next.tiles, err = tiles.New(s.Loops); err != nil {
					return nil, &LoweringError{Type: "NotImplementedError", Msg: err.Error(), Target: strings.Join(s.Loops[0].Origins, ", ")}
				}
			}
			loops = append(loops, s.Loops)
			c.program = append(c.program, next)
			for _, x := range s.Loops {
				c.Steps = append(c.Steps, fmt.Sprintf("kernel%d %s", i, x))
			}
		}
	}
	end()
	generated()
	if out := gm.Graph.OutputNode(); out != nil {
		switch a := out.Args[0].(type) {
		case fx.Tuple:
			c.outs = a
		case fx.List:
			c.outs = a
		default:
			c.outs = []fx.Arg{a}
		}
	}
	if table.Len() == 0 {
		c.liveness()
		return c, nil
	}
	c.Source = moduleSource(src.String(), table.String())
	defer c.liveness()
	if cfg.Tier == Tiles {
		return c, nil
	}
	defer cfg.phase("compile_file")()
	b := &native.Builder{Dir: cfg.CacheDir}
	if cfg.Background != nil && cfg.Tuned == nil && !insists && !b.Has(c.Source) && c.onTiles(loops) {
		made := make(chan built, 1)
		c.build = made
		cfg.Background.Go(func() {
			lib, err := b.Build(ctx, c.Source)
			made <- built{lib, err}
		})
		return c, nil
	}
	lib, err := b.Build(ctx, c.Source)
	if err := c.loaded(built{lib, err}); err != nil {
		return nil, err
	}
	return c, nil
}

// writeKernel adds a kernel's body, and its row in the table of the module's one entry.
func writeKernel(src, table *strings.Builder, body string, index int64) {
	src.WriteString(strings.Replace(body, kernelHead, fmt.Sprintf("static void kernel%d(void** bufs)", index), 1))
	fmt.Fprintf(table, "    case %d: kernel%d(bufs); break;\n", index, index)
}

const kernelHead = `extern "C" void kernel(void** bufs, const int64_t* sizes)`

// moduleSource is the text of a module with these kernels.
func moduleSource(kernels, table string) string {
	return codegen.Prelude + kernels + kernelHead + " {\n  switch (sizes[0]) {\n" + table + "  }\n}\n"
}

// onTiles prepares the kernels' loops for tiles, as far as those know all of their operators.
func (c *Compiled) onTiles(loops [][]*ir.Loops) bool {
	var made []*tiles.Program
	for _, l := range loops {
		p, err := tiles.New(l)
		if err != nil {
			return false
		}
		made = append(made, p)
	}
	for i := range c.program {
		if c.program[i].kernel != nil {
			c.program[i].tiles, made = made[0], made[1:]
		}
	}
	return true
}

// loaded takes what a compiler made.
func (c *Compiled) loaded(b built) error {
	if b.err != nil {
		return refused(b.err, c.Source)
	}
	c.lib = b.lib
	return nil
}

// refused is err as the error of this package where the compiler refused source.
func refused(err error, source string) error {
	var ce *native.CompileError
	if errors.As(err, &ce) {
		return &CompileError{Cmd: ce.Cmd, Output: ce.Output, Source: source}
	}
	return err
}

// ready waits for what is compiled, from the second run on, and gives the generated code; nil where the run is on tiles.
func (c *Compiled) ready() (*native.Library, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.build != nil && !c.ran {
		c.ran = true
		return nil, nil
	}
	if c.build != nil {
		c.err, c.build = c.loaded(<-c.build), nil
	}
	c.tried = true
	return c.lib, c.err
}

// touched says of each buffer that owns memory which step touches it; -1 if there are several, or if it is an output.
func (l *lowerer) touched(steps []sched.Step) map[*ir.Buffer]int {
	by := map[*ir.Buffer]int{}
	touch := func(b *ir.Buffer, step int) {
		if have, ok := by[b.Owner()]; ok && have != step {
			step = -1
		}
		by[b.Owner()] = step
	}
	node := func(n *fx.Node, step int) {
		if v := l.vals[n]; v != nil && v.buf != nil {
			touch(v.buf, step)
		}
	}
	for i, s := range steps {
		for _, x := range s.Loops {
			touch(x.Out, i)
			x.Value.Reads(func(e *ir.Expr) { touch(e.Buf, i) })
		}
		if o, ok := s.Other.(bounds); ok {
			touch(o.index, i)
		}
		if o, ok := s.Other.(extern); ok {
			node(o.node, i)
			o.node.WalkInputs(func(n *fx.Node) { node(n, i) })
		}
	}
	for _, n := range l.graph.Nodes {
		switch n.Op {
		case fx.Placeholder, fx.GetAttr:
			node(n, -1)
		case fx.Output:
			n.WalkInputs(func(n *fx.Node) { node(n, -1) })
		}
	}
	return by
}

// large is the size in bytes from which memory for a result is likely not in a cache: a quarter of the last one, which other work has a part of, too. What
// a program drops it is handed again, so that smaller results are where they were.
var large = max(1<<20, int64(cpuid.CPU.Cache.L3)/4)

// unread are the large results of the program that no step reads.
func (l *lowerer) unread(steps []sched.Step) map[*ir.Buffer]bool {
	out := map[*ir.Buffer]bool{}
	node := func(n *fx.Node, is bool) {
		if v := l.vals[n]; v == nil || v.buf == nil {
			return
		} else if b := v.buf.Owner(); !is {
			delete(out, b)
		} else if tensor.Numel(b.Shape)*int64(b.DType.Size()) >= large {
			out[b] = true
		}
	}
	l.graph.OutputNode().WalkInputs(func(n *fx.Node) { node(n, true) })
	for _, s := range steps {
		for _, x := range s.Loops {
			x.Value.Reads(func(e *ir.Expr) { delete(out, e.Buf.Owner()) })
		}
		switch o := s.Other.(type) {
		case bounds:
			delete(out, o.index.Owner())
		case extern:
			o.node.WalkInputs(func(n *fx.Node) { node(n, false) })
		}
	}
	for _, n := range l.graph.Nodes {
		if n.Op == fx.Placeholder || n.Op == fx.GetAttr {
			node(n, false)
		}
	}
	return out
}

// threads is how many threads a kernel may use.
func threads(cfg Config, s sched.Step) int {
	var origins []string
	for _, l := range s.Loops {
		origins = append(origins, l.Origins...)
	}
	if all := strings.Join(origins, ", "); !cfg.Choices.Take("threads", all, "", "") {
		return 1
	}
	return cfg.Threads
}

// liveness notes the last step that touches each buffer, so that memory is used again early.
func (c *Compiled) liveness() {
	for i, in := range c.program {
		switch {
		case in.kernel != nil:
			for _, b := range in.buffers() {
				c.last[b] = i
			}
		case in.view != nil:
			c.last[in.view.of.Owner()] = i
		case in.bounds != nil:
			c.last[in.bounds.index.Owner()] = i
		default:
			in.node.WalkInputs(func(n *fx.Node) {
				if v := c.l.vals[n]; v != nil && v.buf != nil {
					c.last[v.buf.Owner()] = i
				}
			})
		}
	}
	c.graph.OutputNode().WalkInputs(func(n *fx.Node) {
		if v := c.l.vals[n]; v != nil && v.buf != nil {
			c.last[v.buf.Owner()] = len(c.program)
		}
	})
	c.dead = make([][]*ir.Buffer, len(c.program)+1)
	for b, i := range c.last {
		c.dead[i] = append(c.dead[i], b)
	}
	c.dead = c.dead[:len(c.program)]
}

// frame is one run: the memory of each owning buffer and the values of nodes that are no tensors.
type frame struct {
	c      *Compiled
	lib    *native.Library // nil: tiles run the loops
	mem    map[*ir.Buffer]*tensor.Tensor
	scalar map[*fx.Node]aten.Value
	own    map[*tensor.Storage]bool // made by the run, and known to it alone
}

// Tried reports whether the loops ran as they will from now on: in generated code, where that is compiled.
func (c *Compiled) Tried() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tried
}

// Run executes the program on real inputs, one per placeholder.
func (c *Compiled) Run(inputs []aten.Value) ([]aten.Value, error) {
	lib, err := c.ready()
	if err != nil {
		return nil, &BuildError{err}
	}
	f := &frame{c: c, lib: lib, mem: make(map[*ir.Buffer]*tensor.Tensor, len(c.program)+len(inputs)), scalar: map[*fx.Node]aten.Value{}, own: map[*tensor.Storage]bool{}}
	k := 0
	for _, n := range c.graph.Nodes {
		switch n.Op {
		case fx.Placeholder:
			if k >= len(inputs) {
				return nil, fmt.Errorf("compiled graph takes more than %d inputs", len(inputs))
			}
			f.bind(n, inputs[k])
			k++
		case fx.GetAttr:
			if sub := c.subs[n.Target]; sub != nil {
				f.scalar[n] = sub
				continue
			}
			f.bind(n, c.attrs[n.Target])
		}
	}
	if k != len(inputs) {
		return nil, fmt.Errorf("compiled graph takes %d inputs, got %d", k, len(inputs))
	}
	for i, in := range c.program {
		var err error
		switch {
		case in.kernel != nil:
			f.kernel(in)
		case in.node != nil:
			err = f.extern(in.node)
		case in.bounds != nil:
			err = f.bounds(*in.bounds)
		}
		if err != nil {
			return nil, err
		}
		for _, b := range c.dead[i] {
			f.drop(b)
		}
	}
	outs := make([]aten.Value, len(c.outs))
	for i, o := range c.outs {
		v, err := f.arg(o)
		if err != nil {
			return nil, err
		}
		outs[i] = v
	}
	return outs, nil
}

// drop lets go of a buffer.
func (f *frame) drop(b *ir.Buffer) {
	t := f.mem[b]
	delete(f.mem, b)
	if t != nil && f.own[t.Storage] {
		delete(f.own, t.Storage)
		t.Storage.Recycle()
	}
}

// bind gives a node its run-time value. A tensor in another layout than the one compiled for is copied into that layout.
func (f *frame) bind(n *fx.Node, v aten.Value) {
	x := f.c.l.vals[n]
	t, ok := v.(*tensor.Tensor)
	if x == nil || x.buf == nil || !ok {
		f.scalar[n] = v
		return
	}
	f.mem[x.buf] = layout(t, x.buf)
}

// layout is t under the strides that b was compiled for: t itself if it has these, else a copy.
func layout(t *tensor.Tensor, b *ir.Buffer) *tensor.Tensor {
	for i, s := range t.Stride {
		if t.Shape[i] > 1 && s != b.Stride[i] {
			d := tensor.EmptyUnset(b.DType, b.Shape, b.Stride)
			tensor.Copy(d, t)
			return d
		}
	}
	return t
}

// kernel calls a generated function on the memory of its buffers. Buffers that nobody has written yet are made now, and released after the
// last step that touches them.
func (f *frame) kernel(in instr) {
	bufs := in.kernel.Bufs
	onTiles := f.lib == nil || in.tiled
	if onTiles {
		bufs = in.tiles.Buffers()
	}
	ptrs := make([]unsafe.Pointer, len(bufs))
	for i, b := range bufs {
		t := f.mem[b]
		if t == nil {
			t = tensor.EmptyUnset(b.DType, b.Shape, fullStrides(b))
			f.mem[b] = t
			f.own[t.Storage] = true
		}
		ptrs[i] = t.Ptr()
	}
	if onTiles {
		in.tiles.Run(f.mem)
		return
	}
	f.lib.Call(ptrs, []int64{in.index})
}

// fullStrides are the strides under which a reduction's result was laid out: those of its shape.
func fullStrides(b *ir.Buffer) []int64 {
	if len(b.Stride) == len(b.Shape) {
		return b.Stride
	}
	return tensor.ContiguousStrides(b.Shape)
}

// tensorOf is a value in memory as a tensor; views share storage and have no autograd base.
func (f *frame) tensorOf(v *value) *tensor.Tensor {
	o := v.buf.Owner()
	t := f.mem[o]
	if t == nil {
		return nil
	}
	if v.buf == o && len(v.buf.Stride) == len(t.Stride) {
		return t
	}
	return &tensor.Tensor{Storage: t.Storage, DType: v.buf.DType, Shape: append([]int64(nil), v.buf.Shape...),
		Stride: append([]int64(nil), v.buf.Stride...), Offset: t.Offset + v.buf.Offset}
}

// arg is the value of an argument of an extern call or of the output. A node whose value is lazy still has no memory, and no business here:
// lowering realises what is read.
func (f *frame) arg(a fx.Arg) (aten.Value, error) {
	switch a := a.(type) {
	case *fx.Node:
		if v, ok := f.scalar[a]; ok {
			return v, nil
		}
		v := f.c.l.vals[a]
		if v == nil || v.buf == nil {
			return nil, fmt.Errorf("value of node %s is not in memory", a.Name)
		}
		t := f.tensorOf(v)
		if t == nil {
			return nil, fmt.Errorf("buffer %s of node %s was never written", v.buf.Name, a.Name)
		}
		return t, nil
	case fx.List:
		return f.args(a)
	case fx.Tuple:
		return f.args(a)
	case fx.SymInt:
		return a.Hint, nil
	}
	return a, nil
}

// args is arg for each of a list.
func (f *frame) args(as []fx.Arg) ([]aten.Value, error) {
	out := make([]aten.Value, len(as))
	for i, a := range as {
		v, err := f.arg(a)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// extern runs a node's eager kernel.
func (f *frame) extern(n *fx.Node) error {
	args, err := f.args(n.Args)
	if err != nil {
		return err
	}
	kw := map[string]aten.Value{}
	for _, k := range n.Kwargs {
		if kw[k.Name], err = f.arg(k.Val); err != nil {
			return err
		}
	}
	out, err := f.c.resolve(n, args, kw)
	if err != nil {
		return fmt.Errorf("%s (node %s): %w", n.Target, n.Name, err)
	}
	f.owns(n, args, kw, out)
	f.bind(n, out)
	return nil
}

// bounds looks at an index.
func (f *frame) bounds(b bounds) error {
	t := f.tensorOf(&value{buf: b.index})
	low := int64(0)
	if b.below {
		low = -b.size
	}
	if t.Within(low, b.size) {
		return nil
	}
	if err := f.extern(b.node); err != nil {
		return err
	}
	return fmt.Errorf("%s (node %s): an element of %s is not in [%d, %d)", b.node.Target, b.node.Name, b.index.Name, low, b.size)
}

// owns notes which storages a call has made that nobody but the run knows: those of an operator of PyTorch's that are none of its operands', each of one
// result. An operand that a result shares, or that something else than such an operator was given, may be known elsewhere from then on.
func (f *frame) owns(n *fx.Node, args []aten.Value, kw map[string]aten.Value, out aten.Value) {
	if n.Target == "operator.getitem" {
		return
	}
	given, made := map[*tensor.Storage]int{}, map[*tensor.Storage]int{}
	count := func(in map[*tensor.Storage]int, v aten.Value) {
		_, _ = aten.MapTensors(v, func(t *tensor.Tensor) (aten.Value, error) { in[t.Storage]++; return t, nil })
	}
	count(given, args)
	for _, v := range kw {
		count(given, v)
	}
	count(made, out)
	plain := n.Operator() != nil && n.Operator().Library == nil
	for s := range given {
		if !plain || made[s] > 0 {
			delete(f.own, s)
		}
	}
	for s, times := range made {
		if plain && given[s] == 0 && times == 1 {
			f.own[s] = true
		}
	}
}
