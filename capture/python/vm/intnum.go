package vm

import (
	"math/big"
	"strings"

	"whittle/capture/python/literal"
)

// Integers of texts, and texts of integers. Neither may have more digits than Interp.IntDigits where the base is no power of two, as the
// time that they take grows with the square of that.

// DefaultIntDigits is sys.int_info.default_max_str_digits, LeastIntDigits the least limit.
const (
	DefaultIntDigits = 4300
	LeastIntDigits   = 640
)

// newInt is int(x, base).
func newInt(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
	for _, k := range kw {
		if k.Name != "base" {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for int()", k.Name)
		}
		if len(args) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "int() missing string argument")
		}
		args = append(args[:len(args):len(args)], k.Value)
	}
	switch len(args) {
	case 0:
		return wrap(cls, IntType, MakeInt(0)), nil
	case 1:
		v, err := in.ToInt(args[0])
		if err != nil {
			return nil, err
		}
		return wrap(cls, IntType, v), nil
	case 2:
	default:
		return nil, in.Errorf(in.Exc.TypeError, "int() takes at most 2 arguments (%d given)", len(args))
	}
	base, err := in.IndexBig(args[1])
	if err != nil {
		return nil, err
	}
	b := int(base.Int64())
	if !base.IsInt64() || b != 0 && (b < 2 || b > 36) {
		return nil, in.Errorf(in.Exc.ValueError, "int() base must be >= 2 and <= 36, or 0")
	}
	s, ok := AsStr(args[0])
	if !ok {
		bs, isB := bytesOf(args[0])
		if !isB {
			return nil, in.Errorf(in.Exc.TypeError, "int() can't convert non-string with explicit base")
		}
		s = string(bs)
	}
	v, err := in.intOf(s, b, args[0])
	if err != nil {
		return nil, err
	}
	return wrap(cls, IntType, v), nil
}

// intOf reads an integer. of is where the text comes from, for the error.
func (in *Interp) intOf(s string, base int, of Object) (Object, error) {
	if limit := in.IntDigits; limit > 0 && len(s) > limit && (base&(base-1) != 0 || base == 0 && !prefixed(s)) {
		n := 0
		for i := range len(s) {
			if s[i] != '_' && s[i] > ' ' && s[i] != '-' && s[i] != '+' {
				n++
			}
		}
		if n > limit {
			return nil, in.Errorf(in.Exc.ValueError, "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", limit, n)
		}
	}
	if v, ok := parseInt(s, base); ok {
		return v, nil
	}
	text := literal.Str(s)
	if _, isText := AsStr(of); !isText {
		text = literal.Bytes(s)
	}
	return nil, in.Errorf(in.Exc.ValueError, "invalid literal for int() with base %d: %s", base, text)
}

// prefixed reports whether a text begins with 0x, 0o or 0b.
func prefixed(s string) bool {
	s = strings.TrimLeft(strings.TrimSpace(s), "+-")
	return len(s) > 2 && s[0] == '0' && strings.IndexByte("xXoObB", s[1]) >= 0
}

// decimal is the digits of an integer.
func (in *Interp) decimal(b *big.Int) (string, error) {
	if limit := in.IntDigits; limit > 0 && b.BitLen() > 3*limit { // a digit has more than three bits
		if s := b.String(); len(s) > limit+1 || len(s) == limit+1 && b.Sign() >= 0 {
			return "", in.Errorf(in.Exc.ValueError, "Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit", limit)
		}
	}
	return b.String(), nil
}

// ToInt converts as int(o) does for one argument.
func (in *Interp) ToInt(o Object) (Object, error) {
	switch x := o.(type) {
	case Int, *BigInt:
		return x, nil
	case Bool:
		i, _ := AsInt(x)
		return MakeInt(i), nil
	case Float:
		return floatToInt(in, float64(x))
	case Str:
		return in.intOf(string(x), 10, x)
	}
	if v, ok, err := in.Special(o, "__int__"); ok || err != nil {
		if err != nil {
			return nil, err
		}
		return in.exactInt(v, "__int__")
	}
	if o.Type().Lookup("__index__") != nil {
		b, err := in.IndexBig(o)
		if err != nil {
			return nil, err
		}
		return MakeBig(b), nil
	}
	if v, ok, err := in.Special(o, "__trunc__"); ok || err != nil {
		if err != nil {
			return nil, err
		}
		if err := in.Warn(in.Exc.DeprecationWarning, "The delegation of int() to __trunc__ is deprecated."); err != nil {
			return nil, err
		}
		if _, isInt := AsBig(v); !isInt {
			if v.Type().Lookup("__index__") == nil {
				return nil, in.Errorf(in.Exc.TypeError, "__trunc__ returned non-Integral (type %s)", TypeName(v))
			}
			b, err := in.IndexBig(v)
			if err != nil {
				return nil, err
			}
			v = MakeBig(b)
		}
		b, _ := AsBig(v)
		return MakeBig(b), nil
	}
	if s, ok := AsStr(o); ok {
		return in.intOf(s, 10, o)
	}
	if b, ok := numberText(o); ok {
		return in.intOf(string(b), 10, o)
	}
	return nil, in.Errorf(in.Exc.TypeError, "int() argument must be a string, a bytes-like object or a real number, not '%s'", TypeName(o))
}

// exactInt is what a special method gave as an int. An instance of a class that derives from int is still taken, with a warning.
func (in *Interp) exactInt(v Object, method string) (Object, error) {
	switch v.(type) {
	case Int, *BigInt:
		return v, nil
	}
	b, ok := AsBig(v)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "%s returned non-int (type %s)", method, TypeName(v))
	}
	err := in.Warn(in.Exc.DeprecationWarning, method+" returned non-int (type "+TypeName(v)+
		").  The ability to return an instance of a strict subclass of int is deprecated, and may not be supported in a future version of Python.")
	return MakeBig(b), err
}

// Warn issues a warning about the line that runs.
func (in *Interp) Warn(category *Type, text string) error {
	w, err := in.Import("_warnings")
	if err == nil {
		_, err = in.CallMethod(w, "warn", Str(text), category, MakeInt(1))
	}
	return err
}
