package symbolic

import (
	"math"
	"slices"
	"sort"
)

// Op is the kind of an expression's outermost part.
type Op uint8

// The kinds of expressions. Relations and the connectives of booleans are expressions, too.
const (
	OpInt      Op = iota
	OpFloat       // a constant
	OpBool        // a constant; Int is 0 or 1
	OpSym         // Name
	OpAdd         // of products, in print order
	OpMul         // of powers, an integer coefficient first
	OpPow         // an atom and a constant exponent above 1
	OpFloorDiv    // rounds towards minus infinity
	OpMod         // has the divisor's sign
	OpMax         //
	OpMin         //
	OpAbs         //
	OpToFloat     // of an integer
	OpTrunc       // a float as an integer, towards zero
	OpTrueDiv     // always a float
	OpFloatPow    //
	OpFloatAdd    // float arithmetic is kept as it was written
	OpFloatMul    //
	OpCall        // Name(args): a float function of floats
	OpEq          //
	OpNe          //
	OpLt          //
	OpLe          //
	OpGt          //
	OpGe          //
	OpNot         //
)

// Expr is an expression in canonical form. It never changes; two expressions are equal when their Strings are.
type Expr struct {
	Op    Op
	Int   int64
	Float float64
	Name  string
	Args  []*Expr
	text  string
}

// String prints e as PyTorch does: 2*s0 + 1, (s0//2), Mod(s0, 2), Eq(s0, s1).
func (e *Expr) String() string { return e.text }

func done(e *Expr) *Expr {
	e.text = print(e, plainStyle)
	return e
}

// Int is the constant n.
func Int(n int64) *Expr { return done(&Expr{Op: OpInt, Int: n}) }

// Float is the constant f.
func Float(f float64) *Expr { return done(&Expr{Op: OpFloat, Float: f}) }

// Bool is the constant b.
func Bool(b bool) *Expr {
	e := &Expr{Op: OpBool}
	if b {
		e.Int = 1
	}
	return done(e)
}

// Sym is the symbol of that name; names that contain an f (zf1) are floats.
func Sym(name string) *Expr { return done(&Expr{Op: OpSym, Name: name}) }

// IsConst reports whether e holds no symbol.
func (e *Expr) IsConst() bool { return e.Op == OpInt || e.Op == OpFloat || e.Op == OpBool }

// IsFloat reports whether e's value is a float.
func (e *Expr) IsFloat() bool {
	switch e.Op {
	case OpFloat, OpToFloat, OpTrueDiv, OpFloatPow, OpFloatAdd, OpFloatMul, OpCall:
		return true
	case OpSym:
		return floatName(e.Name)
	case OpMax, OpMin, OpAbs:
		for _, a := range e.Args {
			if a.IsFloat() {
				return true
			}
		}
	}
	return false
}

func floatName(s string) bool { return len(s) > 1 && s[0] == 'z' }

// IsBool reports whether e's value is a truth value.
func (e *Expr) IsBool() bool { return e.Op >= OpEq || e.Op == OpBool }

// factor is an atom to a power.
type factor struct {
	base *Expr
	exp  int64
}

// term is coef times factors, sorted by their bases.
type term struct {
	coef int64
	fs   []factor
}

func (t term) key() string {
	s := ""
	for _, f := range t.fs {
		s += f.base.text + "^" + itoa(f.exp) + ";"
	}
	return s
}

// terms is e as a sum of products.
func (e *Expr) terms() []term {
	switch e.Op {
	case OpInt:
		if e.Int == 0 {
			return nil
		}
		return []term{{coef: e.Int}}
	case OpAdd:
		var out []term
		for _, a := range e.Args {
			out = append(out, a.terms()...)
		}
		return out
	case OpMul:
		t := term{coef: 1}
		for _, a := range e.Args {
			switch a.Op {
			case OpInt:
				t.coef = a.Int
			case OpPow:
				t.fs = append(t.fs, factor{a.Args[0], a.Args[1].Int})
			default:
				t.fs = append(t.fs, factor{a, 1})
			}
		}
		return []term{t}
	case OpPow:
		return []term{{1, []factor{{e.Args[0], e.Args[1].Int}}}}
	}
	return []term{{1, []factor{{e, 1}}}}
}

