package vm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"whittle/capture/python/literal"
	"whittle/capture/python/wtf8"
)

// fmtSpec is a parsed format specification.
type fmtSpec struct {
	fill    rune
	align   byte // 0 if not given
	sign    byte
	alt     bool
	zneg    bool
	width   int
	sep     byte
	prec    int // -1 if not given
	typ     rune
	zeroPad bool
}

// mostText is the longest text that a width or a precision may ask for.
const mostText = math.MaxInt32

// parseSpec reads the mini-language of format specs: [[fill]align][sign][z][#][0][width][grouping][.precision][type]. typ is the type that
// error messages name.
func parseSpec(in *Interp, s, typ string) (fmtSpec, error) {
	whole := s
	f := fmtSpec{fill: ' ', prec: -1}
	r, n := wtf8.DecodeRuneInString(s)
	filled := n > 0 && len(s) > n && strings.IndexByte("<>=^", s[n]) >= 0
	if filled {
		f.fill, f.align = r, s[n]
		s = s[n+1:]
	} else if len(s) > 0 && strings.IndexByte("<>=^", s[0]) >= 0 {
		f.align = s[0]
		s = s[1:]
	}
	if len(s) > 0 && strings.IndexByte("+- ", s[0]) >= 0 {
		f.sign = s[0]
		s = s[1:]
	}
	if len(s) > 0 && s[0] == 'z' {
		f.zneg = true
		s = s[1:]
	}
	if len(s) > 0 && s[0] == '#' {
		f.alt = true
		s = s[1:]
	}
	if len(s) > 0 && s[0] == '0' {
		f.zeroPad = true
		if !filled {
			f.fill = '0'
		}
		if f.align == 0 {
			f.align = '='
		}
		s = s[1:]
	}
	tooMany := false // digits for a number of the machine
	num := func() (int, bool) {
		i := 0
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		v, err := strconv.Atoi(s[:i])
		s = s[i:]
		if i > 0 && err != nil {
			tooMany = true
		}
		return v, i > 0
	}
	if v, ok := num(); ok {
		f.width = v
	}
	if len(s) > 0 && (s[0] == ',' || s[0] == '_') {
		f.sep = s[0]
		s = s[1:]
		if len(s) > 0 && (s[0] == ',' || s[0] == '_') {
			if s[0] == f.sep {
				return f, in.Errorf(in.Exc.ValueError, "Cannot specify '%c' with '%c'.", f.sep, s[0])
			}
			return f, in.Errorf(in.Exc.ValueError, "Cannot specify both ',' and '_'.")
		}
	}
	if len(s) > 0 && s[0] == '.' {
		s = s[1:]
		v, ok := num()
		if !ok {
			return f, in.Errorf(in.Exc.ValueError, "Format specifier missing precision")
		}
		f.prec = v
	}
	if !tooMany && (f.width > mostText || f.prec > mostText) {
		return f, in.Errorf(in.Exc.ValueError, "precision too big")
	}
	if tooMany {
		return f, in.Errorf(in.Exc.ValueError, "Too many decimal digits in format string")
	}
	if wtf8.RuneCountInString(s) > 1 {
		return f, in.Errorf(in.Exc.ValueError, "Invalid format specifier '%s' for object of type '%s'", whole, typ)
	}
	if f.typ, _ = wtf8.DecodeRuneInString(s); s == "" {
		f.typ = 0
	}
	if f.sep != 0 && !strings.ContainsRune("\x00defgEG%F", f.typ) && !(f.sep == '_' && strings.ContainsRune("boxX", f.typ)) {
		return f, in.Errorf(in.Exc.ValueError, "Cannot specify '%c' with '%s'.", f.sep, showCode(f.typ))
	}
	if f.prec > math.MaxInt32 && f.prec < math.MaxInt && strings.ContainsRune("eEfFgG%", f.typ) && typ != "str" {
		return f, in.Errorf(in.Exc.ValueError, "precision too big")
	}
	if f.width > 1<<28 || f.prec > 1<<28 {
		return f, in.Errorf(in.Exc.ValueError, "Too many decimal digits in format string")
	}
	return f, nil
}

