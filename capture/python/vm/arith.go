package vm

import (
	"bytes"
	"math"
	"math/big"
	"strings"

	"whittle/capture/python/libm"
)

// Operators of the built-in numbers and sequences.

// nativeBinary computes an operator of built-in values; nil, nil if it has no meaning for them.
func nativeBinary(in *Interp, op string, a, b Object) (Object, error) {
	switch x := a.(type) {
	case Int, Bool, *BigInt:
		switch b.(type) {
		case Int, Bool, *BigInt:
			return intBinary(in, op, a, b)
		case Float:
			return floatBinary(in, op, a, b)
		case Complex:
			return complexBinary(in, op, a, b)
		case Str, *List, *Tuple, Bytes, *ByteArray:
			if op == "*" {
				return nativeBinary(in, op, b, a)
			}
		}
	case Float:
		switch b.(type) {
		case Int, Bool, *BigInt, Float:
			return floatBinary(in, op, a, b)
		case Complex:
			return complexBinary(in, op, a, b)
		}
	case Complex:
		switch b.(type) {
		case Int, Bool, *BigInt, Float, Complex:
			return complexBinary(in, op, a, b)
		}
	case Str:
		return strBinary(in, op, x, b)
	case Bytes, *ByteArray:
		return bytesBinary(in, op, a, b)
	case *List:
		switch op {
		case "+":
			if y, ok := b.(*List); ok {
				return &List{concat(x.Items, y.Items)}, nil
			}
		case "*":
			if n, ok := AsInt(b); ok {
				items, err := repeat(in, x.Items, n)
				return &List{items}, err
			}
		}
	case *Tuple:
		switch op {
		case "+":
			if y, ok := b.(*Tuple); ok {
				return NewTuple(concat(x.Items, y.Items)...), nil
			}
		case "*":
			if n, ok := AsInt(b); ok {
				items, err := repeat(in, x.Items, n)
				return NewTuple(items...), err
			}
		}
	case *Dict:
		if y, ok := b.(*Dict); ok && op == "|" {
			d := x.Copy()
			return d, d.update(in, y)
		}
	case *Set, *FrozenSet:
		if _, ok := asSet(b); ok && strings.Contains("|&-^", op) {
			s, _ := asSet(a)
			t, err := s.combine(in, op, b)
			if err != nil {
				return nil, err
			}
			return likeSet(a, t), nil
		}
	}
	return nil, nil
}

func concat(a, b []Object) []Object {
	return append(append(make([]Object, 0, len(a)+len(b)), a...), b...)
}

// strBinary is an operator whose left operand is a string.
func strBinary(in *Interp, op string, x Str, b Object) (Object, error) {
	switch op {
	case "+":
		if y, ok := b.(Str); ok {
			return x + y, nil
		}
	case "*":
		if n, ok := AsInt(b); ok {
			if n <= 0 {
				return Str(""), nil
			}
			if len(x) > 0 && n > math.MaxInt64/int64(len(x)) {
				return nil, in.Errorf(in.Exc.OverflowError, "repeated string is too long")
			}
			if len(x) > 0 && n > mostItems/int64(len(x)) {
				return nil, in.Errorf(in.Exc.MemoryError, "")
			}
			return Str(strings.Repeat(string(x), int(n))), nil
		}
	case "%":
		s, err := percent(in, string(x), b, false)
		if err != nil {
			return nil, err
		}
		return Str(s), nil
	}
	return nil, nil
}

