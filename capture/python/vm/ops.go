package vm

import (
	"bytes"
	"math"
	"math/big"
	"math/cmplx"
	"slices"
	"strings"

	"whittle/capture/python/libm"
)

// dunders names the methods of binary operators.
var dunders = map[string][3]string{
	"+": {"__add__", "__radd__", "__iadd__"}, "-": {"__sub__", "__rsub__", "__isub__"}, "*": {"__mul__", "__rmul__", "__imul__"},
	"/": {"__truediv__", "__rtruediv__", "__itruediv__"}, "//": {"__floordiv__", "__rfloordiv__", "__ifloordiv__"},
	"%": {"__mod__", "__rmod__", "__imod__"}, "**": {"__pow__", "__rpow__", "__ipow__"}, "@": {"__matmul__", "__rmatmul__", "__imatmul__"},
	"<<": {"__lshift__", "__rlshift__", "__ilshift__"}, ">>": {"__rshift__", "__rrshift__", "__irshift__"},
	"&": {"__and__", "__rand__", "__iand__"}, "|": {"__or__", "__ror__", "__ior__"}, "^": {"__xor__", "__rxor__", "__ixor__"},
	"divmod": {"__divmod__", "__rdivmod__", ""},
}

var compareDunders = map[string][2]string{"<": {"__lt__", "__gt__"}, "<=": {"__le__", "__ge__"}, "==": {"__eq__", "__eq__"},
	"!=": {"__ne__", "__ne__"}, ">": {"__gt__", "__lt__"}, ">=": {"__ge__", "__le__"}}

// native reports whether o is a plain built-in value, whose operators are known without looking them up.
func native(o Object) bool {
	switch o.(type) {
	case Int, Float, Bool, Str, Bytes, *BigInt, *List, *Tuple, *Dict, *Set, *FrozenSet, *NoneType, Complex, *ByteArray, *Range, *longRange:
		return true
	}
	return false
}

// BinaryOp is a op b.
func (in *Interp) BinaryOp(op string, a, b Object) (Object, error) {
	if native(a) && native(b) {
		v, err := in.nativeBinary(op, a, b)
		if v != nil || err != nil {
			return v, err
		}
		return in.sequenceOp(op, a, b)
	}
	v, err := in.binary(op, a, b)
	if err != nil || v != NotImplemented {
		return v, err
	}
	return in.sequenceOp(op, a, b)
}

// sequenceOp is what is tried last: the repetition of a sequence by whatever has an __index__. Else it is the error.
func (in *Interp) sequenceOp(op string, a, b Object) (Object, error) {
	if op == "*" {
		for _, p := range [][2]Object{{a, b}, {b, a}} {
			switch unwrap(p[0]).(type) {
			case Str, *List, *Tuple, Bytes, *ByteArray:
				if _, ok := AsBig(p[1]); !ok && p[1].Type().Lookup("__index__") == nil {
					return nil, in.badOperands(op, a, b)
				}
				n, err := in.IndexBig(p[1])
				if err != nil {
					return nil, err
				}
				if !n.IsInt64() {
					return nil, in.Errorf(in.Exc.OverflowError, "cannot fit '%s' into an index-sized integer", p[1].Type().Name)
				}
				return in.nativeBinary(op, unwrap(p[0]), MakeBig(n))
			}
		}
	}
	return nil, in.badOperands(op, a, b)
}

