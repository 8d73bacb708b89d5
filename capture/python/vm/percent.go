package vm

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/wtf8"
)

// percent is the % operator of strings, and of bytes if asBytes.
func percent(in *Interp, format string, arg Object, asBytes bool) (string, error) {
	p := newPercent(in, format, arg, asBytes)
	for p.i < len(format) {
		at := strings.IndexByte(format[p.i:], '%')
		if at < 0 {
			p.out.WriteString(format[p.i:])
			break
		}
		p.out.WriteString(format[p.i : p.i+at])
		p.i += at + 1
		if err := p.field(); err != nil {
			return "", err
		}
	}
	if p.next < len(p.args) && !p.mapping {
		kind := "string"
		if asBytes {
			kind = "bytes"
		}
		return "", in.Errorf(in.Exc.TypeError, "not all arguments converted during %s formatting", kind)
	}
	return p.out.String(), nil
}

// percentFormat is a % format that is being filled in. A tuple's items are taken one by one, a mapping's by their keys; anything else is
// the one value.
type percentFormat struct {
	in      *Interp
	format  string
	i       int // where it is read
	arg     Object
	args    []Object
	next    int  // of args
	mapping bool // arg can be asked for keys
	asBytes bool
	out     strings.Builder
}

// newPercent says how the operand of % is taken: item by item, by keys, or whole.
func newPercent(in *Interp, format string, arg Object, asBytes bool) *percentFormat {
	p := &percentFormat{in: in, format: format, arg: arg, args: []Object{arg}, asBytes: asBytes}
	switch x := unwrap(arg).(type) {
	case *Tuple:
		p.args = x.Items
	case Str:
	case Bytes, *ByteArray:
		p.mapping = !asBytes
	default:
		p.mapping = arg.Type().Lookup("__getitem__") != nil
	}
	return p
}

// peek is the next byte of the format, 0 at its end.
func (p *percentFormat) peek() byte {
	if p.i < len(p.format) {
		return p.format[p.i]
	}
	return 0
}

// field fills in one field: "%", then a key in brackets, flags, width, precision and length, all of which may lack, and the verb.
func (p *percentFormat) field() error {
	if p.i >= len(p.format) {
		return p.in.Errorf(p.in.Exc.ValueError, "incomplete format")
	}
	var v Object
	var err error
	if p.peek() == '(' {
		if v, err = p.key(); err != nil {
			return err
		}
	}
	f := fmtSpec{fill: ' ', prec: -1}
	p.flags(&f)
	width, err := p.number("width", math.MaxInt64, "ssize_t")
	if err != nil {
		return err
	}
	if width < 0 {
		f.align, width = '<', -width
	}
	if width > largestWidth || width < 0 {
		return p.in.RaiseObj(p.in.Exc.MemoryError)
	}
	f.width = width
	if p.peek() == '.' {
		p.i++
		star := p.peek() == '*'
		if f.prec, err = p.number("precision", math.MaxInt32, "int"); err != nil {
			return err
		}
		if star {
			f.prec = max(f.prec, 0)
		}
	}
	for p.i < len(p.format) && strings.IndexByte("hlL", p.peek()) >= 0 { // C's lengths mean nothing here
		p.i++
	}
	if p.i >= len(p.format) {
		return p.in.Errorf(p.in.Exc.ValueError, "incomplete format")
	}
	at, verb := p.i, p.peek()
	p.i++
	if verb == '%' && p.format[at-1] == '%' {
		p.out.WriteByte('%')
		return nil
	}
	if v == nil {
		if v, err = p.take(); err != nil {
			return err
		}
	}
	if f.zeroPad && f.align == 0 {
		f.fill, f.align = '0', '='
	}
	if p.asBytes && verb == 's' {
		verb = 'b'
	}
	if p.asBytes && verb == 'c' {
		c, err := p.byte(v)
		p.out.WriteString(f.pad(c, '>'))
		return err
	}
	if strings.IndexByte(percentVerbs, verb) < 0 || verb == 'b' && !p.asBytes {
		return p.unsupported(at)
	}
	if p.asBytes && verb == 'r' {
		verb = 'a'
	}
	s, err := percentVerb(p.in, &f, verb, v)
	p.out.WriteString(s)
	return err
}

// byte is what %c makes of a number or of one byte, among bytes.
func (p *percentFormat) byte(v Object) (string, error) {
	switch x := unwrap(v).(type) {
	case Bytes:
		if len(x) == 1 {
			return string(x), nil
		}
	case *ByteArray:
		if len(x.B) == 1 {
			return string(x.B), nil
		}
	}
	if v.Type().Lookup("__index__") == nil {
		return "", p.in.Errorf(p.in.Exc.TypeError, "%s requires an integer in range(256) or a single byte", "%c")
	}
	n, err := p.in.IndexBig(v)
	if err != nil {
		return "", err
	}
	if n.Sign() < 0 || n.BitLen() > 8 {
		return "", p.in.Errorf(p.in.Exc.OverflowError, "%s arg not in range(256)", "%c")
	}
	return string([]byte{byte(n.Int64())}), nil
}

// take is the next of the values that are taken one by one.
func (p *percentFormat) take() (Object, error) {
	if p.next >= len(p.args) {
		return nil, p.in.Errorf(p.in.Exc.TypeError, "not enough arguments for format string")
	}
	p.next++
	return p.args[p.next-1], nil
}

