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
		if e.Float < 0 {
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

func print(e *Expr, st style) string {
	sub := func(a *Expr, min int) string {
		s := print(a, st)
		if strength(a, st) < min {
			return "(" + s + ")"
		}
		return s
	}
	call := func(name string) string {
		parts := make([]string, len(e.Args))
		for i, a := range e.Args {
			parts[i] = print(a, st)
		}
		return name + "(" + strings.Join(parts, ", ") + ")"
	}
	infix := func(op string, l, r int) string { return sub(e.Args[0], l) + op + sub(e.Args[1], r) }
	join := func(args []*Expr, op string) string {
		parts := make([]string, len(args))
		for i, a := range args {
			parts[i] = sub(a, atomic)
		}
		return strings.Join(parts, op)
	}
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
		if st.python {
			var parts []string
			for _, a := range Summands(e) {
				if bareInSum(a) {
					parts = append(parts, print(a, st))
					continue
				}
				parts = append(parts, sub(a, atomic))
			}
			return strings.Join(parts, " + ")
		}
		s := ""
		for i, a := range e.Args {
			t := sub(a, sum)
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
	case OpMul, OpFloatMul:
		if st.python {
			return join(e.Args, "*")
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
	case OpPow:
		if st.python {
			return strings.TrimSuffix(strings.Repeat(sub(e.Args[0], atomic)+"*", int(e.Args[1].Int)), "*")
		}
		return infix("**", atomic, atomic)
	case OpFloorDiv:
		if st.python {
			return "(" + infix(" // ", atomic, atomic) + ")"
		}
		return "(" + infix("//", power, power) + ")"
	case OpMod:
		if st.python {
			return "(" + infix(" % ", atomic, atomic) + ")"
		}
		return call("Mod")
	case OpMax:
		if st.python {
			return call("max")
		}
		return call("Max")
	case OpMin:
		if st.python {
			return call("min")
		}
		return call("Min")
	case OpAbs:
		if st.python {
			return call("abs")
		}
		return call("Abs")
	case OpToFloat:
		if st.python {
			return call("float")
		}
		return call("ToFloat")
	case OpTrunc:
		if st.python {
			return call("math.trunc")
		}
		return call("TruncToInt")
	case OpTrueDiv:
		if st.python {
			return infix(" / ", multiple, power)
		}
		return call("FloatTrueDiv")
	case OpFloatPow:
		if st.python {
			return infix(" ** ", power, power)
		}
		return call("FloatPow")
	case OpCall:
		if st.python {
			return call("math." + e.Name)
		}
		if e.Name == "floor" || e.Name == "ceil" {
			return call(e.Name)
		}
		return call("OpaqueUnaryFn_" + e.Name)
	case OpEq:
		if st.python {
			return infix(" == ", atomic, atomic)
		}
		return call("Eq")
	case OpNe:
		if st.python {
			return infix(" != ", atomic, atomic)
		}
		return call("Ne")
	case OpLt:
		return infix(" < ", sum, sum)
	case OpLe:
		return infix(" <= ", sum, sum)
	case OpGt:
		return infix(" > ", sum, sum)
	case OpGe:
		return infix(" >= ", sum, sum)
	case OpNot:
		if st.python {
			return "not " + sub(e.Args[0], sum)
		}
		return "~" + sub(e.Args[0], sum)
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