// less orders atoms: symbols before functions, by text.
func less(a, b *Expr) bool {
	if (a.Op == OpSym) != (b.Op == OpSym) {
		return a.Op == OpSym
	}
	return a.text < b.text
}

func product(a, b term) term {
	t := term{coef: a.coef * b.coef}
	i, j := 0, 0
	for i < len(a.fs) || j < len(b.fs) {
		switch {
		case j == len(b.fs) || i < len(a.fs) && less(a.fs[i].base, b.fs[j].base):
			t.fs = append(t.fs, a.fs[i])
			i++
		case i == len(a.fs) || less(b.fs[j].base, a.fs[i].base):
			t.fs = append(t.fs, b.fs[j])
			j++
		default:
			t.fs = append(t.fs, factor{a.fs[i].base, a.fs[i].exp + b.fs[j].exp})
			i++
			j++
		}
	}
	return t
}

// collect adds up equal products and builds the sum in print order.
func collect(ts []term) *Expr {
	byKey := map[string]int{}
	var out []term
	for _, t := range ts {
		k := t.key()
		if i, ok := byKey[k]; ok {
			out[i].coef += t.coef
			continue
		}
		byKey[k] = len(out)
		out = append(out, t)
	}
	kept := out[:0]
	var gens []*Expr
	seen := map[string]bool{}
	for _, t := range out {
		if t.coef == 0 {
			continue
		}
		kept = append(kept, t)
		for _, f := range t.fs {
			if !seen[f.base.text] {
				seen[f.base.text] = true
				gens = append(gens, f.base)
			}
		}
	}
	sort.Slice(gens, func(i, j int) bool { return less(gens[i], gens[j]) })
	exp := func(t term, g *Expr) int64 {
		for _, f := range t.fs {
			if f.base.text == g.text {
				return f.exp
			}
		}
		return 0
	}
	sort.SliceStable(kept, func(i, j int) bool {
		for _, g := range gens {
			if a, b := exp(kept[i], g), exp(kept[j], g); a != b {
				return a > b
			}
		}
		return false
	})
	switch len(kept) {
	case 0:
		return Int(0)
	case 1:
		return kept[0].expr()
	}
	sum := &Expr{Op: OpAdd}
	for _, t := range kept {
		sum.Args = append(sum.Args, t.expr())
	}
	return done(sum)
}

func (t term) expr() *Expr {
	var args []*Expr
	if t.coef != 1 || len(t.fs) == 0 {
		args = append(args, Int(t.coef))
	}
	for _, f := range t.fs {
		if f.exp == 1 {
			args = append(args, f.base)
		} else {
			args = append(args, done(&Expr{Op: OpPow, Args: []*Expr{f.base, Int(f.exp)}}))
		}
	}
	if len(args) == 1 {
		return args[0]
	}
	return done(&Expr{Op: OpMul, Args: args})
}

// Add is the sum of es.
func Add(es ...*Expr) *Expr {
	for _, e := range es {
		if e.IsFloat() {
			return floats(OpFloatAdd, es)
		}
	}
	var ts []term
	for _, e := range es {
		ts = append(ts, e.terms()...)
	}
	return collect(ts)
}

// Mul is the product of es, expanded.
func Mul(es ...*Expr) *Expr {
	for _, e := range es {
		if e.IsFloat() {
			return floats(OpFloatMul, es)
		}
	}
	acc := []term{{coef: 1}}
	for _, e := range es {
		var next []term
		for _, a := range acc {
			for _, b := range e.terms() {
				next = append(next, product(a, b))
			}
		}
		acc = next
	}
	return collect(acc)
}

