package aot

import (
	"fmt"
	"math"
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// The passes of this file simplify the joint graph of a training function before it is cut, as Inductor's
// joint-graph passes do. Mirrors torch/_inductor/fx_passes/joint_graph.py.

// noops drops operators that copy or alias a value without changing it.
func noops(g *fx.Graph) error {
	inputs, outputs := map[*tensor.Storage]bool{}, map[*tensor.Storage]bool{}
	for _, p := range g.Placeholders() {
		if t := valueOf(p); t != nil {
			inputs[t.Storage] = true
		}
	}
	for _, o := range g.OutputNode().Inputs() {
		if t := valueOf(o); t != nil {
			outputs[t.Storage] = true
		}
	}
	var dropped []copied
	for _, n := range append([]*fx.Node(nil), g.Nodes...) {
		src := noopSource(n)
		if src == nil {
			continue
		}
		to, from := valueOf(n), valueOf(src)
		if to == nil || from == nil || to.DType != from.DType || !slices.Equal(to.Shape, from.Shape) || !slices.Equal(to.Stride, from.Stride) {
			continue
		}
		if to.Storage != from.Storage && outputs[to.Storage] && (inputs[from.Storage] || outputs[from.Storage]) {
			continue // an output would become the very tensor that came in
		}
		g.ReplaceUses(n, src)
		g.Erase(n)
		if to.Storage != from.Storage {
			dropped = append(dropped, copied{to, src})
		}
	}
	for _, c := range dropped {
		c.move(g)
	}
	return nil
}

// A copied tensor has lost its storage: it is taken for what it was copied from.
type copied struct {
	t   *tensor.Tensor
	src *fx.Node
}

// move has the values that are views of the copy be views of its source, which may start elsewhere in its storage.
func (c copied) move(g *fx.Graph) {
	src := valueOf(c.src)
	for _, n := range g.Nodes {
		n.Val, _ = aten.MapTensors(n.Val, func(t *tensor.Tensor) (aten.Value, error) {
			if t.Storage != c.t.Storage {
				return t, nil
			}
			v := tensor.NewView(src, t.Shape, t.Stride, src.Offset+t.Offset-c.t.Offset)
			v.DType = t.DType
			return v, nil
		})
	}
}

// noopSource is the value that n passes on unchanged if their metadata agree; nil for other operators.
func noopSource(n *fx.Node) *fx.Node {
	if n.Op != fx.CallFunction || len(n.Args) == 0 {
		return nil
	}
	arg := func(i int) *fx.Node {
		if i < len(n.Args) {
			m, _ := n.Args[i].(*fx.Node)
			return m
		}
		return nil
	}
	switch n.Target {
	case "aten.alias.default", "aten.clone.default", "aten.view.default", "aten.repeat.default", "prims.convert_element_type.default":
		return arg(0)
	case "aten.copy.default":
		return arg(1)
	case "aten.slice.Tensor":
		if len(n.Args) >= 4 && wholeSlice(n.Args[2:]) {
			return arg(0)
		}
	case "aten.slice_scatter.default":
		if wholeSlice(n.Args[min(3, len(n.Args)):]) {
			return arg(1)
		}
	case "aten.constant_pad_nd.default":
		if l, ok := n.Args[1].(fx.List); ok && !slices.ContainsFunc(l, func(a fx.Arg) bool { return a != int64(0) }) {
			return arg(0)
		}
	case "aten.ceil.default", "aten.floor.default", "aten.round.default", "aten.trunc.default":
		if t := valueOf(n); t != nil && t.DType.IsInt() {
			return arg(0)
		}
	case "aten.pow.Tensor_Scalar":
		if n.Args[1] == int64(1) {
			return arg(0)
		}
	case "aten.cat.default":
		if l, ok := n.Args[0].(fx.List); ok && len(l) == 1 {
			m, _ := l[0].(*fx.Node)
			return m
		}
	}
	return nil
}

// wholeSlice says whether start, end and step take everything.
func wholeSlice(a []fx.Arg) bool {
	start, end, step := fx.Arg(int64(0)), fx.Arg(int64(math.MaxInt64)), fx.Arg(int64(1))
	for i, p := range []*fx.Arg{&start, &end, &step} {
		if i < len(a) && a[i] != nil {
			*p = a[i]
		}
	}
	return start == int64(0) && end == int64(math.MaxInt64) && step == int64(1)
}

func valueOf(n *fx.Node) *tensor.Tensor {
	t, _ := n.Val.(*tensor.Tensor)
	return t
}

// uniform folds values whose elements are all equal and known into calls of full, and drops x+0, x-0, x*1 and x/1.
func uniform(g *fx.Graph) error {
	values := map[*fx.Node]*tensor.Tensor{} // one element each
	shared := map[*tensor.Tensor]int{}
	left := map[*fx.Node]int{} // uses that were not folded
	users := g.Users()
	for _, n := range g.Nodes {
		v, err := uniformValue(n, values)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		values[n] = v
		left[n] = len(users[n])
		for _, in := range n.Inputs() {
			left[in]--
		}
	}
	for n, v := range values {
		if left[n] > 0 || len(users[n]) == 0 {
			shared[v]++
		}
	}
	zeros, ones := map[*fx.Node]bool{}, map[*fx.Node]bool{}
	for _, n := range append([]*fx.Node(nil), g.Nodes...) {
		v, t := values[n], valueOf(n)
		if v == nil || left[n] == 0 && len(users[n]) > 0 || t == nil || shared[v] > 1 || t.DType == tensor.UInt8 || !t.IsContiguous(tensor.ContiguousFormat) {
			continue
		}
		var x fx.Arg
		if n.Target == "aten.full.default" {
			x = n.Args[1]
		} else {
			x = v.Item()
			var f *fx.Node
			g.InsertAfter(n, func() {
				f = g.CreateNode(fx.CallFunction, "aten.full.default", []fx.Arg{ints(t.Shape), x},
					[]fx.Kwarg{{Name: "dtype", Val: t.DType}, {Name: "layout", Val: tensor.Strided}, {Name: "device", Val: tensor.CPU}, {Name: "pin_memory", Val: false}}, "")
			})
			f.Val = tensor.EmptyFake(t.DType, t.Shape, t.Stride)
			g.ReplaceUses(n, f)
			g.Erase(n)
			n = f
		}
		switch x {
		case int64(0), 0.0, false:
			zeros[n] = true
		case int64(1), 1.0, true:
			ones[n] = true
		}
	}
	return neutral(g, zeros, ones)
}

func ints(l []int64) fx.List {
	r := make(fx.List, len(l))
	for i, n := range l {
		r[i] = n
	}
	return r
}

// uniformValue deduces the one value of n's elements as a tensor of one element, nil for unknown.
func uniformValue(n *fx.Node, known map[*fx.Node]*tensor.Tensor) (*tensor.Tensor, error) {
	if n.Op != fx.CallFunction || valueOf(n) == nil || n.IsImpure(fx.UnknownMay) {
		return nil, nil
	}
	op := n.Operator()
	if op == nil {
		return nil, nil
	}
	switch packet(n) {
	case "aten.lift_fresh_copy":
		c, _ := n.Args[0].(*fx.Node)
		if c == nil || valueOf(c) == nil || valueOf(c).Fake || tensor.Numel(valueOf(c).Shape) != 1 {
			return nil, nil
		}
		return oneElement(aten.Lookup("aten.reshape.default"), []aten.Value{valueOf(c), []aten.Value{int64(1)}})
	case "aten.scalar_tensor":
		return oneElement(aten.Lookup("aten.full.default"), []aten.Value{[]aten.Value{int64(1)}, n.Args[0], valueOf(n).DType, nil, nil, nil})
	case "aten.full":
		if _, isNode := n.Args[1].(*fx.Node); isNode {
			return nil, nil
		}
		one := []aten.Value{[]aten.Value{int64(1)}, n.Args[1], valueOf(n).DType, nil, nil, nil}
		return oneElement(op, one)
	case "aten.squeeze", "aten.unsqueeze", "aten.alias", "aten.slice", "aten.t", "aten.expand", "aten.as_strided", "aten.permute":
		in, _ := n.Args[0].(*fx.Node)
		return known[in], nil
	case "aten.view":
		in, _ := n.Args[0].(*fx.Node)
		if n.Target == "aten.view.default" {
			return known[in], nil
		}
		return nil, nil
	}
	if op.Tags&aten.Pointwise == 0 || op.Facts().Effect == aten.Random || !cheap[packet(n)] {
		return nil, nil
	}
	sig := op.Sig()
	args := make([]aten.Value, len(sig.Args))
	for i, a := range sig.Args {
		args[i] = a.Default
		var given fx.Arg
		ok := false
		if i < len(n.Args) && !a.KwOnly {
			given, ok = n.Args[i], true
		} else {
			given, ok = n.Kwarg(a.Name)
		}
		if !ok || a.Name == "memory_format" {
			continue
		}
		switch x := given.(type) {
		case *fx.Node:
			if known[x] == nil {
				return nil, nil
			}
			args[i] = known[x]
		case fx.List, fx.Tuple:
			return nil, nil
		default:
			args[i] = x
		}
	}
	return oneElement(op, args)
}

func oneElement(op *aten.Op, args []aten.Value) (*tensor.Tensor, error) {
	v, err := aten.Eager.Dispatch(op, args)
	if err != nil {
		return nil, nil // what cannot be folded stays
	}
	t, _ := v.(*tensor.Tensor)
	return t, nil
}

// neutral drops additions of zeros and multiplications with ones. Operands that are numbers stay: only calls of two nodes are looked at.
func neutral(g *fx.Graph, zeros, ones map[*fx.Node]bool) error {
	for _, n := range append([]*fx.Node(nil), g.Nodes...) {
		if n.Op != fx.CallFunction || len(n.Args) != 2 {
			continue
		}
		a, ok1 := n.Args[0].(*fx.Node)
		b, ok2 := n.Args[1].(*fx.Node)
		if !ok1 || !ok2 {
			continue
		}
		if alpha, ok := n.Kwarg("alpha"); ok && alpha != int64(1) {
			continue
		}
		var keep *fx.Node
		switch n.Target {
		case "aten.add.Tensor":
			keep = other(a, b, zeros)
		case "aten.mul.Tensor":
			keep = other(a, b, ones)
		case "aten.sub.Tensor":
			if zeros[b] {
				keep = a
			}
		case "aten.div.Tensor":
			if ones[b] {
				keep = a
			}
		}
		to := valueOf(n)
		if keep == nil || to == nil || valueOf(keep) == nil || !slices.Equal(to.Shape, valueOf(keep).Shape) {
			continue
		}
		if to.DType != valueOf(keep).DType {
			var c *fx.Node
			g.InsertAfter(n, func() { c = g.CallFunction("prims.convert_element_type.default", keep, to.DType) })
			c.Val = to
			keep = c
		}
		g.ReplaceUses(n, keep)
		g.Erase(n)
	}
	return nil
}

func other(a, b *fx.Node, neutral map[*fx.Node]bool) *fx.Node {
	switch {
	case neutral[a]:
		return b
	case neutral[b]:
		return a
	}
	return nil
}

// reshapes drops views to the shape that is there, and pairs of views, permutations and casts that undo each other.
func reshapes(g *fx.Graph) error {
	users := g.Users()
	drop := func(n *fx.Node, src fx.Arg) {
		g.ReplaceUses(n, src)
		g.Erase(n)
	}
	for _, n := range append([]*fx.Node(nil), g.Nodes...) {
		if n.Op != fx.CallFunction || len(n.Args) == 0 {
			continue
		}
		in, ok := n.Args[0].(*fx.Node)
		if !ok || valueOf(in) == nil || valueOf(n) == nil {
			continue
		}
		inner := in.Op == fx.CallFunction && in.Target == n.Target && len(users[in]) == 1
		var first *fx.Node
		if inner {
			first, _ = in.Args[0].(*fx.Node)
			inner = first != nil && valueOf(first) != nil
		}
		switch n.Target {
		case "aten.view.default":
			if slices.Equal(valueOf(in).Shape, valueOf(n).Shape) {
				drop(n, in)
			} else if inner && slices.Equal(valueOf(first).Shape, valueOf(n).Shape) {
				drop(n, first)
			}
		case "prims.convert_element_type.default":
			if inner && wideFloat(valueOf(in).DType) && wideFloat(valueOf(n).DType) {
				n.Args[0] = first
				users = g.Users()
			}
		}
	}
	return permutes(g)
}

func wideFloat(d tensor.DType) bool {
	return d == tensor.Float16 || d == tensor.BFloat16 || d == tensor.Float32 || d == tensor.Float64
}

// softmaxScale turns scale(x) - amax(scale(x)) into a form that scales once: scale(x - amax(x)), with the sign of the scale kept inside.
func softmaxScale(g *fx.Graph) error {
	for _, n := range append([]*fx.Node(nil), g.Nodes...) {
		if n.Op != fx.CallFunction || n.Target != "aten.sub.Tensor" || len(n.Args) != 2 || len(n.Kwargs) > 0 {
			continue
		}
		scaled, ok1 := n.Args[0].(*fx.Node)
		top, ok2 := n.Args[1].(*fx.Node)
		if !ok1 || !ok2 || top.Target != "aten.amax.default" || len(top.Args) < 3 || top.Args[0] != fx.Arg(scaled) || len(g.Users()[top]) != 1 {
			continue
		}
		if scaled.Target != "aten.mul.Tensor" && scaled.Target != "aten.div.Tensor" || len(scaled.Args) != 2 {
			continue
		}
		x, ok := scaled.Args[0].(*fx.Node)
		k, scalar := number(scaled.Args[1])
		if !ok || !scalar {
			continue
		}
		sign := int64(1)
		if k < 0 {
			sign = -1
		}
		factor := fx.Arg(float64(sign) * k)
		if i, ok := scaled.Args[1].(int64); ok {
			factor = sign * i
		}
		var err error
		g.InsertAfter(top, func() {
			call := func(target string, args ...fx.Arg) *fx.Node {
				c := g.CallFunction(target, args...)
				if err == nil {
					err = fakeCall(c)
				}
				return c
			}
			signed := call("aten.mul.Tensor", x, sign)
			m := call("aten.amax.default", signed, top.Args[1], top.Args[2])
			d := call("aten.sub.Tensor", signed, m)
			r := call(scaled.Target, d, factor)
			g.ReplaceUses(n, r)
		})
		if err != nil {
			return fmt.Errorf("scaling of a softmax: %w", err)
		}
		g.Erase(n, top)
	}
	g.EliminateDeadCode(fx.UnknownMay)
	return nil
}

func number(a fx.Arg) (float64, bool) {
	switch a := a.(type) {
	case int64:
		return float64(a), true
	case float64:
		return a, true
	}
	return 0, false
}

// fakeCall fills in the value of a new call of positional arguments.
func fakeCall(n *fx.Node) error {
	op := n.Operator()
	if op == nil {
		return fmt.Errorf("%s is not registered", n.Target)
	}
	args := make([]aten.Value, len(op.Sig().Args))
	for i, a := range op.Sig().Args {
		args[i] = a.Default
		if i >= len(n.Args) {
			continue
		}
		switch x := n.Args[i].(type) {
		case *fx.Node:
			args[i] = x.Val
		case fx.List:
			l := make([]aten.Value, len(x))
			copy(l, x)
			args[i] = l
		default:
			args[i] = x
		}
	}
	v, err := aten.Fake.Dispatch(op, args)
	n.Val = v
	return err
}
