package vm

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"whittle/capture/python/literal"
)

// parseInt reads an int literal of a base (0: by prefix) as int() does.
func parseInt(s string, base int) (Object, bool) {
	s = asciiDigits(strings.TrimFunc(s, isSpace))
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if len(s) > 1 && s[0] == '0' {
		b := 0
		switch s[1] {
		case 'x', 'X':
			b = 16
		case 'o', 'O':
			b = 8
		case 'b', 'B':
			b = 2
		}
		if b != 0 && (base == 0 || base == b) {
			s = strings.TrimPrefix(s[2:], "_")
			base = b
		}
	}
	if base == 0 {
		base = 10
		if len(s) > 1 && s[0] == '0' && strings.Trim(s, "0_") != "" {
			return nil, false
		}
	}
	if s == "" || s[0] == '_' || s[len(s)-1] == '_' || strings.Contains(s, "__") || s[0] == '+' || s[0] == '-' {
		return nil, false
	}
	s = strings.ReplaceAll(s, "_", "")
	if v, err := strconv.ParseInt(s, base, 64); err == nil {
		if neg {
			v = -v
		}
		return MakeInt(v), true
	}
	b, ok := new(big.Int).SetString(s, base)
	if !ok {
		return nil, false
	}
	if neg {
		b.Neg(b)
	}
	return MakeBig(b), true
}

// numberText is the bytes of an object that numbers may be read from.
func numberText(o Object) ([]byte, bool) {
	if m, ok := o.(*MemoryView); ok {
		return m.bytes(), true
	}
	return bytesOf(o)
}

// parseFloat reads a float as float() does: digits of any script with underscores between them, white space around, and the words for
// infinity and NaN.
func parseFloat(s string) (float64, bool) {
	s = asciiDigits(strings.TrimFunc(s, isSpace))
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
	}
	if !plain {
		if word := strings.ToLower(strings.TrimLeft(s, "+-")); word == "inf" || word == "infinity" || word == "nan" {
			if len(s)-len(word) > 1 {
				return 0, false
			}
			x := math.Inf(1)
			if word == "nan" {
				x = math.Float64frombits(quietNaN)
			}
			if s[0] == '-' {
				x = math.Copysign(x, -1)
			}
			return x, true
		}
		for i := range s {
			if s[i] == '_' && (i == 0 || i+1 == len(s) || !isDigit(s[i-1]) || !isDigit(s[i+1])) || s[i] != '_' && !isDigit(s[i]) && strings.IndexByte(".eE+-", s[i]) < 0 {
				return 0, false
			}
		}
		s = strings.ReplaceAll(s, "_", "")
	}
	if len(s) > 700 || strings.ContainsAny(s, "eE") && len(s)-strings.IndexAny(s, "eE") > 5 {
		s = shortFloat(s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		if ne, ok := err.(*strconv.NumError); !ok || ne.Err != strconv.ErrRange {
			return 0, false
		}
	}
	return f, true
}

// shortFloat writes the text of a float with few digits and a small exponent, for Go's parser, which takes exponents of four digits: what is
// far too large or small for a float stays so, and of more digits than decide, the rest is one that is not zero.
func shortFloat(s string) string {
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	exp := new(big.Int)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if _, ok := exp.SetString(s[i+1:], 10); !ok {
			return sign + s
		}
		s = s[:i]
	}
	whole, part, _ := strings.Cut(s, ".")
	if whole+part == "" || strings.Trim(whole+part, "0123456789") != "" {
		return sign + s + "x" // no float
	}
	exp.Sub(exp, big.NewInt(int64(len(part))))
	digits := strings.TrimLeft(whole+part, "0")
	if digits == "" {
		return sign + "0"
	}
	const enough = 780 // Go counts no more than 800 digits before the point
	if len(digits) > enough {
		exp.Add(exp, big.NewInt(int64(len(digits)-enough)))
		last := "0"
		if strings.Trim(digits[enough:], "0") != "" {
			last = "1"
		}
		digits = digits[:enough] + last
		exp.Sub(exp, big.NewInt(1))
	}
	top := new(big.Int).Add(exp, big.NewInt(int64(len(digits))))
	switch {
	case top.Cmp(big.NewInt(400)) > 0:
		return sign + "1e400"
	case top.Cmp(big.NewInt(-400)) < 0:
		return sign + "0"
	}
	return sign + digits + "e" + exp.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// quietNaN is the NaN that C makes of "nan".