// Neg is -e.
func Neg(e *Expr) *Expr { return Mul(Int(-1), e) }

// Sub is a - b.
func Sub(a, b *Expr) *Expr { return Add(a, Neg(b)) }

// Pow is base to a constant power n of at least 0.
func Pow(base *Expr, n int64) *Expr {
	out := Int(1)
	for ; n > 0; n-- {
		out = Mul(out, base)
	}
	return out
}

// asFloat makes an integer expression a float one.
func asFloat(e *Expr) *Expr {
	switch {
	case e.Op == OpInt:
		return Float(float64(e.Int))
	case e.IsFloat():
		return e
	}
	return done(&Expr{Op: OpToFloat, Args: []*Expr{e}})
}

// ToFloat is e as a float.
func ToFloat(e *Expr) *Expr { return asFloat(e) }

func floats(op Op, es []*Expr) *Expr {
	args := make([]*Expr, len(es))
	all := true
	for i, e := range es {
		args[i] = asFloat(e)
		all = all && args[i].Op == OpFloat
	}
	if op == OpFloatAdd && !all {
		args = slices.DeleteFunc(args, func(e *Expr) bool { return e.Op == OpFloat && e.Float == 0 })
		if len(args) == 1 {
			return args[0]
		}
	}
	e := &Expr{Op: op, Args: args}
	if all {
		return constant(e)
	}
	return done(e)
}

// constant folds an expression of constants.
func constant(e *Expr) *Expr {
	v, err := e.Eval(nil)
	if err != nil {
		return done(e)
	}
	return Const(v)
}

// Const is the constant of a Go value: int64, float64 or bool.
func Const(v any) *Expr {
	switch v := v.(type) {
	case int64:
		return Int(v)
	case float64:
		return Float(v)
	case bool:
		return Bool(v)
	}
	return Int(0)
}

// Trunc is a float as an integer, rounded towards zero.
func Trunc(e *Expr) *Expr {
	if !e.IsFloat() {
		return e
	}
	t := &Expr{Op: OpTrunc, Args: []*Expr{e}}
	if e.Op == OpFloat {
		return constant(t)
	}
	return done(t)
}

// TrueDiv is a / b.
func TrueDiv(a, b *Expr) *Expr { return floats(OpTrueDiv, []*Expr{a, b}) }

// FloatPow is a ** b in floats.
func FloatPow(a, b *Expr) *Expr { return floats(OpFloatPow, []*Expr{a, b}) }

// Call is the float function of that name; Eval knows sqrt, sin, cos, tan, exp, log, floor and ceil.
func Call(name string, args ...*Expr) *Expr {
	e := floats(OpCall, args)
	if e.Op != OpCall {
		return e
	}
	e.Name = name
	for _, a := range e.Args {
		if !a.IsConst() {
			return done(e)
		}
	}
	return constant(e)
}