// bytesBinary is an operator whose left operand is bytes or a bytearray; the result is of the same kind.
func bytesBinary(in *Interp, op string, a, b Object) (Object, error) {
	x, _ := bytesOf(a)
	var out []byte
	switch op {
	case "+":
		y, ok, _ := in.OneBuffer(b)
		if !ok {
			return nil, nil
		}
		out = append(append([]byte(nil), x...), y...)
	case "*":
		n, ok := AsInt(b)
		if !ok {
			return nil, nil
		}
		if len(x) > 0 && n > mostItems/int64(len(x)) {
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		out = bytes.Repeat(x, int(max(n, 0)))
	case "%":
		s, err := percent(in, string(x), b, true)
		if err != nil {
			return nil, err
		}
		out = []byte(s)
	default:
		return nil, nil
	}
	if _, ok := a.(*ByteArray); ok {
		return &ByteArray{out}, nil
	}
	return Bytes(out), nil
}

// intBinary is an operator of two integers. What fits 64 bits, operands and result, is computed there.
func intBinary(in *Interp, op string, a, b Object) (Object, error) {
	x, okx := AsInt(a)
	y, oky := AsInt(b)
	if okx && oky {
		if v, err := smallBinary(in, op, x, y); v != nil || err != nil {
			switch op {
			case "&", "|", "^":
				v = boolOr(a, b, v)
			}
			return v, err
		}
	}
	p, _ := AsBig(a)
	q, _ := AsBig(b)
	if op == "**" && q.Sign() < 0 {
		return floatBinary(in, op, a, b)
	}
	return bigBinary(in, op, p, q)
}

// smallBinary is an operator of integers of 64 bits; nil if the result does not fit 64 bits, or may not.
func smallBinary(in *Interp, op string, x, y int64) (Object, error) {
	switch op {
	case "+":
		if s := x + y; (x^s)&(y^s) >= 0 {
			return MakeInt(s), nil
		}
	case "-":
		if s := x - y; (x^y)&(x^s) >= 0 {
			return MakeInt(s), nil
		}
	case "*":
		if x == 0 || y == 0 {
			return MakeInt(0), nil
		}
		if p := x * y; p/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64) {
			return MakeInt(p), nil
		}
	case "//", "%", "divmod":
		if y == 0 {
			return nil, divisionByZero(in, op)
		}
		if x == math.MinInt64 && y == -1 {
			return nil, nil
		}
		q, m := x/y, x%y
		if m != 0 && (m < 0) != (y < 0) { // Go rounds toward zero, Python down
			q--
			m += y
		}
		return quotient(op, MakeInt(q), MakeInt(m)), nil
	case "/":
		if y == 0 {
			return nil, divisionByZero(in, op)
		}
		if abs(x) < 1<<53 && abs(y) < 1<<53 { // both are floats exactly
			return Float(float64(x) / float64(y)), nil
		}
	case "&":
		return MakeInt(x & y), nil
	case "|":
		return MakeInt(x | y), nil
	case "^":
		return MakeInt(x ^ y), nil
	case ">>", "<<":
		if y < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "negative shift count")
		}
		if op == ">>" {
			return MakeInt(x >> uint(min(y, 63))), nil
		}
	case "**":
		if y < 0 {
			if x == 0 {
				return nil, in.Errorf(in.Exc.ZeroDivisionError, "0.0 cannot be raised to a negative power")
			}
			return Float(libm.Pow(float64(x), float64(y))), nil
		}
	}
	return nil, nil
}

// divisionByZero is the ZeroDivisionError of an operator of integers.
func divisionByZero(in *Interp, op string) error {
	switch op {
	case "%":
		return in.Errorf(in.Exc.ZeroDivisionError, "integer modulo by zero")
	case "/":
		return in.Errorf(in.Exc.ZeroDivisionError, "division by zero")
	}
	return in.Errorf(in.Exc.ZeroDivisionError, "integer division or modulo by zero")
}

// quotient picks what an operator wants of a division.
func quotient(op string, q, m Object) Object {
	switch op {
	case "//":
		return q
	case "%":
		return m
	}
	return NewTuple(q, m)
}

