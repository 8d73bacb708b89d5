package code

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"whittle/capture/python/syntax"
)

// foldable gives the value of an expression that is constant.
func (c *compiler) foldable(e syntax.Expr) (any, bool) {
	switch e := e.(type) {
	case *syntax.Constant:
		switch v := e.Value.(type) {
		case syntax.Bytes:
			return Bytes(v), true
		case syntax.EllipsisValue:
			return Ellipsis{}, true
		}
		return e.Value, true
	case *syntax.Name:
		if e.Id == "__debug__" {
			return c.level < NoAsserts, true
		}
	case *syntax.Tuple:
		out := Tuple{}
		for _, x := range e.Elts {
			v, ok := c.foldable(x)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	case *syntax.UnaryOp:
		v, ok := c.foldable(e.Operand)
		if !ok {
			return nil, false
		}
		switch x := v.(type) {
		case int64:
			switch e.Op {
			case "-":
				if x != math.MinInt64 {
					return -x, true
				}
			case "+":
				return x, true
			case "~":
				return ^x, true
			case "not":
				return x == 0, true
			}
		case *big.Int:
			if e.Op == "-" {
				n := new(big.Int).Neg(x)
				if n.IsInt64() {
					return n.Int64(), true
				}
				return n, true
			}
		case float64:
			switch e.Op {
			case "-":
				return -x, true
			case "+":
				return x, true
			}
		case complex128:
			if e.Op == "-" {
				return -x, true
			}
		case bool:
			if e.Op == "not" {
				return !x, true
			}
		}
	case *syntax.BinOp:
		l, ok := c.foldable(e.Left)
		if !ok {
			return nil, false
		}
		r, ok := c.foldable(e.Right)
		if !ok {
			return nil, false
		}
		return foldBinary(l, e.Op, r)
	}
	return nil, false
}

// foldBinary computes an operator of constants, where the result is not large and nothing can fail: what CPython folds, or less.
func foldBinary(l any, op string, r any) (any, bool) {
	if a, ok := l.(string); ok {
		if b, ok := r.(string); ok && op == "+" && len(a)+len(b) < 4096 {
			return a + b, true
		}
		return nil, false
	}
	a, ai := l.(int64)
	b, bi := r.(int64)
	if ai && bi {
		small := func(x int64) bool { return x > -(1<<31) && x < 1<<31 }
		switch op {
		case "+":
			if small(a) && small(b) {
				return a + b, true
			}
		case "-":
			if small(a) && small(b) {
				return a - b, true
			}
		case "*":
			if small(a) && small(b) {
				return a * b, true
			}
		case "/":
			if b != 0 && small(a) && small(b) {
				return float64(a) / float64(b), true
			}
		case "<<":
			if a >= 0 && small(a) && b >= 0 && b < 31 {
				return a << b, true
			}
		case "**":
			if b >= 0 && b <= 128 && a > 0 && a <= 1<<16 {
				n := new(big.Int).Exp(big.NewInt(a), big.NewInt(b), nil)
				if n.BitLen() > 128 {
					return nil, false
				}
				if n.IsInt64() {
					return n.Int64(), true
				}
				return n, true
			}
		case "|":
			return a | b, true
		case "&":
			return a & b, true
		}
		return nil, false
	}
	fl, ok1 := toFloat(l)
	fr, ok2 := toFloat(r)
	if ok1 && ok2 {
		switch op {
		case "+":
			return fl + fr, true
		case "-":
			return fl - fr, true
		case "*":
			return fl * fr, true
		case "/":
			if fr != 0 {
				return fl / fr, true
			}
		}
		return nil, false
	}
	cl, ok1 := toComplex(l)
	cr, ok2 := toComplex(r)
	if ok1 && ok2 {
		switch op {
		case "+":
			return cl + cr, true
		case "-":
			return cl - cr, true
		}
	}
	return nil, false
}

// toFloat is the float of a constant that has one exactly.
func toFloat(v any) (float64, bool) {
	switch x := v.(type) {
	case int64:
		if x > -(1<<53) && x < 1<<53 {
			return float64(x), true
		}
	case float64:
		return x, true
	}
	return 0, false
}

// toComplex is the complex number of a constant.
func toComplex(v any) (complex128, bool) {
	if x, ok := v.(complex128); ok {
		return x, true
	}
	f, ok := toFloat(v)
	return complex(f, 0), ok
}

// constTruth is 1 for a true constant, 0 for a false one, -1 for anything else.
func (c *compiler) constTruth(e syntax.Expr) int {
	k, ok := e.(*syntax.Constant)
	if !ok {
		if n, ok := e.(*syntax.Name); ok && n.Id == "__debug__" {
			if c.level < NoAsserts {
				return 1
			}
			return 0
		}
		return -1
	}
	t := false
	switch v := k.Value.(type) {
	case nil:
	case bool:
		t = v
	case int64:
		t = v != 0
	case float64:
		t = v != 0
	case string:
		t = v != ""
	case syntax.Bytes:
		t = v != ""
	default:
		t = true
	}
	if t {
		return 1
	}
	return 0
}

// jumpIf jumps to l if e's truth is want.
func (c *compiler) jumpIf(e syntax.Expr, l label, want bool) {
	u := c.u
	switch x := e.(type) {
	case *syntax.UnaryOp:
		if x.Op == "not" {
			c.jumpIf(x.Operand, l, !want)
			return
		}
	case *syntax.BoolOp:
		isOr := x.Op == "or"
		if isOr == want {
			for _, v := range x.Values {
				c.jumpIf(v, l, want)
			}
			return
		}
		end := u.newLabel()
		for i, v := range x.Values {
			if i == len(x.Values)-1 {
				c.jumpIf(v, l, want)
			} else {
				c.jumpIf(v, end, !want)
			}
		}
		u.mark(end)
		return
	case *syntax.IfExp:
		els, end := u.newLabel(), u.newLabel()
		c.jumpIf(x.Test, els, false)
		c.jumpIf(x.Body, l, want)
		u.jump(JUMP_FORWARD, end)
		u.mark(els)
		c.jumpIf(x.Else, l, want)
		u.mark(end)
		return
	case *syntax.Constant:
		t := c.constTruth(x)
		if (t == 1) == want {
			u.jump(JUMP_FORWARD, l)
		} else {
			u.emit(NOP, 0)
		}
		return
	case *syntax.Compare:
		// `x is None` jumps on None itself.
		if len(x.Ops) == 1 && (x.Ops[0] == "is" || x.Ops[0] == "is not") {
			if k, ok := x.Comparators[0].(*syntax.Constant); ok && k.Value == nil {
				c.expr(x.Left)
				u.pos = x.Pos()
				if (x.Ops[0] == "is") == want {
					u.jump(POP_JUMP_FORWARD_IF_NONE, l)
				} else {
					u.jump(POP_JUMP_FORWARD_IF_NOT_NONE, l)
				}
				return
			}
		}
		if len(x.Ops) > 1 {
			c.chain(x, func(cleanup label) {
				end := u.newLabel()
				c.jumpOp(l, want)
				u.jump(JUMP_FORWARD, end)
				u.mark(cleanup)
				u.emit(POP_TOP, 0)
				if !want {
					u.jump(JUMP_FORWARD, l)
				}
				u.mark(end)
			}, true)
			return
		}
	}
	// The jump stands where the statement does; a comparison's where that does, and so does what follows.
	at := u.pos
	if _, ok := e.(*syntax.Compare); ok {
		at = e.Pos()
	}
	c.expr(e)
	u.pos = at
	c.jumpOp(l, want)
}

// jumpOp pops a value and jumps to l if its truth is want.
func (c *compiler) jumpOp(l label, want bool) {
	if want {
		c.u.jump(POP_JUMP_FORWARD_IF_TRUE, l)
	} else {
		c.u.jump(POP_JUMP_FORWARD_IF_FALSE, l)
	}
}

// compareOp emits the instruction of a comparison.
func (c *compiler) compareOp(op string) {
	u := c.u
	switch op {
	case "is":
		u.emit(IS_OP, 0)
	case "is not":
		u.emit(IS_OP, 1)
	case "in":
		u.emit(CONTAINS_OP, 0)
	case "not in":
		u.emit(CONTAINS_OP, 1)
	default:
		u.emit(COMPARE_OP, slices.Index(CmpOps, op))
	}
}

// chain evaluates a chained comparison; finish is called with the last result on the stack, and the label where an
// early false result arrives with the next operand still there.
func (c *compiler) chain(x *syntax.Compare, finish func(cleanup label), pop bool) {
	u := c.u
	cleanup := u.newLabel()
	c.expr(x.Left)
	last := len(x.Ops) - 1
	for i := range last {
		c.expr(x.Comparators[i])
		u.pos = x.Pos()
		u.emit(SWAP, 2)
		u.emit(COPY, 2)
		c.compareOp(x.Ops[i])
		if pop {
			u.jump(POP_JUMP_FORWARD_IF_FALSE, cleanup)
		} else {
			u.jump(JUMP_IF_FALSE_OR_POP, cleanup)
		}
	}
	c.expr(x.Comparators[last])
	u.pos = x.Pos()
	c.compareOp(x.Ops[last])
	finish(cleanup)
}

func (c *compiler) exprList(es []syntax.Expr) {
	for _, e := range es {
		c.expr(e)
	}
}

// hasStar reports whether there is a starred expression.
func hasStar(es []syntax.Expr) bool {
	for _, e := range es {
		if _, ok := e.(*syntax.Starred); ok {
			return true
		}
	}
	return false
}

// sequence builds a list or set from elements, some of them starred; pushed values may already lie below.
func (c *compiler) sequence(es []syntax.Expr, pushed int, build, add, extend Op) {
	u := c.u
	built := pushed+len(es) > stackGuideline
	if !hasStar(es) && !built {
		c.exprList(es)
		u.emit(build, pushed+len(es))
		return
	}
	n := pushed
	if pushed > 0 || built {
		u.emit(build, pushed)
		built = true
		n = 0
	}
	for _, e := range es {
		if s, ok := e.(*syntax.Starred); ok {
			if !built {
				u.emit(build, n)
				built = true
			}
			c.expr(s.Value)
			u.emit(extend, 1)
			continue
		}
		c.expr(e)
		if built {
			u.emit(add, 1)
		} else {
			n++
		}
	}
}

// stackGuideline is how many values an expression puts on the stack before it collects them in a list or a dict.
const stackGuideline = 30

// nameSpan is the position of what is done with an attribute: of one that is written over several lines, it begins at the name.
func nameSpan(at syntax.Span, a *syntax.Attribute) syntax.Span {
	if p := a.Pos(); at.Line != p.EndLine {
		at.Line = p.EndLine
		if n := int32(len(a.Attr)); n <= p.EndCol {
			at.Col = p.EndCol - n
		} else {
			at.Col, at.EndCol = -1, -1
		}
	}
	return at
}

// expr emits what puts the value of e on the stack: one value more than before. A constant expression is computed here and now. Code that
// belongs to no part of e has the position of e.
func (c *compiler) expr(e syntax.Expr) {
	u := c.u
	if e == nil {
		return
	}
	defer c.at(e)()
	if _, simple := e.(*syntax.Name); !simple {
		if v, ok := c.foldable(e); ok {
			c.loadConst(v)
			return
		}
	}
	switch e := e.(type) {
	case *syntax.Name:
		if e.Id == "__debug__" {
			c.loadConst(c.level < NoAsserts)
			return
		}
		c.loadName(e.Id)
	case *syntax.Attribute:
		c.expr(e.Value)
		u.pos = e.Pos()
		u.pos = nameSpan(e.Pos(), e)
		u.emit(LOAD_ATTR, c.name(Mangle(u.scope.class, e.Attr)))
	case *syntax.Subscript:
		c.expr(e.Value)
		c.expr(e.Index)
		u.pos = e.Pos()
		u.emit(BINARY_SUBSCR, 0)
	case *syntax.SliceExpr:
		c.slice(e)
	case *syntax.BinOp:
		c.expr(e.Left)
		c.expr(e.Right)
		u.pos = e.Pos()
		u.emit(BINARY_OP, slices.Index(BinOps, e.Op))
	case *syntax.UnaryOp:
		c.expr(e.Operand)
		u.pos = e.Pos()
		u.emit(unaryOps[e.Op], 0)
	case *syntax.BoolOp:
		c.boolOp(e)
	case *syntax.Compare:
		c.compare(e)
	case *syntax.IfExp:
		c.ifExp(e)
	case *syntax.Lambda:
		c.lambda(e)
	case *syntax.NamedExpr:
		c.expr(e.Value)
		u.emit(COPY, 1)
		c.storeName(e.Target.Id)
	case *syntax.Tuple:
		if !hasStar(e.Elts) && len(e.Elts) <= stackGuideline {
			c.exprList(e.Elts)
			u.emit(BUILD_TUPLE, len(e.Elts))
			return
		}
		c.sequence(e.Elts, 0, BUILD_LIST, LIST_APPEND, LIST_EXTEND)
		u.emit(LIST_TO_TUPLE, 0)
	case *syntax.List:
		if k, ok := c.foldedElements(e.Elts); ok {
			c.extended(BUILD_LIST, k, LIST_EXTEND)
			return
		}
		c.sequence(e.Elts, 0, BUILD_LIST, LIST_APPEND, LIST_EXTEND)
	case *syntax.Set:
		if k, ok := c.foldedElements(e.Elts); ok {
			c.extended(BUILD_SET, FrozenSet(k), SET_UPDATE)
			return
		}
		c.sequence(e.Elts, 0, BUILD_SET, SET_ADD, SET_UPDATE)
	case *syntax.Dict:
		c.dict(e)
	case *syntax.ListComp:
		c.comp(e, "<listcomp>", BUILD_LIST, e.Generators, e.Elt, nil)
	case *syntax.SetComp:
		c.comp(e, "<setcomp>", BUILD_SET, e.Generators, e.Elt, nil)
	case *syntax.DictComp:
		c.comp(e, "<dictcomp>", BUILD_MAP, e.Generators, e.Key, e.Value)
	case *syntax.GeneratorExp:
		c.comp(e, "<genexpr>", NOP, e.Generators, e.Elt, nil)
	case *syntax.Call:
		c.call(e)
	case *syntax.Starred:
		c.fail(e, "can't use starred expression here")
	case *syntax.Yield:
		c.yield(e)
	case *syntax.YieldFrom:
		c.yieldFrom(e)
	case *syntax.Await:
		c.expr(e.Value)
		u.pos = e.Pos()
		c.await(0)
	case *syntax.JoinedStr:
		c.joined(e)
	case *syntax.FormattedValue:
		c.formatted(e)
	default:
		panic(fmt.Sprintf("expression %T", e))
	}
}

var unaryOps = map[string]Op{"-": UNARY_NEGATIVE, "+": UNARY_POSITIVE, "~": UNARY_INVERT, "not": UNARY_NOT}

// slice pushes a slice object; a bound that is not written is None, and a step that is not written is no argument.
func (c *compiler) slice(e *syntax.SliceExpr) {
	n := 2
	for _, x := range []syntax.Expr{e.Lower, e.Upper} {
		if x == nil {
			c.loadConst(nil)
		} else {
			c.expr(x)
		}
	}
	if e.Step != nil {
		c.expr(e.Step)
		n = 3
	}
	c.u.emit(BUILD_SLICE, n)
}

// boolOp pushes the first operand that decides, or the last.
func (c *compiler) boolOp(e *syntax.BoolOp) {
	u := c.u
	end := u.newLabel()
	decides := JUMP_IF_TRUE_OR_POP
	if e.Op == "and" {
		decides = JUMP_IF_FALSE_OR_POP
	}
	for i, v := range e.Values {
		c.expr(v)
		if i < len(e.Values)-1 {
			u.jump(decides, end)
		}
	}
	u.mark(end)
}

// compare pushes the result of a comparison; of a chain, the first that is false, or the last.
func (c *compiler) compare(e *syntax.Compare) {
	u := c.u
	if len(e.Ops) == 1 {
		c.expr(e.Left)
		c.expr(e.Comparators[0])
		u.pos = e.Pos()
		c.compareOp(e.Ops[0])
		return
	}
	c.chain(e, func(cleanup label) {
		end := u.newLabel()
		u.jump(JUMP_FORWARD, end)
		u.mark(cleanup) // operand false: only the result stays
		u.emit(SWAP, 2)
		u.emit(POP_TOP, 0)
		u.mark(end)
	}, false)
}

// ifExp pushes one of two values.
func (c *compiler) ifExp(e *syntax.IfExp) {
	u := c.u
	els, end := u.newLabel(), u.newLabel()
	c.jumpIf(e.Test, els, false)
	c.expr(e.Body)
	u.jump(JUMP_FORWARD, end)
	u.mark(els)
	c.expr(e.Else)
	u.mark(end)
}

// foldedElements gives the elements of a list or set display if there are three or more and all are constants: such a display is made from
// one constant, as CPython makes it.
func (c *compiler) foldedElements(elts []syntax.Expr) (Tuple, bool) {
	if len(elts) <= 2 {
		return nil, false
	}
	k, ok := c.foldable(&syntax.Tuple{Elts: elts})
	if !ok {
		return nil, false
	}
	return k.(Tuple), true
}

// extended builds an empty container and puts the members of a constant into it.
func (c *compiler) extended(build Op, k any, extend Op) {
	c.u.emit(build, 0)
	c.loadConst(k)
	c.u.emit(extend, 1)
}

// yield leaves the frame with a value; what is sent is on the stack when it goes on.
func (c *compiler) yield(e *syntax.Yield) {
	u := c.u
	if e.Value == nil {
		c.loadConst(nil)
	} else {
		c.expr(e.Value)
	}
	u.pos = e.Pos()
	c.yieldTop()
}

// yieldFrom makes an iterator and delegates to it.
func (c *compiler) yieldFrom(e *syntax.YieldFrom) {
	u := c.u
	c.expr(e.Value)
	u.pos = e.Pos()
	u.emit(GET_YIELD_FROM_ITER, 0)
	c.loadConst(nil)
	c.delegate(2)
}

// joined is an f-string: its parts are strings by then, so that one alone is the value.
func (c *compiler) joined(e *syntax.JoinedStr) {
	if len(e.Values) == 0 {
		c.loadConst("")
		return
	}
	c.exprList(e.Values)
	if len(e.Values) != 1 {
		c.u.emit(BUILD_STRING, len(e.Values))
	}
}

// formatted pushes the text of a replacement field.
func (c *compiler) formatted(e *syntax.FormattedValue) {
	pos := c.u.pos
	c.expr(e.Value)
	flag := map[byte]int{0: 0, 's': 1, 'r': 2, 'a': 3}[e.Conversion]
	if e.Spec != nil {
		c.expr(e.Spec)
		flag |= 4
	}
	c.u.pos = pos
	c.u.emit(FORMAT_VALUE, flag)
}

// dict pushes a dict display. One whose keys are constants has them in one tuple; one that is long, or unpacks others, is filled piece by
// piece, so that the stack need not hold all of it.
func (c *compiler) dict(e *syntax.Dict) {
	u := c.u
	unpack := false
	for _, k := range e.Keys {
		if k == nil {
			unpack = true
		}
	}
	if !unpack {
		if len(e.Keys) > 1 {
			var keys Tuple
			for _, k := range e.Keys {
				v, ok := c.foldable(k)
				if !ok {
					break
				}
				keys = append(keys, v)
			}
			if len(keys) == len(e.Keys) && len(keys) < 32 {
				c.exprList(e.Values)
				c.loadConst(keys)
				u.emit(BUILD_CONST_KEY_MAP, len(keys))
				return
			}
		}
		if len(e.Keys) <= 16 {
			for i := range e.Keys {
				c.expr(e.Keys[i])
				c.expr(e.Values[i])
			}
			u.emit(BUILD_MAP, len(e.Keys))
			return
		}
	}
	u.emit(BUILD_MAP, 0)
	for i := range e.Keys {
		if e.Keys[i] == nil {
			c.expr(e.Values[i])
			u.emit(DICT_UPDATE, 1)
			continue
		}
		c.expr(e.Keys[i])
		c.expr(e.Values[i])
		u.emit(MAP_ADD, 1)
	}
}

// comp compiles a comprehension as a function of its outermost iterator, which it calls at once. build is the instruction for the empty
// result, NOP for a generator.
func (c *compiler) comp(e syntax.Expr, name string, build Op, gens []*syntax.Comprehension, elt, val syntax.Expr) {
	u := c.u
	sc := u.scope.children[e]
	c.enter(sc, name, int(e.Pos().Line))
	v := c.u
	v.code.ArgCount = 1
	v.emit(RESUME, 0)
	v.pos = e.Pos()
	if build != NOP {
		v.emit(build, 0)
	}
	c.generator(gens, 0, 0, build, elt, val, e.Pos())
	if build != NOP {
		v.pos = e.Pos()
		v.emit(RETURN_VALUE, 0)
	}
	co := c.leave(build == NOP)
	u.pos = e.Pos()
	c.makeClosure(co, 0)
	c.expr(gens[0].Iter)
	u.pos = e.Pos()
	c.iterator(gens[0])
	u.emit(PRECALL, 0)
	u.emit(CALL, 0)
	if sc.coroutine && build != NOP {
		c.await(0)
	}
}

// iterator makes the iterator that a clause of a comprehension walks over.
func (c *compiler) iterator(g *syntax.Comprehension) {
	if g.Async {
		c.u.emit(GET_AITER, 0)
	} else {
		c.u.emit(GET_ITER, 0)
	}
}

// generator compiles the loops from the i-th on; what is not a part of it stands at the whole comprehension.
func (c *compiler) generator(gens []*syntax.Comprehension, i, depth int, build Op, elt, val syntax.Expr, at syntax.Span) {
	u := c.u
	g := gens[i]
	start, skip, end := u.newLabel(), u.newLabel(), u.newLabel()
	if i == 0 {
		u.emit(LOAD_FAST, 0)
	} else {
		c.expr(g.Iter)
		u.pos = at
		c.iterator(g)
	}
	depth++
	u.mark(start)
	u.pos = at
	if g.Async {
		c.nextAwaited(end)
	} else {
		u.jump(FOR_ITER, end)
	}
	c.store(g.Target)
	u.pos = at
	for _, f := range g.Ifs {
		c.jumpIf(f, skip, false)
	}
	tail := u.pos
	if i+1 < len(gens) {
		c.generator(gens, i+1, depth, build, elt, val, at)
	} else {
		c.expr(elt)
		u.pos = tail
		switch build {
		case BUILD_LIST:
			u.emit(LIST_APPEND, depth+1)
		case BUILD_SET:
			u.emit(SET_ADD, depth+1)
		case BUILD_MAP:
			c.expr(val)
			u.pos = tail
			u.emit(MAP_ADD, depth+1)
		default:
			c.yieldTop()
			u.emit(POP_TOP, 0)
		}
	}
	u.mark(skip)
	u.pos = tail
	u.jump(JUMP_BACKWARD, start)
	u.mark(end)
	if g.Async {
		u.emit(END_ASYNC_FOR, 0)
	}
}

// Calls.

// call pushes what to call in the form that CALL wants: a method and self, NULL and a function, as it can be known from here.
func (c *compiler) call(e *syntax.Call) {
	u := c.u
	at := e.Pos()
	if a, ok := e.Func.(*syntax.Attribute); ok && !hasStar(e.Args) && !hasUnpack(e.Keywords) && len(e.Args)+len(e.Keywords)+min(len(e.Keywords), 1) < stackGuideline {
		c.expr(a.Value)
		u.pos = nameSpan(a.Pos(), a)
		u.emit(LOAD_METHOD, c.name(Mangle(u.scope.class, a.Attr)))
		at = nameSpan(at, a)
	} else if n, ok := e.Func.(*syntax.Name); ok && c.isGlobal(n.Id) {
		u.pos = n.Pos()
		u.emit(LOAD_GLOBAL, c.name(Mangle(u.scope.class, n.Id))<<1|1)
	} else {
		u.pos = e.Func.Pos()
		u.emit(PUSH_NULL, 0)
		c.expr(e.Func)
	}
	u.pos = at
	c.callArgs(0, e.Args, e.Keywords)
}

// isGlobal reports whether LOAD_GLOBAL finds the name, which can push NULL, too.
func (c *compiler) isGlobal(n string) bool {
	s := c.u.scope
	return s.function() && s.access(Mangle(s.class, n)) == accGlobal && n != "__debug__"
}

// hasUnpack reports whether ** is among the keywords.
func hasUnpack(ks []*syntax.Keyword) bool {
	for _, k := range ks {
		if k.Arg == "" {
			return true
		}
	}
	return false
}

// callArgs emits arguments and the call; pushed arguments already lie on the stack.
func (c *compiler) callArgs(pushed int, args []syntax.Expr, kws []*syntax.Keyword) {
	u := c.u
	pos := u.pos
	if !hasStar(args) && !hasUnpack(kws) && pushed+len(args)+2*len(kws) <= stackGuideline {
		c.exprList(args)
		n := pushed + len(args) + len(kws)
		if len(kws) > 0 {
			var names Tuple
			for _, k := range kws {
				c.expr(k.Value)
				names = append(names, k.Arg)
			}
			u.pos = pos
			u.emit(KW_NAMES, c.constant(names))
		}
		u.pos = pos
		u.emit(PRECALL, n)
		u.emit(CALL, n)
		return
	}
	if len(args) == 1 && pushed == 0 && hasStar(args) {
		c.expr(args[0].(*syntax.Starred).Value)
	} else if !hasStar(args) && pushed+len(args) <= stackGuideline {
		c.exprList(args)
		u.emit(BUILD_TUPLE, pushed+len(args))
	} else {
		c.sequence(args, pushed, BUILD_LIST, LIST_APPEND, LIST_EXTEND)
		u.emit(LIST_TO_TUPLE, 0)
	}
	flag := 0
	if len(kws) > 0 {
		flag = 1
		u.emit(BUILD_MAP, 0)
		for i := 0; i < len(kws); {
			if kws[i].Arg == "" {
				c.expr(kws[i].Value)
				u.pos = pos
				u.emit(DICT_MERGE, 1)
				i++
				continue
			}
			n := 0
			for ; i < len(kws) && kws[i].Arg != "" && 2*n < stackGuideline; i++ {
				c.loadConst(kws[i].Arg)
				c.expr(kws[i].Value)
				n++
			}
			u.emit(BUILD_MAP, n)
			u.emit(DICT_MERGE, 1)
		}
	}
	u.pos = pos
	u.emit(CALL_FUNCTION_EX, flag)
}
