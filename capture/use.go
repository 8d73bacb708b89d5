package capture

import (
	"fmt"

	"whittle/capture/guard"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
)

// Values from outside are guarded when the trace uses them, not when it loads them: a tensor that is only passed on is no
// input of the graph. The order of first uses is the order of the graph's inputs.

// operands is how many values an instruction looks into, counted from the top of the stack. Instructions that only move
// values look into none.
func operands(ins code.Instr) int {
	switch ins.Op {
	case code.LOAD_ATTR, code.LOAD_METHOD, code.STORE_ATTR, code.DELETE_ATTR, code.GET_ITER, code.FOR_ITER, code.UNPACK_SEQUENCE, code.UNPACK_EX,
		code.UNARY_NOT, code.UNARY_NEGATIVE, code.UNARY_INVERT, code.UNARY_POSITIVE, code.POP_JUMP_FORWARD_IF_FALSE, code.POP_JUMP_FORWARD_IF_TRUE,
		code.POP_JUMP_BACKWARD_IF_FALSE, code.POP_JUMP_BACKWARD_IF_TRUE, code.POP_JUMP_FORWARD_IF_NONE, code.POP_JUMP_FORWARD_IF_NOT_NONE,
		code.POP_JUMP_BACKWARD_IF_NONE, code.POP_JUMP_BACKWARD_IF_NOT_NONE, code.JUMP_IF_FALSE_OR_POP, code.JUMP_IF_TRUE_OR_POP, code.FORMAT_VALUE,
		code.BEFORE_WITH, code.RAISE_VARARGS, code.GET_LEN:
		return 1
	case code.BINARY_OP, code.BINARY_SUBSCR, code.COMPARE_OP, code.IS_OP, code.CONTAINS_OP, code.DELETE_SUBSCR:
		return 2
	case code.STORE_SUBSCR:
		return 3
	case code.SET_ADD:
		return 1
	case code.BUILD_SET:
		return int(ins.Arg)
	}
	return 0
}

// use guards the tensors that an instruction looks into.
func (rd *reads) use(f *vm.Frame, ins code.Instr) error {
	for k := min(operands(ins), f.SP) - 1; k >= 0; k-- {
		o := f.Stack[f.SP-1-k]
		if err := rd.useOne(o); err != nil {
			return err
		}
	}
	if ins.Op == code.BINARY_OP && f.SP > 1 { // overrides are looked for inside of lists
		return rd.standIns.useAll([]vm.Object{f.Stack[f.SP-2], f.Stack[f.SP-1]})
	}
	return nil
}

// useOne makes an input of a tensor, or of a number that became a symbol.
func (rd *reads) useOne(o vm.Object) error {
	if s, ok := o.(*torch.Scalar); ok && rd.symbols.liftedFrom[s] != nil {
		rd.out.exprNode(s.Expr)
		return nil
	}
	return rd.standIns.useValue(o)
}

// stackValue is a number, a string or None that a resume function found on its stack and did not look into yet.
type stackValue struct {
	src source.Source
	v   vm.Object
}

// seeStack gives the values on a resume function's stack their sources. They are guarded when they are used.
func (rd *reads) seeStack(f *vm.Frame) {
	for i, v := range f.LocalsPlus {
		if it, ok := v.(*replayIter); ok {
			rd.world.sources[it] = source.Local{Var: f.Code.LocalsPlusName(i)}
		}
	}
	rd.onStack = map[int]stackValue{}
	k := 0
	for i, v := range f.Stack[:f.SP] {
		if v == nil {
			continue
		}
		src := source.Local{Var: fmt.Sprintf("___stack%d", k)}
		k++
		switch v.(type) {
		case *torch.Tensor, *replayIter:
			if thrown := i == f.SP-1 && f.Code.Instrs[f.PC].Op == code.POP_TOP; rd.world.sources[v] == nil && !thrown {
				rd.world.sources[v] = src
			}
		default:
			rd.onStack[i] = stackValue{src, v}
		}
	}
}

// useStack guards the values of the resume function's stack that an instruction takes, unless it throws them away.
func (rd *reads) useStack(f *vm.Frame, ins code.Instr) {
	if f != rd.root || len(rd.onStack) == 0 {
		return
	}
	low := f.SP - ins.Takes()
	for i, s := range rd.onStack {
		if i < low {
			continue
		}
		delete(rd.onStack, i)
		if ins.Op == code.POP_TOP || i >= f.SP || f.Stack[i] != s.v {
			continue
		}
		if n := rd.world.swapping(func() { rd.world.see(s.v, s.src) }); n != nil {
			f.Stack[i] = n
		}
	}
}

