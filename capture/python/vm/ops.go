package vm

import (
	"math/big"
	"slices"
	"strings"
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

// BinaryOp is a op b, for an operator as it is written, and "divmod". Two built-in values are computed without asking their types for
// methods, which nobody can have changed.
func (in *Interp) BinaryOp(op string, a, b Object) (Object, error) {
	if native(a) && native(b) {
		v, err := nativeBinary(in, op, a, b)
		if v != nil || err != nil {
			return v, err
		}
		return sequenceOp(in, op, a, b)
	}
	v, err := in.binary(op, a, b)
	if err != nil || v != NotImplemented {
		return v, err
	}
	return sequenceOp(in, op, a, b)
}

// sequenceOp is what is tried last: the repetition of a sequence by whatever has an __index__. Else it is the error.
func sequenceOp(in *Interp, op string, a, b Object) (Object, error) {
	if op == "*" {
		for _, p := range [][2]Object{{a, b}, {b, a}} {
			switch unwrap(p[0]).(type) {
			case Str, *List, *Tuple, Bytes, *ByteArray:
				if _, ok := AsBig(p[1]); !ok && p[1].Type().Lookup("__index__") == nil {
					return nil, badOperands(in, op, a, b)
				}
				n, err := in.IndexBig(p[1])
				if err != nil {
					return nil, err
				}
				if !n.IsInt64() {
					return nil, in.Errorf(in.Exc.OverflowError, "cannot fit '%s' into an index-sized integer", TypeName(p[1]))
				}
				return nativeBinary(in, op, unwrap(p[0]), MakeBig(n))
			}
		}
	}
	return nil, badOperands(in, op, a, b)
}

// badOperands is the TypeError for operands that have no such operator, in CPython's words, which differ for sequences.
func badOperands(in *Interp, op string, a, b Object) error {
	if op == "+" {
		switch unwrap(a).(type) {
		case Str:
			return in.Errorf(in.Exc.TypeError, "can only concatenate str (not \"%s\") to str", b.Type().errName())
		case *List:
			return in.Errorf(in.Exc.TypeError, "can only concatenate list (not \"%s\") to list", b.Type().errName())
		case *Tuple:
			return in.Errorf(in.Exc.TypeError, "can only concatenate tuple (not \"%s\") to tuple", b.Type().errName())
		case Bytes:
			return in.Errorf(in.Exc.TypeError, "can't concat %s to bytes", b.Type().errName())
		case *ByteArray:
			return in.Errorf(in.Exc.TypeError, "can't concat %s to bytearray", b.Type().errName())
		}
	}
	if op == "*" {
		for _, p := range [][2]Object{{a, b}, {b, a}} {
			switch unwrap(p[0]).(type) {
			case Str, *List, *Tuple, Bytes:
				if op == "*" {
					return in.Errorf(in.Exc.TypeError, "can't multiply sequence by non-int of type '%s'", p[1].Type().errName())
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
	return in.Errorf(in.Exc.TypeError, "unsupported operand type(s) for %s: '%s' and '%s'", name, a.Type().errName(), b.Type().errName())
}

// binary dispatches an operator by special methods: the left operand's, then the right operand's reflected one. The right goes first if its
// class derives from the left one's and has a reflected method of its own. NotImplemented if nobody answers.
func (in *Interp) binary(op string, a, b Object) (Object, error) {
	d := dunders[op]
	ta, tb := a.Type(), b.Type()
	fa := ta.Lookup(d[0])
	var fb Object
	if ta != tb {
		fb = tb.Lookup(d[1])
	}
	if fb != nil && fa != nil && tb != ta && (tb.IsSubtype(ta) && fb != ta.Lookup(d[1]) || (op == "+" || op == "*") && ofSequence(fa) && !ofSequence(fb)) {
		v, err := in.callOperand(fb, b, a)
		if err != nil || v != NotImplemented {
			return v, err
		}
		fb = nil
	}
	if fa != nil {
		v, err := in.callOperand(fa, a, b)
		if err != nil || v != NotImplemented {
			return v, err
		}
	}
	if fb != nil {
		return in.callOperand(fb, b, a)
	}
	return NotImplemented, nil
}

// callOperand calls an operator's special method, as an operator does.
func (in *Interp) callOperand(f, self, other Object) (Object, error) {
	switch f := f.(type) {
	case *Builtin:
		if f.operand != nil {
			return f.operand(in, []Object{self, other}, nil)
		}
	case *Function:
		return f.callTwo(in, self, other)
	}
	return in.callSpecial(f, self, other)
}

// ofSequence reports whether a method is one of a built-in sequence: these have no numbers' operators in C, so that the other operand goes first.
func ofSequence(f Object) bool {
	b, ok := f.(*Builtin)
	return ok && (b.Owner == ListType || b.Owner == TupleType || b.Owner == StrType || b.Owner == BytesType || b.Owner == ByteArrayType)
}

// callSpecial calls a special method that was found on the class of self. None in a class forbids the operation: it cannot be called.
func (in *Interp) callSpecial(f, self Object, args ...Object) (Object, error) {
	if takesSelf(f) {
		full := make([]Object, 0, 3)
		return in.Call(f, append(append(full, self), args...), nil)
	}
	b, err := in.bindDescr(f, self, self.Type())
	if err != nil {
		return nil, err
	}
	return in.Call(b, args, nil)
}

// InplaceOp is a op= b; op is written without the "=". Mutable built-in values change themselves; other classes are asked for their in-place
// method; all else is BinaryOp, whose error then names the operator with "=".
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
			items, err := repeat(in, x.Items, int64(n))
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
			return x, x.update(in, b)
		}
	case *ByteArray:
		if y, ok := bytesOf(b); ok && op == "+" {
			x.B = append(x.B, y...)
			return x, nil
		}
		if n, ok := b.(Int); ok && op == "*" {
			if len(x.B) > 0 && int64(n) > mostItems/int64(len(x.B)) {
				return nil, in.Errorf(in.Exc.MemoryError, "")
			}
			x.B = slices.Repeat(x.B, int(max(n, 0)))
			return x, nil
		}
	case Int, Float, Str, *Tuple:
		// no in-place method
	default:
		if f := a.Type().Lookup(dunders[op][2]); f != nil {
			v, err := in.callOperand(f, a, b)
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

// repeat gives items n times; what no memory could hold is MemoryError.
func repeat(in *Interp, items []Object, n int64) ([]Object, error) {
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

// bytesOf gives the bytes of a bytes-like object, which the caller must not change.
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
	case Memory:
		return x.Memory(), true
	case Buffer:
		if v := x.View(); v != nil {
			return bytesOf(v)
		}
	}
	return nil, false
}

// OneBuffer gives the bytes of a bytes-like object, as AsBytes does; of a view whose items do not lie one behind the other it raises BufferError.
func (in *Interp) OneBuffer(o Object) (b []byte, ok bool, err error) {
	if m, is := o.(*MemoryView); is && !m.released && !m.contiguous() {
		return nil, false, in.Errorf(in.Exc.BufferError, "memoryview: underlying buffer is not C-contiguous")
	}
	b, ok = bytesOf(o)
	return b, ok, nil
}

// AsBytes gives the bytes of a bytes-like object; those of a bytearray are its own.
func AsBytes(o Object) ([]byte, bool) { return bytesOf(o) }

// Hash is hash(o), equal for equal values of any kind of number.
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
		if x != x {
			return uint64(uintptr(dataOf(o))) >> 3, nil // as CPython does: where the object lies
		}
		return hashFloat(float64(x)), nil
	case *BigInt:
		return hashBig(x.V), nil
	case Bytes:
		return siphash(string(x)), nil
	case *Code:
		return in.Hash(NewTuple(Str(x.Name), Bytes(x.wire().Code), Bytes(x.wire().LineTable), strTuple(x.Names), NewTuple(x.Consts...)))
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
		return hashComplex(complex128(x)), nil
	case *Range:
		return x.long().hash(in)
	case *longRange:
		return x.hash(in)
	case *Function, *Builtin, *Module, *Generator, *EllipsisType:
		return uint64(in.ID(o)) >> 4, nil
	case *BoundMethod:
		h, err := in.Hash(x.Func)
		return h ^ uint64(in.ID(x.Self)), err
	}
	t := o.Type()
	f := t.Lookup("__hash__")
	if f == nil || f == None {
		return 0, in.Errorf(in.Exc.TypeError, "unhashable type: '%s'", t.errName())
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
		if x == -1 {
			x = -2 // -1 says that there was an error, in C
		}
		return uint64(x), nil
	case Bool:
		return hashInt(map[bool]int64{true: 1}[bool(x)]), nil
	case *BigInt:
		return hashBig(x.V), nil
	}
	return 0, in.Errorf(in.Exc.TypeError, "__hash__ method should return an integer")
}

var objectHash Object

// Truth is bool(o): __bool__, or else a length that is not 0, or else true.
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
	case *NotImplementedType:
		return true, in.Warn(in.Exc.DeprecationWarning, "NotImplemented should not be used in a boolean context")
	}
	if v, ok, err := in.Special(o, "__bool__"); ok || err != nil {
		if err != nil {
			return false, err
		}
		b, ok := v.(Bool)
		if !ok {
			return false, in.Errorf(in.Exc.TypeError, "__bool__ should return bool, returned %s", TypeName(v))
		}
		return bool(b), nil
	}
	if o.Type().Lookup("__len__") != nil {
		n, err := in.Len(o)
		return n != 0, err
	}
	return true, nil
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
		return nil, in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", TypeName(o))
	}
	v, ok, err := in.Special(o, "__index__")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", TypeName(o))
	}
	if v, err = in.exactInt(v, "__index__"); err != nil {
		return nil, err
	}
	b, _ := AsBig(v)
	return b, nil
}

