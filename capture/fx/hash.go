package fx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"whittle/kernels/tensor"
)

// Hash identifies the graph regardless of node names and of the order of
// independent nodes. Shapes and dtypes of placeholders count where their Val
// is known. It is stable over runs and versions of whittle: stored data relies on it.
//
// Nodes that write to their operands or draw random numbers order what stands
// between them: a node's epoch (how many of these came before it) is part of its identity. Calls of unknown
// targets do not: they are taken for pure, as torch.fx takes them.
func (g *Graph) Hash() string { return (&GraphModule{Graph: g}).Hash() }

// Hash is the graph's hash, combined with the constants, modules and bodies that the graph names.
func (gm *GraphModule) Hash() string {
	n := len(gm.Graph.Nodes)
	h := &hasher{gm: gm, index: make(map[*Node]int, n), epoch: make(map[*Node]int, n), merkle: map[*Node]string{}}
	h.out.Grow(64 * n)
	return h.run()
}

// A hasher writes a graph as a text in which nothing is arbitrary, and hashes that. Nodes have numbers in place of names: placeholders in
// their order, then what the output needs, operands before what uses them. Two graphs that differ by names or by the order of independent
// nodes give the same text.
type hasher struct {
	gm     *GraphModule
	index  map[*Node]int // canonical number, given in order of first need
	epoch  map[*Node]int
	merkle map[*Node]string
	out    strings.Builder
}

// run writes placeholders, then what the output needs, then the rest. The rest has no order of its own, as nothing leads to it: it is sorted
// by what it computes, which digest says without numbers.
func (h *hasher) run() string {
	g := h.gm.Graph
	e := 0
	for _, n := range g.Nodes {
		h.epoch[n] = e
		if n.Op != Output && n.IsImpure(UnknownDoesNot) {
			e++
			h.epoch[n] = -e // impure nodes are told apart by their sign
		}
	}
	ord := 0
	for _, n := range g.Nodes {
		if n.Op == Placeholder {
			h.emit(n, strconv.Itoa(ord))
			ord++
		}
	}
	if o := g.OutputNode(); o != nil {
		h.visit(o)
	}
	// What the output does not need: dead code, or nodes kept for their effects.
	var rest []*Node
	for _, n := range g.Nodes {
		if _, ok := h.index[n]; !ok {
			rest = append(rest, n)
		}
	}
	if len(rest) > 1 {
		for _, n := range g.Nodes {
			h.digest(n)
		}
		sort.SliceStable(rest, func(i, j int) bool { return h.merkle[rest[i]] < h.merkle[rest[j]] })
	}
	for _, n := range rest {
		h.visit(n)
	}
	sum := sha256.Sum256([]byte("whittle fx 1\n" + h.out.String()))
	return hex.EncodeToString(sum[:])
}

// visit numbers the operands of n first, then n. It keeps its own stack, as graphs can be deep.
func (h *hasher) visit(root *Node) {
	type frame struct {
		n    *Node
		ins  []*Node
		next int
	}
	stack := []frame{{root, root.Inputs(), 0}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.next < len(f.ins) {
			in := f.ins[f.next]
			f.next++
			if _, ok := h.index[in]; !ok {
				stack = append(stack, frame{in, in.Inputs(), 0})
			}
			continue
		}
		if _, ok := h.index[f.n]; !ok {
			h.emit(f.n, "")
		}
		stack = stack[:len(stack)-1]
	}
}

// emit gives n the next number, and writes its line; extra tells placeholders of one type apart.
func (h *hasher) emit(n *Node, extra string) {
	h.index[n] = len(h.index)
	h.describe(&h.out, n, func(in *Node) string { return strconv.Itoa(h.index[in]) })
	h.out.WriteString(extra + "\n")
}

// digest is a hash of n by the hashes of its operands.
func (h *hasher) digest(n *Node) {
	var b strings.Builder
	h.describe(&b, n, func(in *Node) string { return h.merkle[in] })
	sum := sha256.Sum256([]byte(b.String()))
	h.merkle[n] = string(sum[:16])
}

