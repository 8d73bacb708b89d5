package symbolic

import (
	"cmp"
	"fmt"
	"math"
)

// Eval computes e: int64, float64 or bool. value gives the symbols' values (int64 or float64); nil where e has none.
// An error names a symbol without a value, a division by zero, or an unknown function.
func (e *Expr) Eval(value func(name string) (any, bool)) (any, error) {
	switch e.Op {
	case OpInt:
		return e.Int, nil
	case OpFloat:
		return e.Float, nil
	case OpBool:
		return e.Int != 0, nil
	case OpSym:
		if value != nil {
			if v, ok := value(e.Name); ok {
				return v, nil
			}
		}
		return nil, fmt.Errorf("symbolic: %s has no value", e.Name)
	}
	args := make([]any, len(e.Args))
	for i, a := range e.Args {
		v, err := a.Eval(value)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	if e.Op == OpNot {
		b, _ := args[0].(bool)
		return !b, nil
	}
	ns := numbersOf(args)
	if e.Op >= OpEq {
		return ns.compare(e.Op), nil
	}
	return e.apply(ns)
}

// numbers are operands as integers, where all are whole, and as floats.
type numbers struct {
	ints  []int64
	fs    []float64
	whole bool
}

func numbersOf(args []any) numbers {
	ints := make([]int64, len(args))
	fs := make([]float64, len(args))
	whole := true
	for i, a := range args {
		switch a := a.(type) {
		case int64:
			ints[i], fs[i] = a, float64(a)
		case float64:
			fs[i], whole = a, false
		case bool:
			if a {
				ints[i], fs[i] = 1, 1
			}
		}
	}
	return numbers{ints, fs, whole}
}

// compare decides a relation of two numbers. Whole ones are compared as integers, as large ones are no floats.
func (n numbers) compare(op Op) bool {
	if n.whole {
		return compare(op, float64(cmp.Compare(n.ints[0], n.ints[1])), 0)
	}
	return compare(op, n.fs[0], n.fs[1])
}

// apply computes an operation that gives a number.
func (e *Expr) apply(n numbers) (any, error) {
	ints, fs, whole := n.ints, n.fs, n.whole
	switch e.Op {
	case OpAdd:
		var s int64
		for _, x := range ints {
			s += x
		}
		return s, nil
	case OpMul:
		p := int64(1)
		for _, x := range ints {
			p *= x
		}
		return p, nil
	case OpPow:
		p := int64(1)
		for range ints[1] {
			p *= ints[0]
		}
		return p, nil
	case OpFloorDiv, OpMod:
		if ints[1] == 0 {
			return nil, fmt.Errorf("symbolic: division by zero in %s", e)
		}
		q, r := DivMod(ints[0], ints[1])
		if e.Op == OpFloorDiv {
			return q, nil
		}
		return r, nil
	case OpMax, OpMin:
		if whole {
			if e.Op == OpMax {
				return max(ints[0], ints[1]), nil
			}
			return min(ints[0], ints[1]), nil
		}
		if e.Op == OpMax {
			return max(fs[0], fs[1]), nil
		}
		return min(fs[0], fs[1]), nil
	case OpAbs:
		if whole {
			return max(ints[0], -ints[0]), nil
		}
		return math.Abs(fs[0]), nil
	case OpToFloat:
		return fs[0], nil
	case OpTrunc:
		return int64(fs[0]), nil
	case OpTrueDiv:
		if fs[1] == 0 {
			return nil, fmt.Errorf("symbolic: division by zero in %s", e)
		}
		return fs[0] / fs[1], nil
	case OpFloatPow:
		return math.Pow(fs[0], fs[1]), nil
	case OpFloatAdd:
		s := 0.0
		for _, x := range fs {
			s += x
		}
		return s, nil
	case OpFloatMul:
		p := 1.0
		for _, x := range fs {
			p *= x
		}
		return p, nil
	case OpCall:
		if f := functions[e.Name]; f != nil {
			return f(fs[0]), nil
		}
		return nil, fmt.Errorf("symbolic: unknown function %s", e.Name)
	}
	return nil, fmt.Errorf("symbolic: cannot evaluate %s", e)
}

// Range is the set of integers from Lo to Hi; the ends of int64 stand for no bound.
type Range struct{ Lo, Hi int64 }

// NoLower and NoUpper mark open ends of a Range.
const (
	NoLower = math.MinInt64
	NoUpper = math.MaxInt64
)

// All is the range of every integer.
var All = Range{NoLower, NoUpper}

func open(x int64) bool { return x == NoLower || x == NoUpper }

// satAdd and satMul treat the ends of int64 as infinities.
func satAdd(a, b int64) int64 {
	if open(a) {
		return a
	}
	if open(b) {
		return b
	}
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return NoUpper
	case a < 0 && b < 0 && s >= 0:
		return NoLower
	}
	return s
}

