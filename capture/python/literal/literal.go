package literal

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"whittle/capture/python/ucd"
	"whittle/capture/python/wtf8"
)

// Float is repr() of a float: the shortest digits that read back as f, with an exponent below 1e-4 and from 1e16 on.
// Those that are not finite are inf, -inf and nan.
func Float(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Complex is repr() of a complex number.
func Complex(c complex128) string {
	part := func(f float64) string { return strings.TrimSuffix(Float(f), ".0") }
	re, im := real(c), imag(c)
	if re == 0 && !math.Signbit(re) {
		return part(im) + "j"
	}
	s := part(im)
	if !strings.HasPrefix(s, "-") {
		s = "+" + s
	}
	return "(" + part(re) + s + "j)"
}

// Str is repr() of a str, given as UTF-8.
func Str(s string) string {
	q := quotes(s)
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(q)
	for _, r := range wtf8.All(s) {
		switch {
		case r < 0x80:
			ascii(&b, byte(r), q)
		case ucd.Of(r).Is(ucd.Printable):
			b.WriteRune(r)
		default:
			Escape(&b, r)
		}
	}
	b.WriteByte(q)
	return b.String()
}

// Bytes is repr() of a bytes object.
func Bytes(s string) string {
	q := quotes(s)
	var b strings.Builder
	b.Grow(len(s) + 3)
	b.WriteByte('b')
	b.WriteByte(q)
	for i := range len(s) {
		ascii(&b, s[i], q)
	}
	b.WriteByte(q)
	return b.String()
}

// Escape writes a character as \xff, \uffff or \U0010ffff, whichever is the shortest that holds it.
func Escape(b *strings.Builder, r rune) {
	switch {
	case r <= 0xff:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// quotes is the quote that repr() puts around s: double ones where that saves escapes.
func quotes(s string) byte {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return '"'
	}
	return '\''
}

func ascii(b *strings.Builder, c, quote byte) {
	switch {
	case c == quote || c == '\\':
		b.WriteByte('\\')
		b.WriteByte(c)
	case c == '\n':
		b.WriteString(`\n`)
	case c == '\r':
		b.WriteString(`\r`)
	case c == '\t':
		b.WriteString(`\t`)
	case c < 0x20 || c >= 0x7f:
		Escape(b, rune(c))
	default:
		b.WriteByte(c)
	}
}