const quietNaN = 0x7ff8 << 48

// addOps registers the methods of binary operators of a native type. takes says which other operands they know, nil all that
// the operator itself knows: int.__add__ leaves floats to float.__radd__.
func addOps(t *Type, takes func(o Object) bool, ops ...string) {
	formats := t == StrType || t == BytesType || t == ByteArrayType // what is on the left of their % is one of them
	right := func(op string, o Object) Object {
		if formats && op == "%" { // its own __str__ and __getitem__ are asked
			return o
		}
		return unwrap(o)
	}
	for _, op := range ops {
		d := dunders[op]
		fwd := func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			if !args[0].Type().IsSubtype(t) {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' requires a '%s' object but received a '%s'", d[0], t.errName(), TypeName(args[0]))
			}
			if takes != nil && !takes(args[1]) {
				return NotImplemented, nil
			}
			v, err := nativeBinary(in, op, unwrap(args[0]), right(op, args[1]))
			if v == nil && err == nil {
				v, err = repeated(in, op, args[0], args[1])
			}
			return v, err
		}
		back := func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			if takes != nil && !takes(args[1]) || op == "%" && formats && !args[1].Type().IsSubtype(t) {
				return NotImplemented, nil
			}
			v, err := nativeBinary(in, op, unwrap(args[1]), right(op, args[0]))
			if v == nil && err == nil {
				v, err = repeated(in, op, args[0], args[1])
			}
			return v, err
		}
		switch t {
		case StrType, ListType, TupleType, BytesType, ByteArrayType:
			if op != "%" {
				addSequenceOp(t, op, fwd, back)
				continue
			}
		}
		if op == "**" {
			addMethod(t, d[0], 1, 2, withModulus(takes, fwd, func(self, o Object) (Object, Object) { return self, o }))
			addMethod(t, d[1], 1, 2, withModulus(takes, back, func(self, o Object) (Object, Object) { return o, self }))
			continue
		}
		addMethod(t, d[0], 1, 1, fwd)
		addMethod(t, d[1], 1, 1, back)
	}
}

// addSequenceOp registers + or * of a sequence. An operator asks what is on the other side, too; a call by name raises what the operator would in
// the end. What is on the right of a concatenation is not asked.
func addSequenceOp(t *Type, op string, fwd, back GoFunc) {
	add := func(name string, f GoFunc) {
		b := addMethod(t, name, 1, 1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			v, err := f(in, args, kw)
			switch {
			case err != nil || v != NotImplemented:
				return v, err
			case op == "*":
				return nil, in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", TypeName(args[1]))
			}
			return nil, badOperands(in, op, args[0], args[1])
		})
		b.(*Builtin).operand = f
	}
	add(dunders[op][0], fwd)
	if op == "*" {
		add(dunders[op][1], back)
	}
}

// withModulus is __pow__ or __rpow__, which may get a third operand: integers are taken by its modulus, and other numbers have none.
func withModulus(takes func(o Object) bool, pow GoFunc, order func(self, o Object) (base, exp Object)) GoFunc {
	return func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if len(args) < 3 || args[2] == None {
			return pow(in, args[:2], kw)
		}
		switch unwrap(args[0]).(type) {
		case Float:
			return nil, in.Errorf(in.Exc.TypeError, "pow() 3rd argument not allowed unless all arguments are integers")
		case Complex:
			if v, err := pow(in, args[:2], kw); v == NotImplemented {
				return v, err
			}
			return nil, in.Errorf(in.Exc.ValueError, "complex modulo")
		}
		if !takes(args[1]) || !takes(args[2]) {
			return NotImplemented, nil
		}
		base, exp := order(args[0], args[1])
		return in.powMod(base, exp, args[2])
	}
}

// repeated is a sequence times something that has an __index__; NotImplemented for all else.
func repeated(in *Interp, op string, seq, n Object) (Object, error) {
	if op == "*" && n.Type().Lookup("__index__") != nil {
		switch unwrap(seq).(type) {
		case Str, *List, *Tuple, Bytes, *ByteArray:
			return sequenceOp(in, op, seq, n)
		}
	}
	return NotImplemented, nil
}

// addCompare registers the comparisons of a native type; see addOps for takes.
func addCompare(t *Type, takes func(o Object) bool, ops ...string) {
	for _, op := range ops {
		addMethod(t, compareDunders[op][0], 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			if takes != nil && !takes(args[1]) {
				return NotImplemented, nil
			}
			v, err := nativeCompare(in, op, unwrap(args[0]), unwrap(args[1]))
			if v == nil && err == nil {
				v = NotImplemented
			}
			return v, err
		})
	}
}