// describe writes what n is, with name for the nodes that it reads: its kind, target, epoch and arguments. The names of placeholders and
// attributes are left out: a placeholder counts by its shape and dtype, an attribute by its content, a module by its text.
func (h *hasher) describe(b *strings.Builder, n *Node, name func(*Node) string) {
	target := n.Target
	if n.Op == Placeholder || n.Op == GetAttr {
		target = "" // a name
	}
	for _, s := range []string{string(n.Op), " ", target, " e", strconv.Itoa(h.epoch[n]), "("} {
		b.WriteString(s)
	}
	for _, a := range n.Args {
		canonArg(b, a, name)
		b.WriteByte(',')
	}
	for _, kw := range n.Kwargs {
		b.WriteString(kw.Name + "=")
		canonArg(b, kw.Val, name)
		b.WriteByte(',')
	}
	b.WriteByte(')')
	switch n.Op {
	case Placeholder:
		b.WriteString(ValString(n.Val))
	case GetAttr, CallModule:
		b.WriteString(h.attr(n.Target))
	}
}

// attr describes what a module's attribute is.
func (h *hasher) attr(target string) string {
	if sub, ok := h.gm.Submodules[target]; ok {
		return "graph " + sub.Hash()
	}
	if t, ok := h.gm.Attrs[target]; ok && t != nil {
		s := ValString(t)
		if !t.Fake {
			sum := sha256.Sum256(t.Bytes())
			s += hex.EncodeToString(sum[:8])
		}
		return s
	}
	if m, ok := h.gm.Modules[target]; ok {
		return m.Text
	}
	for _, l := range h.gm.Init {
		if l.Name == target {
			return l.Expr
		}
	}
	return target
}

// canonArg writes an argument so that no two that mean different things are written alike: 1, 1.0 and True differ, as do a list and a tuple.
func canonArg(b *strings.Builder, a Arg, name func(*Node) string) {
	seq := func(open string, as []Arg) {
		b.WriteString(open)
		for _, x := range as {
			canonArg(b, x, name)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	}
	switch a := a.(type) {
	case *Node:
		b.WriteString("%" + name(a))
	case List:
		seq("[", a)
	case Tuple:
		seq("t[", a)
	case Slice:
		seq("s[", []Arg{a.Start, a.Stop, a.Step})
	case Dict:
		var as []Arg
		for _, it := range a {
			as = append(as, it.Key, it.Val)
		}
		seq("d[", as)
	case bool, int64, float64:
		fmt.Fprintf(b, "%T", a)
		writeArg(b, a)
	default:
		writeArg(b, a)
	}
}

// ValString is a value's abstract form as graph dumps show it: f32[2, s0], Sym(s0); strides follow where they are not
// contiguous. "" for a value that is not known.
func ValString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case *tensor.Tensor:
		if v == nil {
			return ""
		}
		s := v.DType.Short() + dims(v.Shape)
		if !contiguous(v.Shape, v.Stride) {
			s += "{" + strings.Trim(dims(v.Stride), "[]") + "}"
		}
		return s
	case SymInt:
		return "Sym(" + v.Expr + ")"
	case int64:
		return "Sym(" + strconv.FormatInt(v, 10) + ")"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, ValString(x))
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return fmt.Sprint(v)
}

// dims is the text of sizes or strides.
func dims(xs []int64) string {
	s := make([]string, len(xs))
	for i, x := range xs {
		s[i] = strconv.FormatInt(x, 10)
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// contiguous reports whether the strides are row-major, sizes of one aside.
func contiguous(shape, stride []int64) bool {
	want := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 0 {
			return true
		}
		if shape[i] != 1 {
			if i >= len(stride) || stride[i] != want {
				return false
			}
			want *= shape[i]
		}
	}
	return true
}
