package vm

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// percent is the % operator of strings.
func percent(in *Interp, format string, arg Object, asBytes bool) (string, error) {
	var sb strings.Builder
	args := []Object{arg}
	tuple := false
	if t, ok := unwrap(arg).(*Tuple); ok {
		args, tuple = t.Items, true
	}
	_, isMap := unwrap(arg).(*Dict)
	if !isMap && !tuple {
		switch arg.(type) {
		case Str, Bytes:
		default:
			isMap = arg.Type().Lookup("__getitem__") != nil
		}
	}
	next := 0
	usedMap := false
	take := func() (Object, error) {
		if next >= len(args) {
			return nil, in.Errorf(in.Exc.TypeError, "not enough arguments for format string")
		}
		next++
		return args[next-1], nil
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			sb.WriteByte(format[i])
			continue
		}
		i++
		if i >= len(format) {
			return "", in.Errorf(in.Exc.ValueError, "incomplete format")
		}
		var v Object
		if format[i] == '(' {
			depth, j := 1, i+1
			for j < len(format) && depth > 0 {
				switch format[j] {
				case '(':
					depth++
				case ')':
					depth--
				}
				j++
			}
			if depth > 0 {
				return "", in.Errorf(in.Exc.ValueError, "incomplete format key")
			}
			if !isMap {
				return "", in.Errorf(in.Exc.TypeError, "format requires a mapping")
			}
			var err error
			if v, err = in.GetItem(arg, Str(format[i+1:j-1])); err != nil {
				return "", err
			}
			usedMap = true
			i = j
		}
		f := fmtSpec{fill: ' ', prec: -1}
		for ; i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0; i++ {
			switch format[i] {
			case '-':
				f.align = '<'
			case '+':
				f.sign = '+'
			case ' ':
				if f.sign == 0 {
					f.sign = ' '
				}
			case '#':
				f.alt = true
			case '0':
				f.zeroPad = true
			}
		}
		star := func() (int, error) {
			i++
			o, err := take()
			if err != nil {
				return 0, err
			}
			n, ok := AsInt(o)
			if _, large := AsBig(o); large && !ok {
				return 0, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C ssize_t")
			}
			if !ok {
				return 0, in.Errorf(in.Exc.TypeError, "* wants int")
			}
			return int(n), nil
		}
		if i < len(format) && format[i] == '*' {
			n, err := star()
			if err != nil {
				return "", err
			}
			if n < 0 {
				f.align, n = '<', -n
			}
			f.width = n
		}
		for ; i < len(format) && format[i] >= '0' && format[i] <= '9'; i++ {
			f.width = f.width*10 + int(format[i]-'0')
		}
		if i < len(format) && format[i] == '.' {
			i++
			f.prec = 0
			if i < len(format) && format[i] == '*' {
				n, err := star()
				if err != nil {
					return "", err
				}
				f.prec = max(n, 0)
			}
			for ; i < len(format) && format[i] >= '0' && format[i] <= '9'; i++ {
				f.prec = f.prec*10 + int(format[i]-'0')
			}
		}
		for i < len(format) && strings.IndexByte("hlL", format[i]) >= 0 {
			i++
		}
		if i >= len(format) {
			return "", in.Errorf(in.Exc.ValueError, "incomplete format")
		}
		verb := format[i]
		if verb == '%' {
			sb.WriteByte('%')
			continue
		}
		if v == nil {
			var err error
			if v, err = take(); err != nil {
				return "", err
			}
		}
		if f.zeroPad && f.align == 0 {
			f.fill, f.align = '0', '='
		}
		if asBytes && verb == 's' {
			verb = 'b'
		}
		s, err := percentVerb(in, &f, verb, v, i)
		if err != nil {
			return "", err
		}
		sb.WriteString(s)
	}
	if next < len(args) && !(isMap && !tuple) || tuple && next < len(args) && !usedMap {
		return "", in.Errorf(in.Exc.TypeError, "not all arguments converted during string formatting")
	}
	return sb.String(), nil
}