// pad fills a text up to the width, by default to the left if left is so for its type; "=" puts the fill between the sign and the digits.
func (f *fmtSpec) pad(body string, defAlign byte) string {
	n := f.width - wtf8.RuneCountInString(body)
	if n <= 0 {
		return body
	}
	a := f.align
	if a == 0 {
		a = defAlign
	}
	fill := string(f.fill)
	switch a {
	case '<':
		return body + strings.Repeat(fill, n)
	case '^':
		return strings.Repeat(fill, n/2) + body + strings.Repeat(fill, n-n/2)
	}
	return strings.Repeat(fill, n) + body
}

// number lays out sign, prefix, digits (with separators) and a tail.
func (f *fmtSpec) number(neg bool, prefix, digits, tail string, group int) string {
	sign := ""
	switch {
	case neg:
		sign = "-"
	case f.sign == '+':
		sign = "+"
	case f.sign == ' ':
		sign = " "
	}
	if f.sep != 0 && group > 0 {
		if f.fill == '0' && f.align == '=' {
			// Zeros take part in the grouping.
			for len(sign)+len(prefix)+len(grouped(digits, f.sep, group))+len(tail) < f.width {
				digits = "0" + digits
			}
			g := grouped(digits, f.sep, group)
			for len(sign)+len(prefix)+len(g)+len(tail) > f.width && strings.HasPrefix(digits, "0") && len(digits) > 1 && len(sign)+len(prefix)+len(grouped(digits[1:], f.sep, group))+len(tail) >= f.width {
				digits = digits[1:]
				g = grouped(digits, f.sep, group)
			}
			return sign + prefix + g + tail
		}
		digits = grouped(digits, f.sep, group)
	}
	body := digits + tail
	if f.align == '=' {
		n := f.width - len(sign) - len(prefix) - wtf8.RuneCountInString(body)
		if n > 0 {
			body = strings.Repeat(string(f.fill), n) + body
		}
		return sign + prefix + body
	}
	return f.pad(sign+prefix+body, '>')
}

// grouped puts a separator between groups of digits.
func grouped(d string, sep byte, n int) string {
	if len(d) <= n {
		return d
	}
	var sb strings.Builder
	first := len(d) % n
	if first > 0 {
		sb.WriteString(d[:first])
	}
	for i := first; i < len(d); i += n {
		if sb.Len() > 0 {
			sb.WriteByte(sep)
		}
		sb.WriteString(d[i : i+n])
	}
	return sb.String()
}

// FormatValue is what FORMAT_VALUE makes of a value, as in an f-string: how is 1 for !s, 2 for !r, 3 for !a, 0 for none of them.
func (in *Interp) FormatValue(v Object, how int32, spec string) (string, error) {
	s, err := "", error(nil)
	switch how {
	case 1:
		s, err = in.Str(v)
		v = Str(s)
	case 2:
		s, err = in.Repr(v)
		v = Str(s)
	case 3:
		s, err = in.ascii(v)
		v = Str(s)
	}
	if err != nil {
		return "", err
	}
	return in.Format(v, spec)
}

// Format is format(o, spec).
func (in *Interp) Format(o Object, spec string) (string, error) {
	if spec == "" {
		switch x := o.(type) {
		case Str:
			return string(x), nil
		case Int:
			return strconv.FormatInt(int64(x), 10), nil
		case Float, Bool, *BigInt, *NoneType, *List, *Dict, *Tuple:
			return in.Str(x)
		}
	}
	switch x := o.(type) {
	case Str:
		return formatStr(in, string(x), spec)
	case Int, Bool, *BigInt:
		return formatInt(in, x, spec)
	case Float:
		return formatFloat(in, float64(x), spec)
	case Complex:
		return formatComplex(in, complex128(x), spec)
	}
	v, ok, err := in.Special(o, "__format__", Str(spec))
	if err != nil {
		return "", err
	}
	if !ok {
		return in.Str(o)
	}
	s, isStr := AsStr(v)
	if !isStr {
		return "", in.Errorf(in.Exc.TypeError, "__format__ must return a str, not %s", TypeName(v))
	}
	return s, nil
}

