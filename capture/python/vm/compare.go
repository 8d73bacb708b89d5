package vm

import (
	"bytes"
	"math"
	"math/big"
	"strings"
)

// Eq is a == b as a truth value.
func (in *Interp) Eq(a, b Object) (bool, error) {
	v, err := in.Compare("==", a, b)
	if err != nil {
		return false, err
	}
	return in.Truth(v)
}

// Compare is a op b for the six comparisons; the result may be any object. Built-in values are compared at once; otherwise the left
// operand's method is asked and then the right one's reflected one, the right first if its class derives from the left's. When nobody
// answers, == and != compare identities, and the others are a TypeError.
func (in *Interp) Compare(op string, a, b Object) (Object, error) {
	if native(a) && native(b) {
		v, err := nativeCompare(in, op, a, b)
		if v != nil || err != nil {
			return v, err
		}
	} else {
		d := compareDunders[op]
		ta, tb := a.Type(), b.Type()
		checked := false
		if ta != tb && tb.IsSubtype(ta) {
			if f := tb.Lookup(d[1]); f != nil {
				checked = true
				v, err := in.callSpecial(f, b, a)
				if err != nil || v != NotImplemented {
					return v, err
				}
			}
		}
		if f := ta.Lookup(d[0]); f != nil {
			v, err := in.callSpecial(f, a, b)
			if err != nil || v != NotImplemented {
				return v, err
			}
		}
		if !checked {
			if f := tb.Lookup(d[1]); f != nil {
				v, err := in.callSpecial(f, b, a)
				if err != nil || v != NotImplemented {
					return v, err
				}
			}
		}
	}
	switch op {
	case "==":
		return MakeBool(Is(a, b)), nil
	case "!=":
		return MakeBool(!Is(a, b)), nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "'%s' not supported between instances of '%s' and '%s'", op, a.Type().errName(), b.Type().errName())
}

// cmpResult says what an order (-1, 0, 1) means to a comparison operator.
func cmpResult(op string, c int) Object {
	switch op {
	case "<":
		return MakeBool(c < 0)
	case "<=":
		return MakeBool(c <= 0)
	case "==":
		return MakeBool(c == 0)
	case "!=":
		return MakeBool(c != 0)
	case ">":
		return MakeBool(c > 0)
	}
	return MakeBool(c >= 0)
}

// nativeCompare compares built-in values; nil, nil if they have no order (or are of unlike kinds).
func nativeCompare(in *Interp, op string, a, b Object) (Object, error) {
	switch x := a.(type) {
	case Int, Bool, *BigInt:
		switch y := b.(type) {
		case Int, Bool, *BigInt:
			p, ok1 := AsInt(a)
			q, ok2 := AsInt(b)
			if ok1 && ok2 {
				switch {
				case p < q:
					return cmpResult(op, -1), nil
				case p > q:
					return cmpResult(op, 1), nil
				}
				return cmpResult(op, 0), nil
			}
			bp, _ := AsBig(a)
			bq, _ := AsBig(b)
			return cmpResult(op, bp.Cmp(bq)), nil
		case Float:
			return compareIntFloat(op, a, float64(y), false), nil
		}
	case Float:
		switch y := b.(type) {
		case Float:
			return compareFloats(op, float64(x), float64(y)), nil
		case Int, Bool, *BigInt:
			return compareIntFloat(op, b, float64(x), true), nil
		}
	case Str:
		if y, ok := b.(Str); ok {
			return cmpResult(op, strings.Compare(string(x), string(y))), nil
		}
	case Bytes, *ByteArray:
		p, _ := bytesOf(a)
		if q, ok := bytesOf(b); ok {
			return cmpResult(op, bytes.Compare(p, q)), nil
		}
	case *List:
		if y, ok := b.(*List); ok {
			return compareSeq(in, op, x.Items, y.Items)
		}
	case *Tuple:
		if y, ok := b.(*Tuple); ok {
			return compareSeq(in, op, x.Items, y.Items)
		}
	case *Dict:
		if y, ok := b.(*Dict); ok && (op == "==" || op == "!=") {
			eq, err := x.equal(in, y)
			return MakeBool(eq == (op == "==")), err
		}
	case *Set, *FrozenSet:
		p, _ := asSet(a)
		if q, ok := asSet(b); ok {
			return p.compare(in, op, q)
		}
	case *Range:
		if y, ok := b.(*Range); ok && (op == "==" || op == "!=") {
			n := x.Len()
			eq := n == y.Len() && (n == 0 || x.Start == y.Start && (n == 1 || x.Step == y.Step))
			return MakeBool(eq == (op == "==")), nil
		}
		if y, ok := b.(*longRange); ok && (op == "==" || op == "!=") {
			return MakeBool(x.long().equal(y) == (op == "==")), nil
		}
	case *longRange:
		if y := asLongRange(b); y != nil && (op == "==" || op == "!=") {
			return MakeBool(x.equal(y) == (op == "==")), nil
		}
	case Complex:
		if op == "==" || op == "!=" {
			if y, ok := b.(Complex); ok {
				return MakeBool((x == y) == (op == "==")), nil
			}
			if f, ok := AsFloat(b); ok {
				return MakeBool((complex128(x) == complex(f, 0)) == (op == "==")), nil
			}
		}
	}
	return nil, nil
}

