package triton

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// A Step is one unit of work: a group of loops, or a call of an operator that no loop stands for.
type Step struct {
	Loops []*ir.Loops
	Call  *fx.Node
}

// A Program is a lowered graph.
type Program struct {
	Graph *fx.Graph
	Attrs map[string]*tensor.Tensor // constants of the graph
	Steps []Step
	// Buffer is where the value of a node lies; nil => it is no tensor in memory.
	Buffer func(*fx.Node) *ir.Buffer
	// Kind is inference, forward or backward.
	Kind string
	// Device is what kernels are made for.
	Device Device
}

// A module is what Write puts together.
type module struct {
	Program
	b      strings.Builder
	call   strings.Builder // the body of call
	names  map[any]string  // of memory (*ir.Buffer), and of nodes without (*fx.Node)
	nbuf   int
	last   map[any]int // the last step that touches it
	kept   map[any]bool
	inputs map[*ir.Buffer]bool
	uses   map[*fx.Node]int // by other nodes
}

// Write is the Python module of a program. Its call(args) takes the arguments of the graph, in a list that it clears, and returns a tuple.
func Write(p Program) (string, error) {
	m := &module{Program: p, names: map[any]string{}, last: map[any]int{}, kept: map[any]bool{}, inputs: map[*ir.Buffer]bool{}, uses: map[*fx.Node]int{}}
	for n, us := range p.Graph.Users() {
		m.uses[n] = len(us)
	}
	units, err := m.schedule()
	if err != nil {
		return "", err
	}
	m.prologue()
	args := m.arguments()
	known := map[string]string{}
	for i, u := range units {
		if u.kernel != nil {
			m.launch(u.kernel, known)
		} else if err := m.extern(u.call); err != nil {
			return "", err
		}
		m.release(i)
	}
	results, err := m.results()
	if err != nil {
		return "", err
	}
	m.b.WriteString("\nasync_compile.wait(globals())\ndel async_compile\n\n")
	m.b.WriteString("def call(args):\n" + args + m.call.String() + "    return (" + results + ")\n\n\n")
	m.benchmark()
	return m.b.String(), nil
}

// A unit is a kernel or a call of another operator.
type unit struct {
	kernel *Kernel
	call   *fx.Node
}

// touches calls f for the memory, or the node, of all that a unit reads or makes.
func (m *module) touches(u unit, f func(any)) {
	if u.kernel != nil {
		u.kernel.touches(func(b *ir.Buffer) { f(b) })
		return
	}
	f(m.key(u.call))
	u.call.WalkInputs(func(n *fx.Node) { f(m.key(n)) })
}

// key is the memory that the value of a node lies in, or else the node.
func (m *module) key(n *fx.Node) any {
	if b := m.Buffer(n); b != nil {
		return b.Owner()
	}
	return n
}

// schedule plans the kernels, writes them, and finds out how long memory is needed. What one kernel alone touches need not be memory.
func (m *module) schedule() ([]unit, error) {
	var units []unit
	for _, s := range m.Steps {
		if s.Call != nil {
			units = append(units, unit{call: s.Call})
		}
		for _, k := range Plan(s.Loops) {
			units = append(units, unit{kernel: k})
		}
	}
	first := map[any]int{}
	for i, u := range units {
		m.touches(u, func(k any) {
			if _, ok := first[k]; !ok {
				first[k] = i
			}
			m.last[k] = i
		})
	}
	for _, n := range m.Graph.Nodes {
		switch n.Op {
		case fx.Placeholder, fx.GetAttr:
			m.kept[m.key(n)] = n.Op == fx.GetAttr
			if b := m.Buffer(n); b != nil {
				m.inputs[b.Owner()] = true
			}
		case fx.Output:
			n.WalkInputs(func(in *fx.Node) { m.kept[m.key(in)] = true })
		}
	}
	input := func(b *ir.Buffer) bool { return m.inputs[b] }
	for i, u := range units {
		if u.kernel == nil {
			continue
		}
		g, err := u.kernel.generate(nil, input)
		if err != nil {
			return nil, err
		}
		hidden := map[*ir.Buffer]bool{}
		for _, b := range g.written {
			if first[b] == i && m.last[b] == i && !m.kept[b] && !m.inputs[b] && !g.loaded[b] {
				hidden[b] = true
			}
		}
		if len(hidden) > 0 {
			if _, err := u.kernel.generate(hidden, input); err != nil {
				return nil, err
			}
		}
	}
	return units, nil
}