func satMul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	neg := (a < 0) != (b < 0)
	end := int64(NoUpper)
	if neg {
		end = NoLower
	}
	if open(a) || open(b) {
		return end
	}
	p := a * b
	if p/b != a || open(p) {
		return end
	}
	return p
}

func mulRange(a, b Range) Range {
	ps := []int64{satMul(a.Lo, b.Lo), satMul(a.Lo, b.Hi), satMul(a.Hi, b.Lo), satMul(a.Hi, b.Hi)}
	r := Range{ps[0], ps[0]}
	for _, p := range ps[1:] {
		r.Lo, r.Hi = min(r.Lo, p), max(r.Hi, p)
	}
	return r
}

// Bound is a range that holds every value of an integer expression, given the ranges of its symbols.
func (e *Expr) Bound(of func(name string) Range) Range {
	switch e.Op {
	case OpInt:
		return Range{e.Int, e.Int}
	case OpSym:
		return of(e.Name)
	case OpAdd:
		r := Range{0, 0}
		for _, a := range e.Args {
			b := a.Bound(of)
			r.Lo, r.Hi = satAdd(r.Lo, b.Lo), satAdd(r.Hi, b.Hi)
		}
		return r
	case OpMul:
		r := Range{1, 1}
		for _, a := range e.Args {
			r = mulRange(r, a.Bound(of))
		}
		return r
	case OpPow:
		b, r := e.Args[0].Bound(of), Range{1, 1}
		for range e.Args[1].Int {
			r = mulRange(r, b)
		}
		if e.Args[1].Int%2 == 0 {
			r.Lo = max(r.Lo, 0)
		}
		return r
	case OpFloorDiv:
		a, b := e.Args[0].Bound(of), e.Args[1].Bound(of)
		if b.Lo <= 0 {
			return All
		}
		div := func(x, y int64) int64 {
			switch {
			case open(x) && open(y), !open(x) && open(y):
				if x < 0 {
					return -1
				}
				return 0
			case open(x):
				return x
			}
			q, _ := DivMod(x, y)
			return q
		}
		lo := min(div(a.Lo, b.Lo), div(a.Lo, b.Hi))
		hi := max(div(a.Hi, b.Lo), div(a.Hi, b.Hi))
		return Range{lo, hi}
	case OpMod:
		a, b := e.Args[0].Bound(of), e.Args[1].Bound(of)
		if b.Lo <= 0 {
			return All
		}
		hi := b.Hi
		if !open(hi) {
			hi--
		}
		if a.Lo >= 0 {
			hi = min(hi, a.Hi)
		}
		return Range{0, hi}
	case OpMax:
		a, b := e.Args[0].Bound(of), e.Args[1].Bound(of)
		return Range{max(a.Lo, b.Lo), max(a.Hi, b.Hi)}
	case OpMin:
		a, b := e.Args[0].Bound(of), e.Args[1].Bound(of)
		return Range{min(a.Lo, b.Lo), min(a.Hi, b.Hi)}
	case OpAbs:
		a := e.Args[0].Bound(of)
		if a.Lo >= 0 {
			return a
		}
		return Range{0, NoUpper}
	}
	return All
}