// key reads a key in brackets, which may hold brackets, and gives its value.
func (p *percentFormat) key() (Object, error) {
	depth, j := 1, p.i+1
	for j < len(p.format) && depth > 0 {
		switch p.format[j] {
		case '(':
			depth++
		case ')':
			depth--
		}
		j++
	}
	if depth > 0 {
		return nil, p.in.Errorf(p.in.Exc.ValueError, "incomplete format key")
	}
	if !p.mapping {
		return nil, p.in.Errorf(p.in.Exc.TypeError, "format requires a mapping")
	}
	var key Object = Str(p.format[p.i+1 : j-1])
	if p.asBytes {
		key = Bytes(p.format[p.i+1 : j-1])
	}
	v, err := p.in.GetItem(p.arg, key)
	p.i = j
	return v, err
}

// flags reads the characters between "%" and the width.
func (p *percentFormat) flags(f *fmtSpec) {
	for ; ; p.i++ {
		switch p.peek() {
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
		default:
			return
		}
	}
}

// largestWidth is more than memory holds.
const largestWidth = 1 << 40

// number reads a width or a precision, which is a number of C's: digits, or a star instead, for which a value is taken.
func (p *percentFormat) number(what string, most int, kind string) (n int, err error) {
	if p.peek() == '*' {
		p.i++
		return p.star(most, kind)
	}
	for ; p.peek() >= '0' && p.peek() <= '9'; p.i++ {
		d := int(p.peek() - '0')
		if n > (most-d)/10 {
			return 0, p.in.Errorf(p.in.Exc.ValueError, "%s too big", what)
		}
		n = n*10 + d
	}
	return n, nil
}

// star is the value that a star stands for.
func (p *percentFormat) star(most int, kind string) (int, error) {
	o, err := p.take()
	if err != nil {
		return 0, err
	}
	n, ok := AsInt(o)
	if _, large := AsBig(o); large && !ok || ok && (n > int64(most) || n < -int64(most)-1) {
		return 0, p.in.Errorf(p.in.Exc.OverflowError, "Python int too large to convert to C %s", kind)
	}
	if !ok {
		return 0, p.in.Errorf(p.in.Exc.TypeError, "* wants int")
	}
	return int(n), nil
}

// percentVerbs are the verbs that there are; b is of bytes alone.
const percentVerbs = "srabcdiuxXoeEfFgG"

// percentVerb formats one value by one of percentVerbs.
func percentVerb(in *Interp, f *fmtSpec, verb byte, v Object) (string, error) {
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
				o, has, err := in.Special(v, "__bytes__")
				if err != nil {
					return "", err
				}
				if b, ok = bytesOf(orNone(o)); !has || !ok {
					return "", in.Errorf(in.Exc.TypeError, "%s requires a bytes-like object, or an object that implements __bytes__, not '%s'", "%b", TypeName(v))
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
		if f.prec >= 0 && f.prec < wtf8.RuneCountInString(s) {
			s = wtf8.String(wtf8.Runes(s)[:f.prec])
		}
		if f.align == '=' {
			f.align, f.fill = 0, ' '
		}
		return f.pad(s, '>'), nil
	case 'c':
		if s, ok := AsStr(v); ok && wtf8.RuneCountInString(s) == 1 {
			return f.pad(s, '>'), nil
		}
		n, ok := AsBig(v)
		if i, found, err := in.Special(v, "__index__"); !ok && found && err == nil {
			n, ok = AsBig(i)
		}
		if ok {
			if n.Sign() < 0 || n.Cmp(big.NewInt(utf8.MaxRune)) > 0 {
				return "", in.Errorf(in.Exc.OverflowError, "%s arg not in range(0x110000)", "%c")
			}
			return f.pad(wtf8.Char(rune(n.Int64())), '>'), nil
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
			} else {
				names := []string{"__index__"}
				if verb == 'd' || verb == 'i' || verb == 'u' {
					names = []string{"__int__", "__index__"}
				}
				for _, name := range names {
					i, found, err := in.Special(v, name)
					if err != nil && !in.Matches(err, in.Exc.TypeError) {
						return "", err
					}
					if found && err == nil {
						b, _ = AsBig(i)
						break
					}
				}
			}
			if b == nil {
				if verb == 'x' || verb == 'X' || verb == 'o' {
					return "", in.Errorf(in.Exc.TypeError, "%%%c format: an integer is required, not %s", verb, TypeName(v))
				}
				return "", in.Errorf(in.Exc.TypeError, "%%%c format: a real number is required, not %s", verb, TypeName(v))
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
	panic("percentVerb: " + string(verb)) // there is a case for each of percentVerbs
}

// unsupported is the error about a verb that there is none of.
func (p *percentFormat) unsupported(at int) error {
	verb, size := wtf8.DecodeRuneInString(p.format[at:])
	index := at
	if p.asBytes {
		verb, size = rune(p.format[at]), 1
	} else {
		index = wtf8.RuneCountInString(p.format[:at])
	}
	shown := "?"
	if verb > 31 && verb < 128 {
		shown = p.format[at : at+size]
	}
	return p.in.Errorf(p.in.Exc.ValueError, "unsupported format character '%s' (0x%x) at index %d", shown, verb, index)
}
