package symbolic

import (
	"math"
	"sort"
	"strconv"
	"strings"
)

// style is a way to print: as sympy, or as the Python of guards.
type style struct {
	python bool
	symbol func(name string) string
}

var plainStyle = style{symbol: func(s string) string { return s }}

// Python prints e as guards show it, with source giving the text of each symbol: 2*L['x'].size()[0] < L['y'].size()[0].
func (e *Expr) Python(source func(name string) string) string {
	return print(e, style{python: true, symbol: source})
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func floatText(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// Binding strengths, as Python has them.
const (
	relation = iota
	sum
	multiple
	power
	atomic
)

func strength(e *Expr, st style) int {
	switch e.Op {
	case OpInt:
		if e.Int < 0 {
			return sum
		}
	case OpFloat:
		if math.Signbit(e.Float) {
			return sum
		}
	case OpAdd, OpFloatAdd:
		return sum
	case OpMul, OpFloatMul:
		return multiple
	case OpPow:
		if st.python {
			return multiple
		}
		return power
	case OpTrueDiv:
		if st.python {
			return multiple
		}
	case OpFloatPow:
		if st.python {
			return power
		}
	case OpFloorDiv:
		if !st.python {
			return multiple // sympy parenthesises it again inside of a product
		}
	case OpEq, OpNe:
		if st.python {
			return relation
		}
	case OpLt, OpLe, OpGt, OpGe, OpNot:
		return relation
	}
	return atomic
}

// bareInSum reports whether e is a product or power that stands in a sum without parentheses, as sympy writes it: one without a
// minus sign.
func bareInSum(e *Expr) bool {
	switch e.Op {
	case OpPow:
		return true
	case OpMul:
		return e.Args[0].Op != OpInt || e.Args[0].Int >= 0
	}
	return false
}

// operand is e within an operation that binds with a strength: in parentheses where it binds less.
func (st style) operand(e *Expr, min int) string {
	s := print(e, st)
	if strength(e, st) < min {
		return "(" + s + ")"
	}
	return s
}

func (st style) call(e *Expr, name string) string {
	parts := make([]string, len(e.Args))
	for i, a := range e.Args {
		parts[i] = print(a, st)
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func (st style) infix(e *Expr, op string, l, r int) string {
	return st.operand(e.Args[0], l) + op + st.operand(e.Args[1], r)
}

// sum prints a sum. sympy writes a negative summand with a minus sign of its own; PyTorch's printer of guards puts all but products in
// parentheses.
func (st style) sum(e *Expr) string {
	if st.python {
		var parts []string
		for _, a := range Summands(e) {
			if bareInSum(a) {
				parts = append(parts, print(a, st))
				continue
			}
			parts = append(parts, st.operand(a, atomic))
		}
		return strings.Join(parts, " + ")
	}
	s := ""
	for i, a := range e.Args {
		t := st.operand(a, sum)
		switch neg := strings.HasPrefix(t, "-"); {
		case i == 0:
			s = t
		case neg:
			s += " - " + t[1:]
		default:
			s += " + " + t
		}
	}
	return s
}

// product prints a product. In sympy's form a leading -1 is a sign.
func (st style) product(e *Expr) string {
	if st.python {
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = st.operand(a, atomic)
		}
		return strings.Join(parts, "*")
	}
	s := ""
	for i, a := range e.Args {
		if i == 0 && a.Op == OpInt && a.Int == -1 {
			s = "-"
			continue
		}
		t := print(a, st)
		if strength(a, st) < power && !(i == 0 && a.Op == OpInt) {
			t = "(" + t + ")"
		}
		if s != "" && s != "-" {
			s += "*"
		}
		s += t
	}
	return s
}

// An opName is how an operation between two operands, or on some, is written: as a call by a name, or by an operator between operands that bind
// with at least the given strengths.
type opName struct {
	call        string
	infix       string
	left, right int
}

// sympyNames and pythonNames hold the operations that have no form of their own; print knows the others.
var sympyNames = map[Op]opName{
	OpPow: {infix: "**", left: atomic, right: atomic},
	OpMod: {call: "Mod"}, OpMax: {call: "Max"}, OpMin: {call: "Min"}, OpAbs: {call: "Abs"}, OpToFloat: {call: "ToFloat"}, OpTrunc: {call: "TruncToInt"},
	OpTrueDiv: {call: "FloatTrueDiv"}, OpFloatPow: {call: "FloatPow"}, OpEq: {call: "Eq"}, OpNe: {call: "Ne"},
	OpLt: {infix: " < ", left: sum, right: sum}, OpLe: {infix: " <= ", left: sum, right: sum},
	OpGt: {infix: " > ", left: sum, right: sum}, OpGe: {infix: " >= ", left: sum, right: sum},
}

var pythonNames = map[Op]opName{
	OpMax: {call: "max"}, OpMin: {call: "min"}, OpAbs: {call: "abs"}, OpToFloat: {call: "float"}, OpTrunc: {call: "math.trunc"},
	OpTrueDiv: {infix: " / ", left: multiple, right: power}, OpFloatPow: {infix: " ** ", left: power, right: power},
	OpEq: {infix: " == ", left: atomic, right: atomic}, OpNe: {infix: " != ", left: atomic, right: atomic},
	OpLt: {infix: " < ", left: sum, right: sum}, OpLe: {infix: " <= ", left: sum, right: sum},
	OpGt: {infix: " > ", left: sum, right: sum}, OpGe: {infix: " >= ", left: sum, right: sum},
}

func print(e *Expr, st style) string {
	switch e.Op {
	case OpInt:
		return itoa(e.Int)
	case OpFloat:
		return floatText(e.Float)
	case OpBool:
		if e.Int != 0 {
			return "True"
		}
		return "False"
	case OpSym:
		return st.symbol(e.Name)
	case OpAdd, OpFloatAdd:
		return st.sum(e)
	case OpMul, OpFloatMul:
		return st.product(e)
	case OpFloorDiv:
		if !st.python {
			return "(" + st.infix(e, "//", power, power) + ")"
		}
		return "(" + st.infix(e, " // ", atomic, atomic) + ")"
	case OpCall:
		switch {
		case st.python:
			return st.call(e, "math."+e.Name)
		case e.Name == "floor" || e.Name == "ceil":
			return st.call(e, e.Name)
		}
		return st.call(e, "OpaqueUnaryFn_"+e.Name)
	case OpNot:
		if st.python {
			return "not " + st.operand(e.Args[0], sum)
		}
		return "~" + st.operand(e.Args[0], sum)
	}
	names := sympyNames
	if st.python {
		switch names = pythonNames; e.Op {
		case OpPow: // a power of integers is a product
			return strings.TrimSuffix(strings.Repeat(st.operand(e.Args[0], atomic)+"*", int(e.Args[1].Int)), "*")
		case OpMod:
			return "(" + st.infix(e, " % ", atomic, atomic) + ")"
		}
	}
	switch n := names[e.Op]; {
	case n.call != "":
		return st.call(e, n.call)
	case n.infix != "":
		return st.infix(e, n.infix, n.left, n.right)
	}
	return "?"
}

// Summands are the parts of a sum in the order in which sympy keeps them: numbers, symbols, powers, products, functions.
func Summands(e *Expr) []*Expr {
	args := append([]*Expr(nil), e.Args...)
	class := func(a *Expr) int {
		switch a.Op {
		case OpInt, OpFloat:
			return 0
		case OpSym:
			return 1
		case OpPow:
			return 2
		case OpMul, OpFloatMul:
			return 3
		}
		return 4
	}
	sort.SliceStable(args, func(i, j int) bool {
		if a, b := class(args[i]), class(args[j]); a != b {
			return a < b
		}
		return args[i].text < args[j].text
	})
	return args
}

// List is the text of expressions as a list: [s0, 2*s1].
func List(es []*Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = e.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