// isSequence reports whether an object is a list or a tuple.
func isSequence(o vm.Object) bool {
	switch o.(type) {
	case *vm.List, *vm.Tuple:
		return true
	}
	return false
}

// fixedSize reports whether a tensor's shape is made of plain numbers.
func fixedSize(o vm.Object) bool {
	t, ok := vm.AsTuple(o)
	if !ok {
		return true
	}
	for _, n := range t.Items {
		if _, unknown := n.(*torch.Scalar); unknown {
			return false
		}
	}
	return true
}

// searched guards the items of a list that a search comes across, up to the one that is found.
func (rd *reads) searched(where, what vm.Object) error {
	src := rd.world.sourceOf(where)
	var items []vm.Object
	switch c := where.(type) {
	case *vm.List:
		items = c.Items
	case *vm.Tuple:
		items = c.Items
	}
	if src == nil || source.Identity(what) != nil {
		return nil
	}
	for i, x := range items {
		rd.world.seeItem(where, src, vm.MakeInt(int64(i)), x)
		if source.Identity(x) != nil {
			return nil
		}
		if eq, err := rd.in.Eq(x, what); err != nil || eq {
			return err
		}
	}
	return nil
}

// iterated guards the length of a tensor from outside that the trace walks.
func (rd *reads) iterated(o vm.Object) {
	p, ok := o.(*torch.Tensor)
	src := rd.world.sources[o]
	if !ok || src == nil || standsIn(p.T) || rd.t.IsFace(p) {
		return
	}
	rd.guards.Add(guard.Type(o, src), guard.Length(guard.LengthCheck, src, int(p.T.Shape[0]), func(now vm.Object) int {
		if q, ok := now.(*torch.Tensor); ok && len(q.T.Shape) > 0 {
			return int(q.T.Shape[0])
		}
		return -1
	}))
}

// stackIndex is the number under which guards know a value of a resume function's stack.
func (rd *reads) stackIndex(f *vm.Frame, v vm.Object) int {
	k := 0
	for _, x := range f.Stack[:f.SP] {
		if x == v {
			return k
		}
		if x != nil {
			k++
		}
	}
	return k
}

// compared guards the items of two sequences that a comparison comes across, up to the first that differ.
func (rd *reads) compared(a, b vm.Object) error {
	x, y := items(a), items(b)
	for i := range min(len(x), len(y)) {
		for _, s := range []vm.Object{a, b} {
			if src := rd.world.sourceOf(s); src != nil {
				rd.world.seeItem(s, src, vm.MakeInt(int64(i)), items(s)[i])
			}
		}
		if !guard.Constant(x[i]) || !guard.Constant(y[i]) {
			return nil
		}
		if eq, err := rd.in.Eq(x[i], y[i]); err != nil || !eq {
			return err
		}
	}
	return nil
}

// asksTruth guards the constants that a container from outside holds: to know whether a branch is taken PyTorch's capture looks whether the whole is one
// constant.
func (rd *reads) asksTruth(o vm.Object) {
	src := rd.world.sourceOf(o)
	if src == nil || rd.quiet() {
		return
	}
	if d, ok := o.(*vm.Dict); ok {
		d.Each(func(k, v vm.Object) bool {
			if !guard.Constant(v) {
				return false
			}
			rd.world.seeItem(o, src, k, v)
			return true
		})
		return
	}
	for i, v := range items(o) {
		if !guard.Constant(v) {
			return
		}
		rd.world.seeItem(o, src, vm.MakeInt(int64(i)), v)
	}
}

// walkedSet guards the class and the length of a set that the trace walks.
func (rd *reads) walkedSet(o vm.Object) {
	src := rd.world.sourceOf(o)
	set, ok := o.(*vm.Set)
	if src == nil || !ok || rd.quiet() {
		return
	}
	rd.guards.Add(guard.Type(o, src), guard.Length(guard.LengthCheck, src, set.Len(), func(now vm.Object) int {
		if s, ok := now.(*vm.Set); ok {
			return s.Len()
		}
		return -1
	}))
}