// formatStr formats a string: width, fill and precision.
func formatStr(in *Interp, s, spec string) (string, error) {
	f, err := parseSpec(in, spec, "str")
	if err != nil {
		return "", err
	}
	if f.typ != 0 && f.typ != 's' {
		return "", in.Errorf(in.Exc.ValueError, "Unknown format code '%s' for object of type 'str'", showCode(f.typ))
	}
	if f.zneg {
		return "", in.Errorf(in.Exc.ValueError, "Negative zero coercion (z) not allowed in string format specifier")
	}
	if f.sign == ' ' {
		return "", in.Errorf(in.Exc.ValueError, "Space not allowed in string format specifier")
	}
	if f.sign != 0 {
		return "", in.Errorf(in.Exc.ValueError, "Sign not allowed in string format specifier")
	}
	if f.align == '=' && !f.zeroPad {
		return "", in.Errorf(in.Exc.ValueError, "'=' alignment not allowed in string format specifier")
	}
	if f.sep != 0 {
		return "", in.Errorf(in.Exc.ValueError, "Cannot specify '%c' with 's'.", f.sep)
	}
	if f.align == '=' {
		f.align = '<'
	}
	if f.prec >= 0 && f.prec < wtf8.RuneCountInString(s) {
		s = wtf8.String(wtf8.Runes(s)[:f.prec])
	}
	return f.pad(s, '<'), nil
}

// formatInt formats an integer in any base, as a character, or as a float if the spec's type is one of a float.
func formatInt(in *Interp, o Object, spec string) (string, error) {
	f, err := parseSpec(in, spec, TypeName(o))
	if err != nil {
		return "", err
	}
	switch f.typ {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		x, err := toFloat(in, o)
		if err != nil {
			return "", err
		}
		return formatFloat(in, x, spec)
	}
	if x, ok := o.(Int); ok && f.prec < 0 && !f.zneg && (f.typ == 0 || f.typ == 'd') {
		return f.number(x < 0, "", strings.TrimPrefix(strconv.FormatInt(int64(x), 10), "-"), "", 3), nil
	}
	b, _ := AsBig(o)
	if f.prec >= 0 {
		return "", in.Errorf(in.Exc.ValueError, "Precision not allowed in integer format specifier")
	}
	if f.zneg {
		return "", in.Errorf(in.Exc.ValueError, "Negative zero coercion (z) not allowed in format specifier with integer format code '%s'", showCode(max(f.typ, 'd')))
	}
	if _, ok := o.(Bool); ok && f.typ == 0 && spec != "" {
		return f.number(b.Sign() < 0, "", b.String(), "", 3), nil
	}
	neg := b.Sign() < 0
	text := func(base int) string {
		if b.IsInt64() {
			return strings.TrimPrefix(strconv.FormatInt(b.Int64(), base), "-")
		}
		return strings.TrimPrefix(b.Text(base), "-")
	}
	prefix, group := "", 3
	var digits string
	switch f.typ {
	case 0, 'd', 'n':
		if digits = text(10); len(digits) > in.IntDigits {
			if _, err := in.decimal(b); err != nil {
				return "", err
			}
		}
	case 'b':
		digits, prefix, group = text(2), "0b", 4
	case 'o':
		digits, prefix, group = text(8), "0o", 4
	case 'x':
		digits, prefix, group = text(16), "0x", 4
	case 'X':
		digits, prefix, group = strings.ToUpper(text(16)), "0X", 4
	case 'c':
		if f.sign != 0 {
			return "", in.Errorf(in.Exc.ValueError, "Sign not allowed with integer format specifier 'c'")
		}
		if !b.IsInt64() || b.Int64() > utf8.MaxRune || neg {
			return "", in.Errorf(in.Exc.OverflowError, "%s arg not in range(0x110000)", "%c")
		}
		return f.pad(wtf8.Char(rune(b.Int64())), '<'), nil
	default:
		return "", in.Errorf(in.Exc.ValueError, "Unknown format code '%s' for object of type '%s'", showCode(f.typ), TypeName(o))
	}
	if !f.alt {
		prefix = ""
	}
	return f.number(neg, prefix, digits, "", group), nil
}