func (in *Interp) badOperands(op string, a, b Object) error {
	if op == "+" {
		switch unwrap(a).(type) {
		case Str:
			return in.Errorf(in.Exc.TypeError, "can only concatenate str (not \"%s\") to str", b.Type().Name)
		case *List:
			return in.Errorf(in.Exc.TypeError, "can only concatenate list (not \"%s\") to list", b.Type().Name)
		case *Tuple:
			return in.Errorf(in.Exc.TypeError, "can only concatenate tuple (not \"%s\") to tuple", b.Type().Name)
		case Bytes:
			return in.Errorf(in.Exc.TypeError, "can't concat %s to bytes", b.Type().Name)
		}
	}
	if op == "*" {
		for _, p := range [][2]Object{{a, b}, {b, a}} {
			switch unwrap(p[0]).(type) {
			case Str, *List, *Tuple, Bytes:
				if op == "*" {
					return in.Errorf(in.Exc.TypeError, "can't multiply sequence by non-int of type '%s'", p[1].Type().Name)
				}
			}
		}
	}
	name := op
	if op == "**" {
		name = "** or pow()"
	}
	if op == "divmod" {
		name = "divmod()"
	}
	return in.Errorf(in.Exc.TypeError, "unsupported operand type(s) for %s: '%s' and '%s'", name, a.Type().Name, b.Type().Name)
}

// binary dispatches by special methods; NotImplemented if nobody answers.
func (in *Interp) binary(op string, a, b Object) (Object, error) {
	d := dunders[op]
	ta, tb := a.Type(), b.Type()
	fa := ta.Lookup(d[0])
	var fb Object
	if ta != tb {
		fb = tb.Lookup(d[1])
	}
	if fb != nil && fa != nil && tb != ta && tb.IsSubtype(ta) && fb != ta.Lookup(d[1]) {
		v, err := in.callSpecial(fb, b, a)
		if err != nil || v != NotImplemented {
			return v, err
		}
		fb = nil
	}
	if fa != nil {
		v, err := in.callSpecial(fa, a, b)
		if err != nil || v != NotImplemented {
			return v, err
		}
	}
	if fb != nil {
		return in.callSpecial(fb, b, a)
	}
	return NotImplemented, nil
}

// callSpecial calls a special method found on self's type.
func (in *Interp) callSpecial(f, self Object, args ...Object) (Object, error) {
	switch f.(type) {
	case *Function, *Builtin:
		full := make([]Object, 0, 3)
		return in.Call(f, append(append(full, self), args...), nil)
	case *NoneType:
		return NotImplemented, nil
	}
	b, err := in.bindDescr(f, self, self.Type())
	if err != nil {
		return nil, err
	}
	return in.Call(b, args, nil)
}

// InplaceOp is a op= b.
func (in *Interp) InplaceOp(op string, a, b Object) (Object, error) {
	switch x := a.(type) {
	case *List:
		if op == "+" {
			items, err := in.IterAll(b)
			if err != nil {
				return nil, err
			}
			x.Items = append(x.Items, items...)
			return x, nil
		}
		if n, ok := b.(Int); ok && op == "*" {
			items, err := in.repeat(x.Items, int64(n))
			if err != nil {
				return nil, err
			}
			x.Items = items
			return x, nil
		}
	case *Set:
		if _, ok := asSet(b); ok {
			if strings.Contains("|&-^", op) {
				return x, x.change(in, op, b)
			}
		}
	case *Dict:
		if op == "|" {
			return x, in.dictUpdate(x, b)
		}
	case *ByteArray:
		if y, ok := bytesOf(b); ok && op == "+" {
			x.B = append(x.B, y...)
			return x, nil
		}
		if n, ok := b.(Int); ok && op == "*" {
			x.B = slices.Repeat(x.B, int(max(n, 0)))
			return x, nil
		}
	case Int, Float, Str, *Tuple:
		// no in-place method
	default:
		if f := a.Type().Lookup(dunders[op][2]); f != nil {
			v, err := in.callSpecial(f, a, b)
			if err != nil || v != NotImplemented {
				return v, err
			}
		}
	}
	v, err := in.BinaryOp(op, a, b)
	if err != nil && in.Matches(err, in.Exc.TypeError) {
		if r, ok := err.(*Raised); ok && len(r.Exc.Args.Items) == 1 {
			if s, ok := r.Exc.Args.Items[0].(Str); ok && strings.HasPrefix(string(s), "unsupported operand type(s) for "+op+":") {
				r.Exc.Args = NewTuple(Str(strings.Replace(string(s), "for "+op+":", "for "+op+"=:", 1)))
			}
			if s, ok := r.Exc.Args.Items[0].(Str); ok && op == "**" && strings.HasPrefix(string(s), "unsupported operand type(s) for ** or pow():") {
				r.Exc.Args = NewTuple(Str(strings.Replace(string(s), "** or pow():", "**=:", 1)))
			}
		}
	}
	return v, err
}