// Float converts as float() does for numbers.
func (in *Interp) Float(o Object) (float64, error) {
	if b, ok := unwrap(o).(*BigInt); ok {
		return toFloat(in, b)
	}
	if f, ok := AsFloat(o); ok {
		return f, nil
	}
	if v, ok, err := in.Special(o, "__float__"); ok || err != nil {
		if err != nil {
			return 0, err
		}
		if f, ok := unwrap(v).(Float); ok {
			if _, exact := v.(Float); !exact {
				err = in.Warn(in.Exc.DeprecationWarning, TypeName(o)+".__float__ returned non-float (type "+TypeName(v)+
					").  The ability to return an instance of a strict subclass of float is deprecated, and may not be supported in a future version of Python.")
			}
			return float64(f), err
		}
		return 0, in.Errorf(in.Exc.TypeError, "%s.__float__ returned non-float (type %s)", TypeName(o), TypeName(v))
	}
	if o.Type().Lookup("__index__") != nil {
		b, err := in.IndexBig(o)
		if err != nil {
			return 0, err
		}
		return toFloat(in, &BigInt{b})
	}
	return 0, in.Errorf(in.Exc.TypeError, "must be real number, not %s", TypeName(o))
}

// WritableBytes gives the memory of an object whose buffer may be written: a bytearray, or a view of one.
func WritableBytes(o Object) ([]byte, bool) {
	switch x := unwrap(o).(type) {
	case *ByteArray:
		return x.B, true
	case *MemoryView:
		if x.released || x.readonly || !x.contiguous() {
			return nil, false
		}
		return x.data[x.off : x.off+x.count()*x.size()], true
	case Memory:
		return x.Memory(), true
	case Buffer:
		if v := x.View(); v != nil {
			return WritableBytes(v)
		}
	}
	return nil, false
}