// gcd of coefficients; 0 for none.
func gcd(a, b int64) int64 {
	if a < 0 {
		a = -a
	}
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// divide is a/b when b, a product, divides every product of a.
func divide(a, b *Expr) (*Expr, bool) {
	bt := b.terms()
	if len(bt) != 1 {
		return nil, false
	}
	var out []term
	for _, t := range a.terms() {
		q, ok := quotient(t, bt[0])
		if !ok {
			return nil, false
		}
		out = append(out, q)
	}
	return collect(out), true
}

func quotient(a, b term) (term, bool) {
	if b.coef == 0 || a.coef%b.coef != 0 {
		return term{}, false
	}
	q := term{coef: a.coef / b.coef}
	left := append([]factor(nil), a.fs...)
	for _, f := range b.fs {
		found := false
		for i := range left {
			if left[i].base.text == f.base.text && left[i].exp >= f.exp {
				left[i].exp -= f.exp
				found = true
				break
			}
		}
		if !found {
			return term{}, false
		}
	}
	for _, f := range left {
		if f.exp > 0 {
			q.fs = append(q.fs, f)
		}
	}
	return q, true
}

// DivMod is Python's a // b, rounded towards minus infinity, and a % b, with the sign of b, which is not 0.
func DivMod(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r != 0 && (r < 0) != (b < 0) {
		q, r = q-1, r+b
	}
	return q, r
}

// FloorDiv is a // b.
func FloorDiv(a, b *Expr) *Expr {
	if a.IsFloat() || b.IsFloat() {
		return Call("floor", TrueDiv(a, b))
	}
	if a.Op == OpInt && b.Op == OpInt && b.Int != 0 {
		q, _ := DivMod(a.Int, b.Int)
		return Int(q)
	}
	if b.Op == OpInt && b.Int == 0 {
		return done(&Expr{Op: OpFloorDiv, Args: []*Expr{a, b}})
	}
	if q, ok := divide(a, b); ok {
		return q
	}
	if a.Op == OpFloorDiv {
		return FloorDiv(a.Args[0], Mul(a.Args[1], b))
	}
	bt := b.terms()
	if len(bt) == 1 {
		// Products that a constant b divides leave the floor: (2*x + y)//2 is x + y//2.
		var whole, rest []term
		for _, t := range a.terms() {
			if q, ok := quotient(t, bt[0]); ok {
				whole = append(whole, q)
			} else {
				rest = append(rest, t)
			}
		}
		if len(whole) > 0 && b.Op == OpInt {
			return Add(collect(whole), FloorDiv(collect(rest), b))
		}
		// Common symbols of a and b cancel: (s0*s1)//(2*s0) is s1//2.
		for _, f := range bt[0].fs {
			if x, ok := divide(a, f.base); ok {
				y, _ := divide(b, f.base)
				return FloorDiv(x, y)
			}
		}
		g := bt[0].coef
		for _, t := range a.terms() {
			g = gcd(g, t.coef)
		}
		if g > 1 {
			x, _ := divide(a, Int(g))
			y, _ := divide(b, Int(g))
			return FloorDiv(x, y)
		}
	}
	return done(&Expr{Op: OpFloorDiv, Args: []*Expr{a, b}})
}

// Mod is a % b with the sign of b.
func Mod(a, b *Expr) *Expr {
	if a.Op == OpInt && b.Op == OpInt && b.Int != 0 {
		_, r := DivMod(a.Int, b.Int)
		return Int(r)
	}
	if _, ok := divide(a, b); ok {
		return Int(0)
	}
	return done(&Expr{Op: OpMod, Args: []*Expr{a, b}})
}

// Max is the greater of a and b.
func Max(a, b *Expr) *Expr { return extreme(OpMax, a, b) }

// Min is the smaller of a and b.
func Min(a, b *Expr) *Expr { return extreme(OpMin, a, b) }

func extreme(op Op, a, b *Expr) *Expr {
	if a.text == b.text {
		return a
	}
	if !a.IsFloat() && !b.IsFloat() {
		if d := Sub(a, b); d.Op == OpInt {
			if (d.Int > 0) == (op == OpMax) {
				return a
			}
			return b
		}
	} else {
		a, b = asFloat(a), asFloat(b)
	}
	if b.text < a.text {
		a, b = b, a
	}
	e := &Expr{Op: op, Args: []*Expr{a, b}}
	if a.IsConst() && b.IsConst() {
		return constant(e)
	}
	return done(e)
}

// Abs is |e|.
func Abs(e *Expr) *Expr {
	if e.IsConst() {
		return constant(&Expr{Op: OpAbs, Args: []*Expr{e}})
	}
	if !e.IsFloat() {
		if ts := e.terms(); ts[0].coef < 0 {
			e = Neg(e)
		}
	}
	return done(&Expr{Op: OpAbs, Args: []*Expr{e}})
}

// Cmp is the relation l op r; constants are folded.
func Cmp(op Op, l, r *Expr) *Expr {
	e := &Expr{Op: op, Args: []*Expr{l, r}}
	if l.IsFloat() || r.IsFloat() {
		e.Args[0], e.Args[1] = asFloat(l), asFloat(r)
		if e.Args[0].IsConst() && e.Args[1].IsConst() {
			return constant(e)
		}
		return done(e)
	}
	if l.IsBool() || r.IsBool() {
		if l.IsConst() && r.IsConst() {
			return Bool((l.Int == r.Int) == (op == OpEq))
		}
		return done(e)
	}
	if d := Sub(l, r); d.Op == OpInt {
		return Bool(compare(op, float64(d.Int), 0))
	}
	return done(e)
}

func compare(op Op, a, b float64) bool {
	switch op {
	case OpEq:
		return a == b
	case OpNe:
		return a != b
	case OpLt:
		return a < b
	case OpLe:
		return a <= b
	case OpGt:
		return a > b
	}
	return a >= b
}

var negated = map[Op]Op{OpEq: OpNe, OpNe: OpEq, OpLt: OpGe, OpGe: OpLt, OpLe: OpGt, OpGt: OpLe}

// Not is the opposite of a truth value.
func Not(e *Expr) *Expr {
	switch {
	case e.Op == OpBool:
		return Bool(e.Int == 0)
	case e.Op == OpNot:
		return e.Args[0]
	case negated[e.Op] != 0:
		return done(&Expr{Op: negated[e.Op], Args: e.Args})
	}
	return done(&Expr{Op: OpNot, Args: []*Expr{e}})
}

// rebuild makes the expression of e's kind over other arguments.
func rebuild(e *Expr, args []*Expr) *Expr {
	switch e.Op {
	case OpAdd:
		return Add(args...)
	case OpMul:
		return Mul(args...)
	case OpPow:
		return Pow(args[0], args[1].Int)
	case OpFloorDiv:
		return FloorDiv(args[0], args[1])
	case OpMod:
		return Mod(args[0], args[1])
	case OpMax, OpMin:
		return extreme(e.Op, args[0], args[1])
	case OpAbs:
		return Abs(args[0])
	case OpToFloat:
		return asFloat(args[0])
	case OpTrunc:
		return Trunc(args[0])
	case OpTrueDiv, OpFloatPow, OpFloatAdd, OpFloatMul:
		return floats(e.Op, args)
	case OpCall:
		return Call(e.Name, args...)
	case OpNot:
		return Not(args[0])
	}
	return Cmp(e.Op, args[0], args[1])
}

// Subst replaces symbols; those for which f gives nil stay.
func (e *Expr) Subst(f func(name string) *Expr) *Expr {
	if e.Op == OpSym {
		if x := f(e.Name); x != nil {
			return x
		}
		return e
	}
	if len(e.Args) == 0 {
		return e
	}
	args := make([]*Expr, len(e.Args))
	changed := false
	for i, a := range e.Args {
		args[i] = a.Subst(f)
		changed = changed || args[i] != a
	}
	if !changed {
		return e
	}
	return rebuild(e, args)
}

// Symbols lists the names of e's symbols in order of appearance.
func (e *Expr) Symbols() []string {
	var out []string
	seen := map[string]bool{}
	var walk func(*Expr)
	walk = func(e *Expr) {
		if e.Op == OpSym && !seen[e.Name] {
			seen[e.Name] = true
			out = append(out, e.Name)
		}
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
	return out
}

// has reports whether e contains a part of kind op.
func (e *Expr) has(op Op) bool {
	if e.Op == op {
		return true
	}
	for _, a := range e.Args {
		if a.has(op) {
			return true
		}
	}
	return false
}

var functions = map[string]func(float64) float64{"sqrt": math.Sqrt, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "exp": math.Exp, "log": math.Log,
	"floor": math.Floor, "ceil": math.Ceil, "tanh": math.Tanh, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan, "sinh": math.Sinh, "cosh": math.Cosh, "log2": math.Log2}