func (in *Interp) repeat(items []Object, n int64) ([]Object, error) {
	if n <= 0 || len(items) == 0 {
		return nil, nil
	}
	if n > mostItems/int64(len(items)) {
		return nil, in.Errorf(in.Exc.MemoryError, "")
	}
	out := make([]Object, 0, len(items)*int(n))
	for range n {
		out = append(out, items...)
	}
	return out, nil
}

// mostItems is the length beyond which a repeated sequence is a MemoryError.
const mostItems = 1 << 31

func bytesOf(o Object) ([]byte, bool) {
	switch x := unwrap(o).(type) {
	case Bytes:
		return []byte(x), true
	case *ByteArray:
		return x.B, true
	case *MemoryView:
		if x.released {
			return nil, false
		}
		return x.bytes(), true
	}
	return nil, false
}

// AsBytes gives the bytes of a bytes-like object; those of a bytearray are its own.
func AsBytes(o Object) ([]byte, bool) { return bytesOf(o) }

// nativeBinary computes an operator of built-in values; nil, nil if it has no meaning for them.
func (in *Interp) nativeBinary(op string, a, b Object) (Object, error) {
	switch x := a.(type) {
	case Int, Bool, *BigInt:
		switch b.(type) {
		case Int, Bool, *BigInt:
			return in.intBinary(op, a, b)
		case Float:
			return in.floatBinary(op, a, b)
		case Complex:
			return in.complexBinary(op, a, b)
		case Str, *List, *Tuple, Bytes, *ByteArray:
			if op == "*" {
				return in.nativeBinary(op, b, a)
			}
		}
	case Float:
		switch b.(type) {
		case Int, Bool, *BigInt, Float:
			return in.floatBinary(op, a, b)
		case Complex:
			return in.complexBinary(op, a, b)
		}
	case Complex:
		switch b.(type) {
		case Int, Bool, *BigInt, Float, Complex:
			return in.complexBinary(op, a, b)
		}
	case Str:
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
				if len(x) > 0 && n > mostItems/int64(len(x)) {
					return nil, in.Errorf(in.Exc.MemoryError, "")
				}
				return Str(strings.Repeat(string(x), int(n))), nil
			}
		case "%":
			s, err := in.percent(string(x), b, false)
			if err != nil {
				return nil, err
			}
			return Str(s), nil
		}
	case Bytes, *ByteArray:
		xb, _ := bytesOf(a)
		var out []byte
		switch op {
		case "+":
			y, ok := bytesOf(b)
			if !ok {
				return nil, nil
			}
			out = append(append([]byte(nil), xb...), y...)
		case "*":
			n, ok := AsInt(b)
			if !ok {
				return nil, nil
			}
			if len(xb) > 0 && n > mostItems/int64(len(xb)) {
				return nil, in.Errorf(in.Exc.MemoryError, "")
			}
			out = bytes.Repeat(xb, int(max(n, 0)))
		case "%":
			s, err := in.percent(string(xb), b, true)
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
	case *List:
		switch op {
		case "+":
			if y, ok := b.(*List); ok {
				return &List{append(append(make([]Object, 0, len(x.Items)+len(y.Items)), x.Items...), y.Items...)}, nil
			}
		case "*":
			if n, ok := AsInt(b); ok {
				items, err := in.repeat(x.Items, n)
				return &List{items}, err
			}
		}
	case *Tuple:
		switch op {
		case "+":
			if y, ok := b.(*Tuple); ok {
				return NewTuple(append(append(make([]Object, 0, len(x.Items)+len(y.Items)), x.Items...), y.Items...)...), nil
			}
		case "*":
			if n, ok := AsInt(b); ok {
				items, err := in.repeat(x.Items, n)
				return NewTuple(items...), err
			}
		}
	case *Dict:
		if y, ok := b.(*Dict); ok && op == "|" {
			d := x.Copy()
			return d, in.dictUpdate(d, y)
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

func (in *Interp) intBinary(op string, a, b Object) (Object, error) {
	x, okx := AsInt(a)
	y, oky := AsInt(b)
	if okx && oky {
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
				if op == "%" {
					return nil, in.Errorf(in.Exc.ZeroDivisionError, "integer modulo by zero")
				}
				return nil, in.Errorf(in.Exc.ZeroDivisionError, "integer division or modulo by zero")
			}
			if x == math.MinInt64 && y == -1 {
				break
			}
			q, m := x/y, x%y
			if m != 0 && (m < 0) != (y < 0) {
				q--
				m += y
			}
			switch op {
			case "//":
				return MakeInt(q), nil
			case "%":
				return MakeInt(m), nil
			}
			return NewTuple(MakeInt(q), MakeInt(m)), nil
		case "/":
			if y == 0 {
				return nil, in.Errorf(in.Exc.ZeroDivisionError, "division by zero")
			}
			if abs(x) < 1<<53 && abs(y) < 1<<53 {
				return Float(float64(x) / float64(y)), nil
			}
		case "&":
			return in.boolOr(a, b, MakeInt(x&y)), nil
		case "|":
			return in.boolOr(a, b, MakeInt(x|y)), nil
		case "^":
			return in.boolOr(a, b, MakeInt(x^y)), nil
		case ">>":
			if y < 0 {
				return nil, in.Errorf(in.Exc.ValueError, "negative shift count")
			}
			return MakeInt(x >> uint(min(y, 63))), nil
		case "<<":
			if y < 0 {
				return nil, in.Errorf(in.Exc.ValueError, "negative shift count")
			}
		case "**":
			if y < 0 {
				if x == 0 {
					return nil, in.Errorf(in.Exc.ZeroDivisionError, "0.0 cannot be raised to a negative power")
				}
				return Float(libm.Pow(float64(x), float64(y))), nil
			}
		}
	}
	p, _ := AsBig(a)
	q, _ := AsBig(b)
	r := new(big.Int)
	switch op {
	case "+":
		return MakeBig(r.Add(p, q)), nil
	case "-":
		return MakeBig(r.Sub(p, q)), nil
	case "*":
		return MakeBig(r.Mul(p, q)), nil
	case "//", "%", "divmod":
		if q.Sign() == 0 && op == "%" {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "integer modulo by zero")
		}
		if q.Sign() == 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "integer division or modulo by zero")
		}
		m := new(big.Int)
		r.QuoRem(p, q, m)
		if m.Sign() != 0 && (m.Sign() < 0) != (q.Sign() < 0) {
			r.Sub(r, big.NewInt(1))
			m.Add(m, q)
		}
		switch op {
		case "//":
			return MakeBig(r), nil
		case "%":
			return MakeBig(m), nil
		}
		return NewTuple(MakeBig(r), MakeBig(m)), nil
	case "/":
		if q.Sign() == 0 && op == "%" {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "integer modulo by zero")
		}
		if q.Sign() == 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "division by zero")
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
		if q.Sign() < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "negative shift count")
		}
		if !q.IsInt64() || q.Int64() > 1<<33 {
			if op == ">>" {
				if p.Sign() < 0 {
					return MakeInt(-1), nil
				}
				return MakeInt(0), nil
			}
			if p.Sign() == 0 {
				return MakeInt(0), nil
			}
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		if op == "<<" {
			return MakeBig(r.Lsh(p, uint(q.Int64()))), nil
		}
		return MakeBig(r.Rsh(p, uint(q.Int64()))), nil
	case "**":
		if q.Sign() < 0 {
			return in.floatBinary(op, a, b)
		}
		if p.BitLen() > 1 && (!q.IsInt64() || q.Int64()*int64(p.BitLen()) > 1<<30) {
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		return MakeBig(r.Exp(p, q, nil)), nil
	}
	return nil, nil
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

func (in *Interp) boolOr(a, b, v Object) Object {
	if _, ok := a.(Bool); ok {
		if _, ok := b.(Bool); ok {
			return MakeBool(v != smallInts[0-smallMin])
		}
	}
	return v
}

func (in *Interp) toFloat(o Object) (float64, error) {
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

func (in *Interp) floatBinary(op string, a, b Object) (Object, error) {
	x, err := in.toFloat(a)
	if err != nil {
		return nil, err
	}
	y, err := in.toFloat(b)
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
			return Complex(cmplx.Pow(complex(x, 0), complex(y, 0))), nil
		}
		r := libm.Pow(x, y)
		if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			return nil, in.Errorf(in.Exc.OverflowError, "(34, 'Numerical result out of range')")
		}
		return Float(r), nil
	}
	return nil, nil
}

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