// prologue writes the imports.
func (m *module) prologue() {
	fmt.Fprintf(&m.b, "# AOT ID: ['0_%s']\n", m.Kind)
	m.b.WriteString(`from ctypes import c_void_p, c_long, c_int
import torch
import math
import random
import os
import tempfile
from math import inf, nan
from torch._inductor.hooks import run_intermediate_hooks
from torch._inductor.utils import maybe_profile
from torch._inductor.codegen.memory_planning import _align as align
from torch import device, empty_strided
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
from torch._inductor.codegen.multi_kernel import MultiKernelCall
import triton
import triton.language as tl
from torch._inductor.runtime.triton_heuristics import (
    grid,
    split_scan_grid,
    grid_combo_kernels,
    start_graph,
    end_graph,
    cooperative_reduction_grid,
)
from torch._C import _cuda_getCurrentRawStream as get_raw_stream

aten = torch.ops.aten
inductor_ops = torch.ops.inductor
_quantized = torch.ops._quantized
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
empty_strided_xpu = torch._C._dynamo.guards._empty_strided_xpu
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
alloc_from_pool = torch.ops.inductor._alloc_from_pool
async_compile = AsyncCompile()
`)
	for _, n := range m.Graph.Nodes {
		if n.Op == fx.GetAttr {
			m.constant(n)
		}
	}
	m.b.WriteString("\n")
}

// constant writes a tensor of the graph, once for all calls.
func (m *module) constant(n *fx.Node) {
	name := n.Name
	m.names[m.key(n)] = name
	t := m.Attrs[n.Target]
	if t == nil {
		return // a graph; who calls with it says so
	}
	var xs []string
	for i := range t.Numel() {
		switch {
		case t.DType == tensor.Bool:
			xs = append(xs, fx.FormatArg(t.AtInt(i) != 0))
		case t.DType.IsFloat():
			xs = append(xs, fx.FormatArg(t.At(i)))
		default:
			xs = append(xs, fx.FormatArg(t.AtInt(i)))
		}
	}
	fmt.Fprintf(&m.b, "%s = empty_strided_cuda(%s, %s, torch.%s)\n", name, tuple(t.Shape), tuple(t.Stride), t.DType)
	fmt.Fprintf(&m.b, "%s.copy_(torch.tensor([%s], dtype=torch.%s).view(%s))\n", name, strings.Join(xs, ", "), t.DType, tuple(t.Shape))
}

// tuple is a Python tuple of sizes, as Inductor prints it.
func tuple(xs []int64) string {
	var b strings.Builder
	for i, x := range xs {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, x)
	}
	if len(xs) == 1 {
		b.WriteString(", ")
	}
	return "(" + b.String() + ")"
}

// line writes one line of call.
func (m *module) line(format string, args ...any) {
	fmt.Fprintf(&m.call, "        "+format+"\n", args...)
}

// reserved are the names that call uses itself.
var reserved = regexp.MustCompile(`^(args|aten|device|grid|extern_kernels|get_raw_stream|stream0|torch|inf|nan|empty_strided_cuda|reinterpret_tensor|assert_size_stride|buf[0-9]+|triton_.*)$`)

// arguments names what call is given, and checks it.
func (m *module) arguments() string {
	var b strings.Builder
	var names, checks []string
	for _, n := range m.Graph.Placeholders() {
		name := n.Name
		if reserved.MatchString(name) {
			name += "_"
		}
		names = append(names, name)
		m.names[m.key(n)] = name
		if t, ok := n.Val.(*tensor.Tensor); ok && t != nil {
			checks = append(checks, fmt.Sprintf("    assert_size_stride(%s, %s, %s)\n", name, tuple(t.Shape), tuple(t.Stride)))
		}
	}
	if len(names) > 0 {
		comma := ""
		if len(names) == 1 {
			comma = ","
		}
		fmt.Fprintf(&b, "    %s%s = args\n", strings.Join(names, ", "), comma)
	}
	b.WriteString("    args.clear()\n" + strings.Join(checks, "") + "    with torch.cuda._DeviceGuard(0):\n        torch.cuda.set_device(0)\n")
	return b.String()
}

// buffer is the name of new memory.
func (m *module) buffer(k any) string {
	name := fmt.Sprintf("buf%d", m.nbuf)
	m.nbuf++
	m.names[k] = name
	return name
}

// allocate makes memory that nobody has written yet.
func (m *module) allocate(b *ir.Buffer) {
	if m.names[b] != "" {
		return
	}
	m.line("%s = empty_strided_cuda(%s, %s, torch.%s)", m.buffer(b), tuple(b.Shape), tuple(strides(b)), b.DType)
}