var allCompare = []string{"<", "<=", "==", "!=", ">", ">="}

// addBasics registers repr, hash, len, iter, getitem and contains of a native type.
func addBasics(t *Type, what string) {
	for _, w := range strings.Fields(what) {
		switch w {
		case "repr":
			addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				s, _, err := nativeRepr(in, args[0])
				return Str(s), err
			})
		case "hash":
			addMethod(t, "__hash__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				h, err := in.Hash(unwrap(args[0]))
				return MakeInt(int64(h)), err
			})
		case "len":
			addMethod(t, "__len__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				n, err := in.Len(unwrap(args[0]))
				return MakeInt(int64(n)), err
			})
		case "iter":
			addMethod(t, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return in.Iter(unwrap(args[0])) })
		case "getitem":
			addMethod(t, "__getitem__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				return nativeGetItem(in, unwrap(args[0]), args[1])
			})
		case "setitem":
			addMethod(t, "__setitem__", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				return None, in.SetItem(unwrap(args[0]), args[1], args[2])
			})
		case "delitem":
			addMethod(t, "__delitem__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				return None, in.DelItem(unwrap(args[0]), args[1])
			})
		case "contains":
			addMethod(t, "__contains__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				ok, err := in.Contains(unwrap(args[0]), args[1])
				return MakeBool(ok), err
			})
		case "unhash":
			t.Dict.SetStr("__hash__", None)
		case "bool":
			addMethod(t, "__bool__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				b, err := in.Truth(unwrap(args[0]))
				return MakeBool(b), err
			})
		case "format":
			addMethod(t, "__format__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				spec, ok := AsStr(args[1])
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "__format__() argument must be str, not %s", ArgName(args[1]))
				}
				if spec == "" {
					return in.str(args[0])
				}
				s, err := in.Format(unwrap(args[0]), spec)
				return Str(s), err
			})
		case "neg":
			for op, n := range map[string]string{"-": "__neg__", "+": "__pos__", "~": "__invert__"} {
				if op == "~" && t == FloatType || op == "~" && t == ComplexType {
					continue
				}
				addMethod(t, n, 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return in.UnaryOp(op, unwrap(args[0])) })
			}
		}
	}
}

// floatToInt is int(f); infinities and NaN have none.
func floatToInt(in *Interp, f float64) (Object, error) {
	if math.IsNaN(f) {
		return nil, in.Errorf(in.Exc.ValueError, "cannot convert float NaN to integer")
	}
	if math.IsInf(f, 0) {
		return nil, in.Errorf(in.Exc.OverflowError, "cannot convert float infinity to integer")
	}
	if math.Abs(f) < 1<<62 {
		return MakeInt(int64(f)), nil
	}
	b, _ := big.NewFloat(f).Int(nil)
	return MakeBig(b), nil
}

// roundFloat is round(x, n), correct in decimal.
func roundFloat(in *Interp, x float64, n int) (Object, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) || n > 323 {
		return Float(x), nil
	}
	if n < -308 {
		return Float(math.Copysign(0, x)), nil
	}
	if n >= 0 {
		s := strconv.FormatFloat(x, 'f', n, 64)
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, in.Errorf(in.Exc.OverflowError, "rounded value too large to represent")
		}
		return Float(f), nil
	}
	// Exact value of x, rounded half to even at 10**-n.
	r := new(big.Rat).SetFloat64(x)
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	q := roundRat(new(big.Rat).Quo(r, new(big.Rat).SetInt(p)))
	f, _ := new(big.Float).SetInt(q.Mul(q, p)).Float64()
	if math.IsInf(f, 0) {
		return nil, in.Errorf(in.Exc.OverflowError, "rounded value too large to represent")
	}
	if f == 0 {
		f = math.Copysign(0, x)
	}
	return Float(f), nil
}

// roundRat rounds half to even.
// floatHex is float.hex.
func floatHex(x float64) string {
	sign := ""
	if math.Signbit(x) {
		sign = "-"
	}
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return sign + "inf"
	case x == 0:
		return sign + "0x0.0p+0"
	}
	bits := math.Float64bits(x)
	exp, lead := int(bits>>52&0x7ff)-1023, 1
	if exp == -1023 { // subnormal
		exp, lead = -1022, 0
	}
	return fmt.Sprintf("%s0x%d.%013xp%+d", sign, lead, bits&(1<<52-1), exp)
}