func (in *Interp) complexBinary(op string, a, b Object) (Object, error) {
	conv := func(o Object) complex128 {
		if c, ok := o.(Complex); ok {
			return complex128(c)
		}
		f, _ := AsFloat(o)
		return complex(f, 0)
	}
	x, y := conv(a), conv(b)
	switch op {
	case "+":
		return Complex(x + y), nil
	case "-":
		return Complex(x - y), nil
	case "*":
		return Complex(x * y), nil
	case "/":
		if y == 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "complex division by zero")
		}
		return Complex(x / y), nil
	case "**":
		if n := real(y); imag(y) == 0 && n == math.Trunc(n) && math.Abs(n) <= 100 {
			r := complex128(1)
			for range int(math.Abs(n)) {
				r *= x
			}
			if n < 0 {
				r = 1 / r
			}
			return Complex(r), nil
		}
		return Complex(cmplx.Pow(x, y)), nil
	}
	return nil, nil
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
		v, ok, err := in.special(a, name)
		if ok || err != nil {
			return v, err
		}
	}
	return nil, in.Errorf(in.Exc.TypeError, "bad operand type for unary %s: '%s'", op, a.Type().Name)
}

// Hash is hash(o).
func (in *Interp) Hash(o Object) (uint64, error) {
	switch x := o.(type) {
	case Str:
		return hashString(string(x)), nil
	case Int:
		return hashInt(int64(x)), nil
	case Bool:
		if x {
			return 1, nil
		}
		return 0, nil
	case Float:
		return hashFloat(float64(x)), nil
	case *BigInt:
		return hashBig(x.V), nil
	case Bytes:
		return siphash(string(x)), nil
	case *Tuple:
		h := uint64(0x27d4eb2f165667c5)
		for _, it := range x.Items {
			l, err := in.Hash(it)
			if err != nil {
				return 0, err
			}
			h += l * 0xc2b2ae3d27d4eb4f
			h = h<<31 | h>>33
			h *= 0x9e3779b185ebca87
		}
		if h += uint64(len(x.Items)) ^ (0x27d4eb2f165667c5 ^ 3527539); h == ^uint64(0) {
			h = 1546275796
		}
		return h, nil
	case *FrozenSet:
		if !x.hashed {
			h := uint64(1927868237) * uint64(x.used+1)
			for _, k := range x.Items() {
				kh, err := in.Hash(k)
				if err != nil {
					return 0, err
				}
				h ^= (kh ^ kh<<16 ^ 89869747) * 3644798167
			}
			h ^= h>>11 ^ h>>25
			h = h*69069 + 907133923
			if h == ^uint64(0) {
				h = 590923713
			}
			x.hash, x.hashed = h, true
		}
		return x.hash, nil
	case *NoneType:
		return 0xfca86420, nil
	case Complex:
		return hashFloat(real(complex128(x))) + 1000003*hashFloat(imag(complex128(x))), nil
	case *Range:
		return x.long().hash(in)
	case *longRange:
		return x.hash(in)
	case *Function, *Builtin, *Module, *Code, *Generator, *EllipsisType:
		return uint64(in.ID(o)) >> 4, nil
	case *BoundMethod:
		h, err := in.Hash(x.Func)
		return h ^ uint64(in.ID(x.Self)), err
	}
	t := o.Type()
	f := t.Lookup("__hash__")
	if f == nil || f == None {
		return 0, in.Errorf(in.Exc.TypeError, "unhashable type: '%s'", t.Name)
	}
	if f == objectHash {
		return uint64(in.ID(o)) >> 4, nil
	}
	v, err := in.callSpecial(f, o)
	if err != nil {
		return 0, err
	}
	switch x := unwrap(v).(type) {
	case Int:
		return uint64(x), nil
	case Bool:
		return hashInt(map[bool]int64{true: 1}[bool(x)]), nil
	case *BigInt:
		return hashBig(x.V), nil
	}
	return 0, in.Errorf(in.Exc.TypeError, "__hash__ method should return an integer")
}

