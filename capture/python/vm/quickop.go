package vm

import "math/bits"

// quickBinary is an operator of small built-in values by the argument of BINARY_OP; nil where it takes more than a few steps.
func (bx *boxes) quickBinary(a, b Object, arg int32) (v Object) {
	switch x := a.(type) {
	case Int:
		if y, ok := b.(Int); ok {
			switch arg {
			case 0, 13:
				s := x + y
				if (x^s)&(y^s) >= 0 {
					v = bx.boxInt(int64(s))
				}
			case 10, 23:
				s := x - y
				if (x^y)&(x^s) >= 0 {
					v = bx.boxInt(int64(s))
				}
			case 5, 18:
				hi, lo := bits.Mul64(uint64(x), uint64(y))
				if int64(x) >= 0 && int64(y) >= 0 && hi == 0 && int64(lo) >= 0 {
					v = bx.boxInt(int64(lo))
				} else if x > -(1<<31) && x < 1<<31 && y > -(1<<31) && y < 1<<31 {
					v = bx.boxInt(int64(x * y))
				}
			case 2, 15:
				if y > 0 {
					q := x / y
					if x%y < 0 {
						q--
					}
					v = bx.boxInt(int64(q))
				}
			case 6, 19:
				if y > 0 {
					m := x % y
					if m < 0 {
						m += y
					}
					v = bx.boxInt(int64(m))
				}
			case 1, 14:
				v = bx.boxInt(int64(x & y))
			case 7, 20:
				v = bx.boxInt(int64(x | y))
			case 12, 25:
				v = bx.boxInt(int64(x ^ y))
			case 9, 22:
				if y >= 0 && y < 64 {
					v = bx.boxInt(int64(x >> uint(y)))
				}
			case 3, 16:
				if y >= 0 && y < 31 && x >= 0 && x < 1<<31 {
					v = bx.boxInt(int64(x << uint(y)))
				}
			case 11, 24:
				if y != 0 && x > -(1<<53) && x < 1<<53 && y > -(1<<53) && y < 1<<53 {
					v = bx.boxFloat(float64(x) / float64(y))
				}
			}
		} else if y, ok := b.(Float); ok {
			v = bx.floatOp(float64(x), float64(y), arg)
		}
	case Float:
		switch y := b.(type) {
		case Float:
			v = bx.floatOp(float64(x), float64(y), arg)
		case Int:
			v = bx.floatOp(float64(x), float64(y), arg)
		}
	case Str:
		if y, ok := b.(Str); ok && (arg == 0 || arg == 13) {
			v = x + y
		}
	}
	return v
}

// ordered compares by the argument of COMPARE_OP.
func ordered[T Int | Float](x, y T, arg int32) bool {
	switch arg {
	case 0:
		return x < y
	case 1:
		return x <= y
	case 2:
		return x == y
	case 3:
		return x != y
	case 4:
		return x > y
	}
	return x >= y
}

// quickCompare compares integers, floats and strings; ok false where it takes more than that.
func quickCompare(a, b Object, arg int32) (t, ok bool) {
	switch x := a.(type) {
	case Int:
		if y, ok := b.(Int); ok {
			return ordered(x, y, arg), true
		}
	case Float:
		if y, ok := b.(Float); ok {
			return ordered(x, y, arg), true
		}
	case Str:
		if y, ok := b.(Str); ok && (arg == 2 || arg == 3) {
			return (x == y) == (arg == 2), true
		}
	}
	return false, false
}

// quickTruth is the truth of what is mostly asked about; known false of the rest.
func quickTruth(o Object) (t, known bool) {
	switch x := o.(type) {
	case Bool:
		return bool(x), true
	case Int:
		return x != 0, true
	}
	return false, false
}

// quickSlice is o[start:stop] of a list, or of a str of ASCII, whose bounds are integers or None; nil of anything else.
func (in *Interp) quickSlice(o, start, stop Object) Object {
	n := 0
	switch x := o.(type) {
	case *List:
		n = len(x.Items)
	case Str:
		wide, chars := in.runes(string(x))
		if wide != nil {
			return nil
		}
		n = chars
	default:
		return nil
	}
	i, ok := bound(start, 0, n)
	j, also := bound(stop, n, n)
	if !ok || !also {
		return nil
	}
	j = max(i, j)
	if l, ok := o.(*List); ok {
		return &List{append(make([]Object, 0, j-i), l.Items[i:j]...)}
	}
	s := o.(Str)
	if j-i == 1 {
		return charStrs[s[i]]
	}
	return s[i:j]
}

// bound is an end of a slice of n items: none if it is None.
func bound(o Object, none, n int) (int, bool) {
	switch x := o.(type) {
	case Int:
		if x < 0 {
			x += Int(n)
		}
		return int(max(0, min(x, Int(n)))), true
	case *NoneType:
		return none, true
	}
	return 0, false
}