var hexFloat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([+-]?)(?:0x)?([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([+-]?[0-9]+))?$`)
})

// parseHexFloat is float.fromhex; a value too large is infinite.
func parseHexFloat(s string) (float64, bool) {
	s = strings.ToLower(s)
	switch strings.TrimLeft(s, "+-") {
	case "inf", "infinity", "nan":
		return parseFloat(s)
	}
	m := hexFloat().FindStringSubmatch(s)
	if m == nil || m[2]+m[3] == "" {
		return 0, false
	}
	if m[4] == "" {
		m[4] = "0"
	}
	v, err := strconv.ParseFloat(m[1]+"0x"+m[2]+"."+m[3]+"p"+m[4], 64)
	return v, err == nil || math.IsInf(v, 0)
}

// clampInt is b, or the nearest int.
func clampInt(b *big.Int) int {
	switch {
	case b.IsInt64():
		return int(b.Int64())
	case b.Sign() < 0:
		return math.MinInt
	}
	return math.MaxInt
}

// roundRat rounds a fraction to the nearest integer, a half to the even one.
func roundRat(r *big.Rat) *big.Int {
	num, den := r.Num(), r.Denom()
	q, m := new(big.Int).DivMod(num, den, new(big.Int))
	m.Lsh(m, 1)
	switch c := m.Cmp(den); {
	case c > 0, c == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q
}

// initNumbers gives the numbers their methods.
func initNumbers() {
	t := IntType
	t.New = newInt
	isInt := func(o Object) bool { _, ok := AsBig(o); return ok }
	addOps(t, isInt, "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "divmod")
	addCompare(t, isInt, allCompare...)
	addBasics(t, "repr hash bool format neg")
	self := func(name string, f func(in *Interp, v Object) (Object, error)) {
		addMethod(t, name, 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			v := unwrap(args[0])
			if b, ok := v.(Bool); ok {
				i, _ := AsInt(b)
				v = MakeInt(i)
			}
			return f(in, v)
		})
	}
	id := func(_ *Interp, v Object) (Object, error) { return v, nil }
	for _, n := range []string{"__int__", "__index__", "__trunc__", "__floor__", "__ceil__", "conjugate"} {
		self(n, id)
	}
	self("__float__", func(in *Interp, v Object) (Object, error) { f, err := toFloat(in, v); return Float(f), err })
	self("__abs__", func(in *Interp, v Object) (Object, error) {
		b, _ := AsBig(v)
		if b.Sign() < 0 {
			return in.UnaryOp("-", v)
		}
		return v, nil
	})
	self("bit_length", func(in *Interp, v Object) (Object, error) { b, _ := AsBig(v); return MakeInt(int64(b.BitLen())), nil })
	self("bit_count", func(in *Interp, v Object) (Object, error) {
		b, _ := AsBig(v)
		return MakeInt(int64(strings.Count(new(big.Int).Abs(b).Text(2), "1"))), nil
	})
	self("__getnewargs__", func(in *Interp, v Object) (Object, error) { return NewTuple(v), nil })
	self("as_integer_ratio", func(in *Interp, v Object) (Object, error) { return NewTuple(v, MakeInt(1)), nil })
	addMethod(t, "__round__", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		v, err := in.ToInt(args[0])
		if err != nil || len(args) == 1 || args[1] == None {
			return v, err
		}
		places, err := in.IndexBig(args[1])
		if err != nil || places.Sign() >= 0 {
			return v, err
		}
		n := int64(-mostItems)
		if places.IsInt64() {
			n = max(n, places.Int64())
		}
		b, _ := AsBig(v)
		p := new(big.Int).Exp(big.NewInt(10), big.NewInt(-n), nil)
		q := roundRat(new(big.Rat).SetFrac(b, p))
		return MakeBig(q.Mul(q, p)), nil
	})
	addKw(t, "to_bytes", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("to_bytes", args, kw, "self, length=1, byteorder='big', *, signed=False")
		if err != nil {
			return nil, err
		}
		n, err := in.Index(a[1])
		if err != nil {
			return nil, err
		}
		b, _ := AsBig(a[0])
		order, ok := AsStr(a[2])
		signed, err := in.Truth(a[3])
		switch {
		case !ok:
			return nil, in.Errorf(in.Exc.TypeError, "to_bytes() argument 'byteorder' must be str, not %s", ArgName(a[2]))
		case err != nil:
			return nil, err
		case order != "little" && order != "big":
			return nil, in.Errorf(in.Exc.ValueError, "byteorder must be either 'little' or 'big'")
		case n < 0:
			return nil, in.Errorf(in.Exc.ValueError, "length argument must be non-negative")
		case n > math.MaxInt32:
			return nil, in.Errorf(in.Exc.MemoryError, "")
		}
		if b.Sign() < 0 && !signed {
			return nil, in.Errorf(in.Exc.OverflowError, "can't convert negative int to unsigned")
		}
		mod := new(big.Int).Lsh(big.NewInt(1), uint(8*n))
		lim := mod
		if signed {
			lim = new(big.Int).Rsh(mod, 1)
		}
		if b.Cmp(lim) >= 0 || b.Sign() < 0 && new(big.Int).Neg(b).Cmp(lim) > 0 {
			return nil, in.Errorf(in.Exc.OverflowError, "int too big to convert")
		}
		if b.Sign() < 0 {
			b = new(big.Int).Add(b, mod)
		}
		out := b.FillBytes(make([]byte, n))
		if order == "little" {
			for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
				out[i], out[j] = out[j], out[i]
			}
		}
		return Bytes(out), nil
	})
	addClass(t, "from_bytes", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("from_bytes", args, kw, "cls, bytes, byteorder='big', *, signed=False")
		if err != nil {
			return nil, err
		}
		bs, err := in.anyBytes(a[1])
		if err != nil {
			return nil, err
		}
		order, ok := AsStr(a[2])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "from_bytes() argument 'byteorder' must be str, not %s", ArgName(a[2]))
		}
		if order != "little" && order != "big" {
			return nil, in.Errorf(in.Exc.ValueError, "byteorder must be either 'little' or 'big'")
		}
		if order == "little" {
			for i, j := 0, len(bs)-1; i < j; i, j = i+1, j-1 {
				bs[i], bs[j] = bs[j], bs[i]
			}
		}
		b := new(big.Int).SetBytes(bs)
		if s, _ := in.Truth(a[3]); s && len(bs) > 0 && bs[0]&0x80 != 0 {
			b.Sub(b, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bs))))
		}
		if cls, ok := a[0].(*Type); ok && cls != IntType {
			return in.Call(cls, []Object{MakeBig(b)}, nil)
		}
		return MakeBig(b), nil
	})
	for n, f := range map[string]func(in *Interp, v Object) (Object, error){"real": id, "numerator": id,
		"imag":        func(*Interp, Object) (Object, error) { return MakeInt(0), nil },
		"denominator": func(*Interp, Object) (Object, error) { return MakeInt(1), nil }} {
		addGetSet(t, n, func(in *Interp, o Object) (Object, error) {
			v := unwrap(o)
			if b, ok := v.(Bool); ok {
				i, _ := AsInt(b)
				v = MakeInt(i)
			}
			return f(in, v)
		}, nil)
	}

	BoolType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) > 1 {
			return nil, in.Errorf(in.Exc.TypeError, "bool expected at most 1 argument, got %d", len(args))
		}
		if len(args) == 0 {
			return False, nil
		}
		b, err := in.Truth(args[0])
		return MakeBool(b), err
	}
	BoolType.Final = true
	addBasics(BoolType, "repr")

	f := FloatType
	f.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(kw) > 0 {
			return nil, in.Errorf(in.Exc.TypeError, "float() takes no keyword arguments")
		}
		if len(args) > 1 {
			return nil, in.Errorf(in.Exc.TypeError, "float expected at most 1 argument, got %d", len(args))
		}
		if len(args) == 0 {
			return wrap(cls, FloatType, Float(0)), nil
		}
		if x, ok := args[0].(Int); ok {
			return wrap(cls, FloatType, in.boxFloat(float64(x))), nil
		}
		if s, ok := AsStr(args[0]); ok {
			v, ok := parseFloat(s)
			if !ok {
				return nil, in.Errorf(in.Exc.ValueError, "could not convert string to float: %s", literal.Str(s))
			}
			return wrap(cls, FloatType, Float(v)), nil
		}
		if args[0].Type().Lookup("__float__") == nil && args[0].Type().Lookup("__index__") == nil {
			if b, ok := numberText(args[0]); ok {
				v, ok := parseFloat(string(b))
				if !ok {
					return nil, in.Errorf(in.Exc.ValueError, "could not convert string to float: %s", literal.Bytes(string(b)))
				}
				return wrap(cls, FloatType, Float(v)), nil
			}
		}
		v, err := in.Float(args[0])
		if err != nil {
			if in.Matches(err, in.Exc.TypeError) && args[0].Type().Lookup("__float__") == nil && args[0].Type().Lookup("__index__") == nil {
				return nil, in.Errorf(in.Exc.TypeError, "float() argument must be a string or a real number, not '%s'", TypeName(args[0]))
			}
			return nil, err
		}
		return wrap(cls, FloatType, Float(v)), nil
	}
	addOps(f, func(o Object) bool { _, ok := AsFloat(o); return ok }, "+", "-", "*", "/", "//", "%", "**", "divmod")
	addCompare(f, func(o Object) bool { _, ok := unwrap(o).(Complex); return !ok }, allCompare...)
	addBasics(f, "repr hash bool format neg")
	fm := func(name string, g func(in *Interp, x float64) (Object, error)) {
		addMethod(f, name, 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			x, _ := AsFloat(args[0])
			return g(in, x)
		})
	}
	fm("__float__", func(_ *Interp, x float64) (Object, error) { return Float(x), nil })
	fm("__getnewargs__", func(_ *Interp, x float64) (Object, error) { return NewTuple(Float(x)), nil })
	fm("conjugate", func(_ *Interp, x float64) (Object, error) { return Float(x), nil })
	fm("__abs__", func(_ *Interp, x float64) (Object, error) { return Float(math.Abs(x)), nil })
	fm("__int__", func(in *Interp, x float64) (Object, error) { return floatToInt(in, math.Trunc(x)) })
	fm("__trunc__", func(in *Interp, x float64) (Object, error) { return floatToInt(in, math.Trunc(x)) })
	fm("__floor__", func(in *Interp, x float64) (Object, error) { return floatToInt(in, math.Floor(x)) })
	fm("__ceil__", func(in *Interp, x float64) (Object, error) { return floatToInt(in, math.Ceil(x)) })
	fm("is_integer", func(_ *Interp, x float64) (Object, error) {
		return MakeBool(x == math.Trunc(x) && !math.IsInf(x, 0)), nil
	})
	fm("hex", func(_ *Interp, x float64) (Object, error) { return Str(floatHex(x)), nil })
	fm("as_integer_ratio", func(in *Interp, x float64) (Object, error) {
		if math.IsNaN(x) {
			return nil, in.Errorf(in.Exc.ValueError, "cannot convert NaN to integer ratio")
		}
		if math.IsInf(x, 0) {
			return nil, in.Errorf(in.Exc.OverflowError, "cannot convert Infinity to integer ratio")
		}
		r := new(big.Rat).SetFloat64(x)
		return NewTuple(MakeBig(new(big.Int).Set(r.Num())), MakeBig(new(big.Int).Set(r.Denom()))), nil
	})
	addClass(f, "__getformat__", func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if s, _ := AsStr(args[len(args)-1]); s == "double" || s == "float" {
			return Str("IEEE, little-endian"), nil
		}
		return nil, in.Errorf(in.Exc.ValueError, "__getformat__() argument 1 must be 'double' or 'float'")
	})
	addClass(f, "fromhex", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		s, ok := AsStr(args[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "bad argument type for built-in operation")
		}
		x, ok := parseHexFloat(strings.TrimFunc(s, isSpace))
		if !ok {
			return nil, in.Errorf(in.Exc.ValueError, "invalid hexadecimal floating-point string")
		}
		if math.IsInf(x, 0) && !strings.ContainsAny(s, "nN") {
			return nil, in.Errorf(in.Exc.OverflowError, "hexadecimal value too large to represent as a float")
		}
		if cls := args[0]; cls != FloatType {
			return in.Call(cls, []Object{Float(x)}, nil)
		}
		return Float(x), nil
	})
	addMethod(f, "__round__", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		x, _ := AsFloat(args[0])
		if len(args) == 1 || args[1] == None {
			return floatToInt(in, math.RoundToEven(x))
		}
		n, err := in.IndexBig(args[1])
		if err != nil {
			return nil, err
		}
		return roundFloat(in, x, clampInt(n))
	})
	addGetSet(f, "real", func(in *Interp, o Object) (Object, error) { return unwrap(o), nil }, nil)
	addGetSet(f, "imag", func(in *Interp, o Object) (Object, error) { return Float(0), nil }, nil)
	initComplex()
}