func percentVerb(in *Interp, f *fmtSpec, verb byte, v Object, pos int) (string, error) {
	switch verb {
	case 's', 'r', 'a', 'b':
		var s string
		var err error
		switch verb {
		case 's':
			s, err = in.Str(v)
		case 'b':
			b, ok := bytesOf(v)
			if !ok {
				o, has, err := in.special(v, "__bytes__")
				if err != nil {
					return "", err
				}
				if b, ok = bytesOf(orNone(o)); !has || !ok {
					return "", in.Errorf(in.Exc.TypeError, "%s requires a bytes-like object, or an object that implements __bytes__, not '%s'", "%b", v.Type().Name)
				}
			}
			s = string(b)
		case 'r':
			s, err = in.Repr(v)
		default:
			s, err = in.ascii(v)
		}
		if err != nil {
			return "", err
		}
		if f.prec >= 0 && f.prec < utf8.RuneCountInString(s) {
			s = string([]rune(s)[:f.prec])
		}
		if f.align == '=' {
			f.align, f.fill = 0, ' '
		}
		return f.pad(s, '>'), nil
	case 'c':
		if s, ok := AsStr(v); ok && utf8.RuneCountInString(s) == 1 {
			return f.pad(s, '>'), nil
		}
		if n, ok := AsBig(v); ok {
			if n.Sign() < 0 || n.Cmp(big.NewInt(utf8.MaxRune)) > 0 {
				return "", in.Errorf(in.Exc.OverflowError, "%s arg not in range(0x110000)", "%c")
			}
			return f.pad(string(rune(n.Int64())), '>'), nil
		}
		return "", in.Errorf(in.Exc.TypeError, "%s requires int or char", "%c")
	case 'd', 'i', 'u', 'x', 'X', 'o':
		b, ok := AsBig(v)
		if !ok {
			if x, isF := unwrap(v).(Float); isF && (verb == 'd' || verb == 'i' || verb == 'u') {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					return "", in.Errorf(in.Exc.OverflowError, "cannot convert float infinity to integer")
				}
				b, _ = big.NewFloat(math.Trunc(float64(x))).Int(nil)
			} else if i, found, err := in.special(v, "__index__"); found && err == nil {
				b, _ = AsBig(i)
			} else if verb == 'd' || verb == 'i' || verb == 'u' {
				if i, found, err := in.special(v, "__int__"); found && err == nil {
					b, _ = AsBig(i)
				}
			}
			if b == nil {
				if verb == 'x' || verb == 'X' || verb == 'o' {
					return "", in.Errorf(in.Exc.TypeError, "%%%c format: an integer is required, not %s", verb, v.Type().Name)
				}
				return "", in.Errorf(in.Exc.TypeError, "%%%c format: a real number is required, not %s", verb, v.Type().Name)
			}
		}
		neg := b.Sign() < 0
		a := new(big.Int).Abs(b)
		prefix := ""
		var d string
		switch verb {
		case 'x':
			d, prefix = a.Text(16), "0x"
		case 'X':
			d, prefix = strings.ToUpper(a.Text(16)), "0X"
		case 'o':
			d, prefix = a.Text(8), "0o"
		default:
			d = a.String()
		}
		if !f.alt {
			prefix = ""
		}
		if f.prec > len(d) {
			d = strings.Repeat("0", f.prec-len(d)) + d
		}
		return f.number(neg, prefix, d, "", 0), nil
	case 'e', 'E', 'f', 'F', 'g', 'G':
		x, err := in.Float(v)
		if err != nil {
			return "", err
		}
		s := floatDigits(math.Abs(x), verb, f.prec, f.alt)
		return f.number(math.Signbit(x) && !math.IsNaN(x), "", s, "", 0), nil
	}
	return "", in.Errorf(in.Exc.ValueError, "unsupported format character '%c' (0x%x) at index %d", verb, verb, pos)
}
