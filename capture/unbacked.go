package capture

import (
	"fmt"
	"slices"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// definition is the node that brings an unbacked symbol into the graph.
type definition struct {
	symbol string
	node   *fx.Node
}

// bindFresh gives the sizes that the last call made unknown their nodes. Where the call has several results, the size is read from the first that has it,
// which is taken for that once more, as in PyTorch.
func (og *output) bindFresh() {
	fresh := og.fresh
	og.fresh = nil
	for _, size := range fresh {
		call, result, dim := og.resultWith(size)
		switch {
		case call == nil:
		case result < 0:
			og.define(size, og.operator("sym_size.int", call, int64(dim)))
		default:
			og.graph.InsertAfter(call, func() {
				of := og.graph.CallFunction("operator.getitem", call, int64(result))
				of.Val = call.Val.([]any)[result]
				of.SetOrigin(call.Origin())
				og.define(size, og.operator("sym_size.int", of, int64(dim)))
			})
		}
	}
}

// resultWith is the last call, where it has a result with this size: in which dimension, and of which result where there are several, else -1.
func (og *output) resultWith(size *symbolic.Expr) (call *fx.Node, result, dim int) {
	at := func(v any) int {
		t, ok := v.(*tensor.Tensor)
		if !ok || t == nil {
			return -1
		}
		return slices.IndexFunc(og.sizes.Size(t), func(e *symbolic.Expr) bool { return e.String() == size.String() })
	}
	for i := len(og.graph.Nodes) - 1; i >= 0; i-- {
		n := og.graph.Nodes[i]
		if vals, several := n.Val.([]any); several {
			for k, v := range vals {
				if dim := at(v); dim >= 0 {
					return n, k, dim
				}
			}
		} else if dim := at(n.Val); dim >= 0 && n.Target != "operator.getitem" || n.Target == "operator.getitem" && dim >= 0 && og.indexes(n) {
			return n, -1, dim
		}
	}
	return nil, 0, 0
}

// indexes reports whether a getitem node indexes a tensor.
func (og *output) indexes(n *fx.Node) bool {
	in, ok := n.Args[0].(*fx.Node)
	if !ok {
		return false
	}
	_, ok = in.Val.(*tensor.Tensor)
	return ok
}

// define makes n the node of an unbacked symbol.
func (og *output) define(e *symbolic.Expr, n *fx.Node) {
	n.Val = fx.SymInt{Expr: e.String()}
	og.exprNodes[e.String()] = n
	og.defined = append(og.defined, definition{e.Name, n})
}

// insertAsserts adds, behind the node of each unbacked symbol, the checks of what the trace assumed of it.
func (og *output) insertAsserts() {
	at := map[string]int{}
	for i, d := range og.defined {
		at[d.symbol] = i
	}
	// A check of several symbols stands behind the last of their nodes.
	later := map[int][]*symbolic.Expr{} // by the last definition that they need
	for _, a := range og.unknowns.Asserts() {
		last := -1
		for _, s := range a.Symbols() {
			if i, ok := at[s]; ok {
				last = max(last, i)
			}
		}
		if last >= 0 {
			later[last] = append(later[last], a)
		}
	}
	for i, d := range og.defined {
		sym := og.unknowns.Symbol(d.symbol)
		if sym == nil {
			continue
		}
		og.insertBehind(d.node, func() {
			if sym.Size {
				if og.d.ctx.Export != nil {
					og.operator("sym_constrain_range_for_size.default", d.node)
				} else {
					og.graph.CallFunction("torch._check_is_size", d.node)
				}
			}
			e := symbolic.Sym(d.symbol)
			if sym.Range.Lo != symbolic.NoLower {
				og.insertAssert("operator.ge", d.node, sym.Range.Lo, symbolic.Cmp(symbolic.OpGe, e, symbolic.Int(sym.Range.Lo)))
			}
			if sym.Range.Hi != symbolic.NoUpper {
				og.insertAssert("operator.le", d.node, sym.Range.Hi, symbolic.Cmp(symbolic.OpLe, e, symbolic.Int(sym.Range.Hi)))
			}
			for _, a := range later[i] {
				if boundOf(a, d.symbol) {
					continue // the range says it
				}
				l, r := og.operand(a.Args[0]), og.operand(a.Args[1])
				if l != nil && r != nil {
					og.insertAssert(comparisons[a.Op], l, r, lessForm(a))
				}
			}
		})
	}
}

// mergeNumbers leaves of the nodes that compute the same number from sizes the first one.
func (og *output) mergeNumbers() {
	first := map[string]*fx.Node{}
	var again []*fx.Node
	for _, n := range og.graph.Nodes {
		v, ok := n.Val.(fx.SymInt)
		if e, err := symbolic.Parse(v.Expr); !ok || err != nil || e.IsConst() {
			continue
		}
		if m := first[v.Expr]; m == nil {
			first[v.Expr] = n
		} else if n.Op == fx.CallFunction {
			og.graph.ReplaceUses(n, m)
			again = append(again, n)
		}
	}
	og.graph.Erase(again...)
}

// insertBehind runs f, which adds nodes behind n. A number that f needs and that the program computes further on is computed where f needs
// it, and not again.
func (og *output) insertBehind(n *fx.Node, f func()) {
	ahead := map[string]*fx.Node{}
	behind := og.graph.Nodes[slices.Index(og.graph.Nodes, n)+1:]
	for e, m := range og.exprNodes {
		if m != n && slices.Contains(behind, m) {
			ahead[e] = m
			delete(og.exprNodes, e)
		}
	}
	og.graph.InsertAfter(n, f)
	for e, m := range ahead {
		if earlier := og.exprNodes[e]; earlier != nil {
			og.graph.ReplaceUses(m, earlier)
			og.graph.Erase(m)
		} else {
			og.exprNodes[e] = m
		}
	}
}

// comparisons are the functions that graphs have for relations: of "is not equal", for what is negated.
var comparisons = map[symbolic.Op]string{symbolic.OpEq: "operator.eq", symbolic.OpNe: "operator.eq", symbolic.OpLt: "operator.lt", symbolic.OpLe: "operator.le",
	symbolic.OpGt: "operator.gt", symbolic.OpGe: "operator.ge"}

// lessForm writes a > b as b < a, as PyTorch's assertions read.
func lessForm(e *symbolic.Expr) *symbolic.Expr {
	switch e.Op {
	case symbolic.OpGt:
		return symbolic.Cmp(symbolic.OpLt, e.Args[1], e.Args[0])
	case symbolic.OpGe:
		return symbolic.Cmp(symbolic.OpLe, e.Args[1], e.Args[0])
	}
	return e
}

// boundOf reports whether e bounds one symbol by a constant.
func boundOf(e *symbolic.Expr, symbol string) bool {
	if e.Op != symbolic.OpLe && e.Op != symbolic.OpGe {
		return false
	}
	a, b := e.Args[0], e.Args[1]
	return a.Op == symbolic.OpInt && b.String() == symbol || b.Op == symbolic.OpInt && a.String() == symbol
}

// operand is an expression as an argument: a number or a node; nil when graphs have no function for it.
func (og *output) operand(e *symbolic.Expr) fx.Arg {
	switch e.Op {
	case symbolic.OpInt:
		return e.Int
	case symbolic.OpFloat:
		if e.Float == float64(int64(e.Float)) {
			return int64(e.Float)
		}
		return e.Float
	}
	if n := og.exprNode(e); n != nil {
		return n
	}
	return nil
}

// insertAssert adds the check of one relation to the graph: the comparison, and the assertion of it.
func (og *output) insertAssert(target string, l, r fx.Arg, e *symbolic.Expr) {
	n := og.graph.CallFunction(target, l, r)
	if e.Op == symbolic.OpNe {
		n.Val = fx.SymInt{Expr: symbolic.Cmp(symbolic.OpEq, e.Args[0], e.Args[1]).String()}
		n = og.graph.CallFunction("torch.sym_not", n)
	}
	n.Val = fx.SymInt{Expr: e.String()}
	og.operator("_assert_scalar.default", n, fmt.Sprintf("Runtime assertion failed for expression %s on node '%s'", e, n.Name))
}

// check is torch._check(cond, message) in a trace: from here on the condition holds.
func (sy *symbols) check(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	s, ok := args[0].(*torch.Scalar)
	if !ok || s.Kind != tensor.Bool {
		return nil, false, nil
	}
	if _, err := sy.unknowns.Assert(s.Expr); err != nil {
		return nil, false, sy.t.ScalarError(err)
	}
	return vm.None, true, nil
}

// checkIsSize is torch._check_is_size(n) in a trace.
func (sy *symbols) checkIsSize(args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	s, ok := args[0].(*torch.Scalar)
	if !ok || s.Kind != tensor.Int64 {
		return nil, false, nil
	}
	if s.Backed() { // it is known here: a guard says so, and a wrong one raises in plain Python
		ok, err := sy.unknowns.Decide(symbolic.Cmp(symbolic.OpGe, s.Expr, symbolic.Int(0)))
		if err != nil || !ok {
			return nil, false, err
		}
	}
	if least := symbolic.Cmp(symbolic.OpGe, s.Expr, symbolic.Int(0)); sy.unknowns.Guarded != nil && sy.unknowns.Unknown(least) {
		if _, known := sy.unknowns.Known(least); !known {
			sy.unknowns.Guarded(least)
		}
	}
	sy.unknowns.MarkSize(s.Expr)
	a, err := sy.out.scalarArg(s)
	if err != nil {
		return nil, false, err
	}
	sy.out.graph.CallFunction("torch._check_is_size", a)
	return vm.None, true, nil
}

// itemList is x.tolist(): an item() for each element, so that the sizes are what they are now. ok is false when it cannot be.
func (tr *tracer) itemList(p vm.Object) (v vm.Object, ok bool, err error) {
	x, isTensor := p.(*torch.Tensor)
	if !isTensor {
		return nil, false, nil
	}
	f, err := tr.standIns.fake(x)
	if err != nil {
		return nil, false, err
	}
	sizes := tr.sizes.Size(f)
	if slices.ContainsFunc(sizes, tr.unknowns.Unknown) || f.Numel() > 1024 {
		return nil, false, nil
	}
	for _, e := range sizes {
		if _, err := tr.unknowns.SpecializeInt(e); err != nil {
			return nil, false, err
		}
	}
	if len(f.Shape) == 0 {
		v, err := tr.itemOf(x)
		return v, err == nil, err
	}
	out := vm.NewList()
	for i := range f.Shape[0] {
		part, err := tr.in.GetItem(x, vm.MakeInt(i))
		if err != nil {
			return nil, false, err
		}
		e, ok, err := tr.itemList(part)
		if err != nil || !ok {
			return nil, false, err
		}
		out.Items = append(out.Items, e)
	}
	return out, true, nil
}