// strides are those that memory is made with. The result of a reduction has the strides of what is kept alone.
func strides(b *ir.Buffer) []int64 {
	if len(b.Stride) != len(b.Shape) {
		return tensor.ContiguousStrides(b.Shape)
	}
	return b.Stride
}

// operator is what a node's operator is called in the name of a kernel.
func operator(n *fx.Node) string {
	if op := n.Operator(); op != nil {
		return op.Sig().Name
	}
	return ""
}

// launch writes a kernel, unless there is one like it, and its launch.
func (m *module) launch(k *Kernel, known map[string]string) {
	var names, fragment []string
	for _, o := range k.Origins {
		if n := m.Graph.Node(o); n != nil {
			if name := n.Target; n.Operator() != nil && !slices.Contains(names, name[:strings.LastIndexByte(name, '.')]) {
				names = append(names, name[:strings.LastIndexByte(name, '.')])
			}
			plain := *n
			plain.Type = ""
			fragment = append(fragment, "#   "+fx.FormatNode(&plain, m.uses[n]))
		}
	}
	slices.Sort(names)
	comment := fmt.Sprintf("# Topologically Sorted Source Nodes: [%s], Original ATen: [%s]", strings.Join(k.Origins, ", "), strings.Join(names, ", "))
	name, ok := known[k.Source]
	if !ok {
		title := k.title(func(o string) string {
			if n := m.Graph.Node(o); n != nil {
				return operator(n)
			}
			return ""
		})
		name = fmt.Sprintf("%s_%d", title, len(known))
		known[k.Source] = name
		fmt.Fprintf(&m.b, "\n%s\n# Graph fragment:\n%s\n%s = async_compile.triton('%s', '''%s''', device_str='cuda')\n\n", comment, strings.Join(fragment, "\n"), name, name,
			strings.ReplaceAll(k.named(name, m.Device), `\`, `\\`))
	}
	k.Name = name
	var args []string
	for _, b := range k.Args {
		m.allocate(b)
		args = append(args, m.names[b])
	}
	args = append(args, fmt.Sprint(k.X))
	if k.R > 0 {
		args = append(args, fmt.Sprint(k.R))
	}
	m.line("%s", comment)
	m.line("stream0 = get_raw_stream(0)")
	m.line("%s.run(%s, grid=grid(%d), stream=stream0)", name, strings.Join(args, ", "), k.X)
}

// release drops what step i was the last to touch.
func (m *module) release(i int) {
	var names []string
	for k, at := range m.last {
		if at == i && !m.kept[k] && m.names[k] != "" {
			names = append(names, m.names[k])
		}
	}
	slices.Sort(names)
	for _, n := range names {
		m.line("del %s", n)
	}
}

// tensor is the Python of a value in memory: its memory, or a view of that.
func (m *module) tensor(b *ir.Buffer) (string, error) {
	o := b.Owner()
	m.allocate(o) // of which nothing was written: it has no elements
	name := m.names[o]
	if b == o || slices.Equal(b.Shape, o.Shape) && slices.Equal(b.Stride, strides(o)) && b.Offset == 0 {
		return name, nil
	}
	if b.DType != o.DType {
		return "", fmt.Errorf("%s is read as %s", o.DType, b.DType)
	}
	return fmt.Sprintf("reinterpret_tensor(%s, %s, %s, %d)", name, tuple(b.Shape), tuple(b.Stride), b.Offset), nil
}

// argument is the Python of an argument of a call. Devices are the one that the module is for.
func (m *module) argument(a fx.Arg) (string, error) {
	list := func(as []fx.Arg, open, close string) (string, error) {
		var out []string
		for _, a := range as {
			s, err := m.argument(a)
			if err != nil {
				return "", err
			}
			out = append(out, s)
		}
		return open + strings.Join(out, ", ") + close, nil
	}
	switch a := a.(type) {
	case *fx.Node:
		if b := m.Buffer(a); b != nil {
			return m.tensor(b)
		}
		if s := m.names[a]; s != "" {
			return s, nil
		}
		return "", fmt.Errorf("the value of %s is not known", a.Name)
	case fx.List:
		return list(a, "[", "]")
	case fx.Tuple:
		if len(a) == 1 {
			return list(a, "(", ",)")
		}
		return list(a, "(", ")")
	case fx.SymInt:
		return fmt.Sprint(a.Hint), nil
	case tensor.Device:
		if a.Type == "cpu" || a.Type == "cuda" {
			return "device(type='cuda', index=0)", nil
		}
	}
	return fx.FormatArg(a), nil
}

// arguments are the Python of a call's arguments.
func (m *module) callArguments(n *fx.Node) ([]string, error) {
	var out []string
	for _, a := range n.Args {
		s, err := m.argument(a)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	for _, k := range n.Kwargs {
		s, err := m.argument(k.Val)
		if err != nil {
			return nil, err
		}
		out = append(out, k.Name+"="+s)
	}
	return out, nil
}

// products are the operators that have a form that writes its result into memory at hand.
var products = map[string]string{"aten.mm.default": "mm", "aten.bmm.default": "bmm", "aten.addmm.default": "addmm", "aten.baddbmm.default": "baddbmm"}

// extern writes the call of an operator that no loop stands for.
func (m *module) extern(n *fx.Node) (err error) {
	defer func() {
		if err != nil {
			err = &Error{Msg: fmt.Sprintf("%s: %v", n.Target, err), Nodes: []string{n.Name}}
		}
	}()
	args, err := m.callArguments(n)
	if err != nil {
		return err
	}
	t, _ := n.Val.(*tensor.Tensor)
	if name := products[n.Target]; name != "" && t != nil && t.IsNonOverlappingAndDense() {
		m.allocate(m.Buffer(n))
		m.line("extern_kernels.%s(%s, out=%s)", name, strings.Join(args, ", "), m.names[m.key(n)])
		return nil
	}
	text := ""
	switch {
	case n.Target == "operator.getitem":
		text = fmt.Sprintf("%s[%s]", args[0], args[1])
	case strings.HasPrefix(n.Target, "operator."):
		text = arithmetic(n, args)
	case n.Operator() != nil && n.Operator().Facts().Effect == aten.UnknownEffect:
		return fmt.Errorf("what the operator does is not known")
	case n.Operator() != nil:
		text = fmt.Sprintf("torch.ops.%s(%s)", n.Target, strings.Join(args, ", "))
	default:
		return fmt.Errorf("a call that is no operator")
	}
	m.line("%s = %s", m.buffer(m.key(n)), text)
	if t != nil {
		m.line("assert_size_stride(%s, %s, %s)", m.names[m.key(n)], tuple(t.Shape), tuple(t.Stride))
	}
	return nil
}

// arithmetic is the Python of a node that computes with sizes.
func arithmetic(n *fx.Node, args []string) string {
	plain := fx.Node{Op: n.Op, Target: n.Target, Name: n.Name}
	for _, a := range args {
		plain.Args = append(plain.Args, fx.SymInt{Expr: a})
	}
	_, text, _ := strings.Cut(plain.String(), " = ")
	return text
}

// results is the Python of what the graph returns.
func (m *module) results() (string, error) {
	out := m.Graph.OutputNode()
	var as []fx.Arg
	switch a := out.Args[0].(type) {
	case fx.Tuple:
		as = a
	case fx.List:
		as = a
	default:
		as = []fx.Arg{a}
	}
	var b strings.Builder
	for _, a := range as {
		s, err := m.argument(a)
		if err != nil {
			return "", &Error{Msg: err.Error(), Nodes: []string{"output"}}
		}
		b.WriteString(s + ", ")
	}
	return b.String(), nil
}

// benchmark writes what measures the module where it is run as a program.
func (m *module) benchmark() {
	m.b.WriteString("def benchmark_compiled_module(times=10, repeat=10):\n    from torch._dynamo.testing import rand_strided\n    from torch._inductor.utils import print_performance\n")
	var names []string
	for _, n := range m.Graph.Placeholders() {
		names = append(names, n.Name)
		switch v := n.Val.(type) {
		case *tensor.Tensor:
			fmt.Fprintf(&m.b, "    %s = rand_strided(%s, %s, device='cuda:0', dtype=torch.%s)\n", n.Name, tuple(v.Shape), tuple(v.Stride), v.DType)
		case fx.SymInt:
			fmt.Fprintf(&m.b, "    %s = %d\n", n.Name, v.Hint)
		default:
			fmt.Fprintf(&m.b, "    %s = %s\n", n.Name, fx.FormatArg(v))
		}
	}
	fmt.Fprintf(&m.b, "    fn = lambda: call([%s])\n    return print_performance(fn, times=times, repeat=repeat)\n\n\n", strings.Join(names, ", "))
	m.b.WriteString("if __name__ == \"__main__\":\n    from torch._inductor.wrapper_benchmark import compiled_module_main\n    compiled_module_main('None', benchmark_compiled_module)\n")
}