var objectHash Object

// Truth is bool(o).
func (in *Interp) Truth(o Object) (bool, error) {
	switch x := o.(type) {
	case Bool:
		return bool(x), nil
	case *NoneType:
		return false, nil
	case Int:
		return x != 0, nil
	case Float:
		return x != 0, nil
	case Str:
		return x != "", nil
	case *List:
		return len(x.Items) > 0, nil
	case *Tuple:
		return len(x.Items) > 0, nil
	case *Dict:
		return x.live > 0, nil
	case *Set:
		return x.used > 0, nil
	case *FrozenSet:
		return x.used > 0, nil
	case Bytes:
		return x != "", nil
	case *ByteArray:
		return len(x.B) > 0, nil
	case *Range:
		return x.Len() > 0, nil
	case *longRange:
		return x.n.Sign() > 0, nil
	case Complex:
		return x != 0, nil
	case *Function, *Builtin, *BoundMethod, *BigInt, *Module:
		return true, nil
	}
	if v, ok, err := in.special(o, "__bool__"); ok || err != nil {
		if err != nil {
			return false, err
		}
		b, ok := v.(Bool)
		if !ok {
			return false, in.Errorf(in.Exc.TypeError, "__bool__ should return bool, returned %s", v.Type().Name)
		}
		return bool(b), nil
	}
	if o.Type().Lookup("__len__") != nil {
		n, err := in.Len(o)
		return n != 0, err
	}
	return true, nil
}