// bigBinary is an operator of integers of any size; the exponent of ** is not negative. What no memory could hold is MemoryError.
func bigBinary(in *Interp, op string, p, q *big.Int) (Object, error) {
	r := new(big.Int)
	switch op {
	case "+":
		return MakeBig(r.Add(p, q)), nil
	case "-":
		return MakeBig(r.Sub(p, q)), nil
	case "*":
		return MakeBig(r.Mul(p, q)), nil
	case "//", "%", "divmod":
		if q.Sign() == 0 {
			return nil, divisionByZero(in, op)
		}
		m := new(big.Int)
		r.QuoRem(p, q, m)
		if m.Sign() != 0 && (m.Sign() < 0) != (q.Sign() < 0) {
			r.Sub(r, big.NewInt(1))
			m.Add(m, q)
		}
		return quotient(op, MakeBig(r), MakeBig(m)), nil
	case "/":
		if q.Sign() == 0 {
			return nil, divisionByZero(in, op)
		}
		if p.Sign() == 0 && q.Sign() < 0 {
			return Float(math.Copysign(0, -1)), nil
		}
		f, _ := new(big.Rat).SetFrac(p, q).Float64()
		if math.IsInf(f, 0) {
			return nil, in.Errorf(in.Exc.OverflowError, "integer division result too large for a float")
		}
		return Float(f), nil
	case "&":
		return MakeBig(r.And(p, q)), nil
	case "|":
		return MakeBig(r.Or(p, q)), nil
	case "^":
		return MakeBig(r.Xor(p, q)), nil
	case "<<", ">>":
		return bigShift(in, op, p, q)
	case "**":
		if p.BitLen() > 1 && (!q.IsInt64() || q.Int64()*int64(p.BitLen()) > 1<<30) {
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		return MakeBig(r.Exp(p, q, nil)), nil
	}
	return nil, nil
}

// bigShift shifts by any number of bits; what no memory could hold is MemoryError.
func bigShift(in *Interp, op string, p, q *big.Int) (Object, error) {
	if q.Sign() < 0 {
		return nil, in.Errorf(in.Exc.ValueError, "negative shift count")
	}
	if !q.IsInt64() || q.Int64() > 1<<33 {
		switch {
		case op == ">>" && p.Sign() < 0:
			return MakeInt(-1), nil
		case op == ">>" || p.Sign() == 0:
			return MakeInt(0), nil
		}
		return nil, in.Errorf(in.Exc.MemoryError, "")
	}
	if op == "<<" {
		return MakeBig(new(big.Int).Lsh(p, uint(q.Int64()))), nil
	}
	return MakeBig(new(big.Int).Rsh(p, uint(q.Int64()))), nil
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// boolOr gives a bool where both operands are: v is what the operator gives for them as integers.
func boolOr(a, b, v Object) Object {
	if _, ok := a.(Bool); ok {
		if _, ok := b.(Bool); ok {
			return MakeBool(v != smallInts[0-smallMin])
		}
	}
	return v
}

// toFloat is the float of an integer or a float; OverflowError if an integer is too large.
func toFloat(in *Interp, o Object) (float64, error) {
	if b, ok := o.(*BigInt); ok {
		f, _ := new(big.Float).SetInt(b.V).Float64()
		if math.IsInf(f, 0) {
			return 0, in.Errorf(in.Exc.OverflowError, "int too large to convert to float")
		}
		return f, nil
	}
	f, _ := AsFloat(o)
	return f, nil
}

// floatBinary is an operator of two floats, or of a float and an integer.
func floatBinary(in *Interp, op string, a, b Object) (Object, error) {
	x, err := toFloat(in, a)
	if err != nil {
		return nil, err
	}
	y, err := toFloat(in, b)
	if err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return Float(x + y), nil
	case "-":
		return Float(x - y), nil
	case "*":
		return Float(x * y), nil
	case "/":
		if y == 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "float division by zero")
		}
		return Float(x / y), nil
	case "//", "%", "divmod":
		if y == 0 {
			switch op {
			case "%":
				return nil, in.Errorf(in.Exc.ZeroDivisionError, "float modulo")
			case "divmod":
				return nil, in.Errorf(in.Exc.ZeroDivisionError, "float divmod()")
			}
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "float floor division by zero")
		}
		q, m := floatDivmod(x, y)
		switch op {
		case "//":
			return Float(q), nil
		case "%":
			return Float(m), nil
		}
		return NewTuple(Float(q), Float(m)), nil
	case "**":
		if x == 0 && y < 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "0.0 cannot be raised to a negative power")
		}
		if x < 0 && y != math.Trunc(y) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			return powComplex(in, complex(x, 0), complex(y, 0))
		}
		r := libm.Pow(x, y)
		if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			return nil, in.Errorf(in.Exc.OverflowError, "(34, 'Numerical result out of range')")
		}
		return Float(r), nil
	}
	return nil, nil
}

// floatDivmod is divmod of floats as CPython computes it: the quotient is a whole number, and the remainder has the sign of y.
func floatDivmod(x, y float64) (q, m float64) {
	m = math.Mod(x, y)
	if math.IsNaN(m) {
		m = (x * y) / (x * y) // with the sign that the processor gives it, as C's fmod
	}
	d := (x - m) / y
	if m != 0 {
		if (y < 0) != (m < 0) {
			m += y
			d--
		}
	} else {
		m = math.Copysign(0, y)
	}
	if d != 0 {
		q = math.Floor(d)
		if d-q > 0.5 {
			q++
		}
	} else {
		q = math.Copysign(0, x/y)
	}
	return q, m
}

// UnaryOp is -a, +a or ~a.
func (in *Interp) UnaryOp(op string, a Object) (Object, error) {
	switch x := a.(type) {
	case Int:
		switch op {
		case "-":
			if x != math.MinInt64 {
				return MakeInt(int64(-x)), nil
			}
			return MakeBig(new(big.Int).Neg(big.NewInt(int64(x)))), nil
		case "+":
			return x, nil
		case "~":
			return MakeInt(int64(^x)), nil
		}
	case Bool:
		i, _ := AsInt(x)
		return in.UnaryOp(op, Int(i))
	case Float:
		switch op {
		case "-":
			return -x, nil
		case "+":
			return x, nil
		}
	case *BigInt:
		switch op {
		case "-":
			return MakeBig(new(big.Int).Neg(x.V)), nil
		case "+":
			return x, nil
		case "~":
			return MakeBig(new(big.Int).Not(x.V)), nil
		}
	case Complex:
		switch op {
		case "-":
			return -x, nil
		case "+":
			return x, nil
		}
	default:
		name := map[string]string{"-": "__neg__", "+": "__pos__", "~": "__invert__"}[op]
		v, ok, err := in.Special(a, name)
		if ok || err != nil {
			return v, err
		}
	}
	return nil, in.Errorf(in.Exc.TypeError, "bad operand type for unary %s: '%s'", op, TypeName(a))
}