// formatFloat formats a float.
func formatFloat(in *Interp, x float64, spec string) (string, error) {
	f, err := parseSpec(in, spec, "float")
	if err != nil {
		return "", err
	}
	s, ok := f.float(x)
	if !ok {
		return "", in.Errorf(in.Exc.ValueError, "Unknown format code '%s' for object of type 'float'", showCode(f.typ))
	}
	return s, nil
}

// float formats a float; not ok if the type of the spec is none of a float.
func (f *fmtSpec) float(x float64) (string, bool) {
	neg := math.Signbit(x) && !math.IsNaN(x)
	s := ""
	switch f.typ {
	case 0:
		if f.prec < 0 {
			s = literal.Float(math.Abs(x))
		} else {
			s = formatG(math.Abs(x), max(f.prec, 1), false, f.alt)
			if !strings.ContainsAny(s, ".en") {
				s += ".0"
			}
		}
	case 'e', 'E', 'f', 'F', 'g', 'G', 'n', '%':
		s = floatDigits(math.Abs(x), byte(f.typ), f.prec, f.alt)
	default:
		return "", false
	}
	mantissa := s
	if i := strings.IndexAny(s, "eE%"); i >= 0 {
		mantissa = s[:i]
	}
	if f.zneg && neg && strings.Trim(mantissa, "0.") == "" {
		neg = false
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return f.number(neg, "", s[:i], s[i:], 3), true
}

// floatDigits formats a non-negative float by one of the type letters.
func floatDigits(x float64, typ byte, prec int, alt bool) string {
	if prec < 0 {
		prec = 6
	}
	var s string
	special := math.IsInf(x, 0) || math.IsNaN(x)
	if special {
		s = "inf"
		if math.IsNaN(x) {
			s = "nan"
		}
		if typ == '%' {
			s += "%"
		}
		if typ >= 'A' && typ <= 'Z' {
			s = strings.ToUpper(s)
		}
		return s
	}
	switch typ {
	case 'e', 'E':
		s = strconv.FormatFloat(x, 'e', prec, 64)
		if alt && prec == 0 {
			s = strings.Replace(s, "e", ".e", 1)
		}
	case 'f', 'F':
		s = strconv.FormatFloat(x, 'f', prec, 64)
		if alt && prec == 0 {
			s += "."
		}
	case '%':
		s = strconv.FormatFloat(x*100, 'f', prec, 64)
		if alt && prec == 0 {
			s += "."
		}
		s += "%"
	default:
		s = formatG(x, max(prec, 1), true, alt)
	}
	if typ >= 'A' && typ <= 'Z' {
		s = strings.ToUpper(s)
	}
	return s
}

// formatG is %g: an exponent outside [-4, prec) shows as such; without one of those, in repr style, the bound is the same.
func formatG(x float64, prec int, percentG, alt bool) string {
	if math.IsInf(x, 0) {
		return "inf"
	}
	if math.IsNaN(x) {
		return "nan"
	}
	e := strconv.FormatFloat(x, 'e', prec-1, 64)
	i := strings.IndexByte(e, 'e')
	exp, _ := strconv.Atoi(e[i+1:])
	limit := prec
	if !percentG {
		limit = prec - 1
		if exp < limit || x == 0 {
			limit = prec
		}
	}
	if x == 0 {
		exp = 0
	}
	if exp < -4 || exp >= limit {
		m := e[:i]
		if !alt && strings.Contains(m, ".") {
			m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
		}
		sign := "+"
		if exp < 0 {
			sign, exp = "-", -exp
		}
		return fmt.Sprintf("%se%s%02d", m, sign, exp)
	}
	s := strconv.FormatFloat(x, 'f', max(prec-1-exp, 0), 64)
	if !alt && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// showCode writes a format code as error messages do.
func showCode(r rune) string {
	if r > ' ' && r < utf8.RuneSelf {
		return string(r)
	}
	return fmt.Sprintf(`\x%x`, r)
}