// compareFloats compares by IEEE's rules: with a NaN, everything but != is false.
func compareFloats(op string, x, y float64) Object {
	switch op {
	case "<":
		return MakeBool(x < y)
	case "<=":
		return MakeBool(x <= y)
	case "==":
		return MakeBool(x == y)
	case "!=":
		return MakeBool(x != y)
	case ">":
		return MakeBool(x > y)
	}
	return MakeBool(x >= y)
}

// compareIntFloat compares exactly: an integer that no float equals is on one side of it.
func compareIntFloat(op string, i Object, f float64, swap bool) Object {
	if n, ok := AsInt(i); ok && abs(n) < 1<<53 || math.IsNaN(f) || math.IsInf(f, 0) {
		x := float64(n)
		if !ok {
			b, _ := AsBig(i)
			x = float64(b.Sign())
		}
		if swap {
			return compareFloats(op, f, x)
		}
		return compareFloats(op, x, f)
	}
	b, _ := AsBig(i)
	c := new(big.Float).SetInt(b).Cmp(big.NewFloat(f))
	if swap {
		c = -c
	}
	return cmpResult(op, c)
}

// compareSeq compares lists or tuples: the first items that differ decide, and where there are none, the lengths. Items of one identity are
// taken for equal without asking them, as CPython does.
func compareSeq(in *Interp, op string, x, y []Object) (Object, error) {
	if (op == "==" || op == "!=") && len(x) != len(y) {
		return MakeBool(op == "!="), nil
	}
	if err := in.enter(); err != nil {
		return nil, err
	}
	defer in.leave()
	for i := 0; i < len(x) && i < len(y); i++ {
		eq, err := sameKey(in, x[i], y[i])
		if err != nil {
			return nil, err
		}
		if !eq {
			if op == "==" || op == "!=" {
				return MakeBool(op == "!="), nil
			}
			return in.Compare(op, x[i], y[i])
		}
	}
	return cmpResult(op, len(x)-len(y)), nil
}

// equal reports whether two dicts have the same keys with equal values, in any order. It counts as a level of recursion, as dicts may hold
// themselves.
func (d *Dict) equal(in *Interp, other *Dict) (bool, error) {
	if d.Len() != other.Len() {
		return false, nil
	}
	if err := in.enter(); err != nil {
		return false, err
	}
	defer in.leave()
	for _, e := range d.entries {
		if e.key == nil {
			continue
		}
		v, ok, err := other.Get(in, e.key)
		if err != nil || !ok {
			return false, err
		}
		same, err := sameKey(in, e.val, v)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// compare orders sets by inclusion; two sets of which neither holds the other are neither less nor greater.
func (s *setTable) compare(in *Interp, op string, other *setTable) (Object, error) {
	subset := func(a, b *setTable) (bool, error) {
		if a.Len() > b.Len() {
			return false, nil
		}
		for _, k := range a.Items() {
			ok, err := b.Has(in, k)
			if err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	}
	var r bool
	var err error
	switch op {
	case "==", "!=":
		r = s.Len() == other.Len()
		if r {
			r, err = subset(s, other)
		}
		r = r == (op == "==")
	case "<=":
		r, err = subset(s, other)
	case "<":
		r, err = subset(s, other)
		r = r && s.Len() < other.Len()
	case ">=":
		r, err = subset(other, s)
	case ">":
		r, err = subset(other, s)
		r = r && other.Len() < s.Len()
	}
	return MakeBool(r), err
}