// IsInstance is isinstance(o, cls).
func (in *Interp) IsInstance(o, cls Object) (bool, error) {
	switch c := cls.(type) {
	case *Type:
		t := o.Type()
		if t == c || t.IsSubtype(c) {
			if c.Meta == nil || t == c {
				return true, nil
			}
		}
		if c.Meta != nil {
			if f := c.Meta.Lookup("__instancecheck__"); f != nil && f != typeInstanceCheck {
				v, err := in.callSpecial(f, c, o)
				if err != nil {
					return false, err
				}
				return in.Truth(v)
			}
		}
		if t.IsSubtype(c) {
			return true, nil
		}
		if i, ok := o.(*Instance); ok && i.Class.Heap {
			if d := i.Class.Lookup("__class__"); d != nil {
				if p, ok := d.(*Property); ok {
					k, err := in.bindDescr(p, o, t)
					if err == nil {
						if kt, ok := k.(*Type); ok {
							return kt.IsSubtype(c), nil
						}
					}
				}
			}
		}
		return false, nil
	case *Tuple:
		for _, x := range c.Items {
			ok, err := in.IsInstance(o, x)
			if ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case *UnionType:
		return in.IsInstance(o, c.Args)
	case *NoneType:
		return o == None, nil
	case *GenericAlias:
		return false, in.Errorf(in.Exc.TypeError, "isinstance() argument 2 cannot be a parameterized generic")
	}
	if v, ok, err := in.special(cls, "__instancecheck__", o); ok || err != nil {
		if err != nil {
			return false, err
		}
		return in.Truth(v)
	}
	return false, in.Errorf(in.Exc.TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union")
}

// IsSubclass is issubclass(o, cls).
func (in *Interp) IsSubclass(o, cls Object) (bool, error) {
	if c, ok := cls.(*Tuple); ok {
		for _, x := range c.Items {
			ok, err := in.IsSubclass(o, x)
			if ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	if u, ok := cls.(*UnionType); ok {
		return in.IsSubclass(o, u.Args)
	}
	t, ok := o.(*Type)
	if !ok {
		return false, in.Errorf(in.Exc.TypeError, "issubclass() arg 1 must be a class")
	}
	if c, ok := cls.(*Type); ok {
		if c.Meta != nil {
			if f := c.Meta.Lookup("__subclasscheck__"); f != nil && f != typeSubclassCheck {
				v, err := in.callSpecial(f, c, o)
				if err != nil {
					return false, err
				}
				return in.Truth(v)
			}
		}
		return t.IsSubtype(c), nil
	}
	if v, ok, err := in.special(cls, "__subclasscheck__", o); ok || err != nil {
		if err != nil {
			return false, err
		}
		return in.Truth(v)
	}
	return false, in.Errorf(in.Exc.TypeError, "issubclass() arg 2 must be a class, a tuple of classes, or a union")
}

// Index turns an object into a 64-bit integer by __index__; one that does not fit is an OverflowError, as where C takes a Py_ssize_t.
func (in *Interp) Index(o Object) (int64, error) {
	if i, ok := AsInt(o); ok {
		return i, nil
	}
	b, err := in.IndexBig(o)
	if err != nil {
		return 0, err
	}
	if !b.IsInt64() {
		return 0, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C ssize_t")
	}
	return b.Int64(), nil
}

// IndexBig turns an object into an integer of any size by __index__. The caller must not change it.
func (in *Interp) IndexBig(o Object) (*big.Int, error) {
	if b, ok := AsBig(o); ok {
		return b, nil
	}
	switch unwrap(o).(type) {
	case Float, Str:
		return nil, in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", o.Type().Name)
	}
	v, ok, err := in.special(o, "__index__")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", o.Type().Name)
	}
	if b, ok := AsBig(v); ok {
		return b, nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "__index__ returned non-int (type %s)", v.Type().Name)
}

// Float converts as float() does for numbers.
func (in *Interp) Float(o Object) (float64, error) {
	if b, ok := unwrap(o).(*BigInt); ok {
		return in.toFloat(b)
	}
	if f, ok := AsFloat(o); ok {
		return f, nil
	}
	if v, ok, err := in.special(o, "__float__"); ok || err != nil {
		if err != nil {
			return 0, err
		}
		if f, ok := unwrap(v).(Float); ok {
			return float64(f), nil
		}
		return 0, in.Errorf(in.Exc.TypeError, "%s.__float__ returned non-float (type %s)", o.Type().Name, v.Type().Name)
	}
	if v, ok, err := in.special(o, "__index__"); ok || err != nil {
		if err != nil {
			return 0, err
		}
		f, _ := AsFloat(v)
		return f, nil
	}
	return 0, in.Errorf(in.Exc.TypeError, "must be real number, not %s", o.Type().Name)
}
