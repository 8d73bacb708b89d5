package stdlib

import (
	"strings"
	"unicode/utf16"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// utf7Value is the value of a digit of base 64.
func utf7Value(c byte) (uint64, bool) {
	i := strings.IndexByte(base64Digits, c)
	return uint64(i), i >= 0
}

// utf7Direct reports whether a character stands for itself in what is written.
func utf7Direct(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= '}' && r != '+' && r != '\\'
}

// utf7Codec is UTF-7 (RFC 2152): what is not ASCII stands between + and -, as UTF-16 in base 64.
func utf7Codec(m *vm.Module) {
	clinic.Def(m, "utf_7_encode", "str, errors:str?=None, /", func(c *clinic.Call) (vm.Object, error) {
		s, ok := vm.AsStr(c.Args[0])
		if !ok {
			return nil, c.Errorf(c.Exc.TypeError, "utf_7_encode() argument 1 must be str, not %s", vm.ArgName(c.Args[0]))
		}
		text := wtf8.Runes(s)
		return vm.NewTuple(vm.Bytes(encodeUTF7(text)), vm.MakeInt(int64(len(text)))), nil
	})
	clinic.Def(m, "utf_7_decode", "data:bytes, errors:str?=None, final:bool=False, /", func(c *clinic.Call) (vm.Object, error) {
		d := utf7Decoder{c: c, data: c.Bytes(0), errors: errorsOf(c, 1), final: c.Bool(2)}
		if err := d.run(); err != nil {
			return nil, err
		}
		return vm.NewTuple(vm.Str(wtf8.String(d.out)), vm.MakeInt(int64(d.pos))), nil
	})
}

// utf7Bits are bits that are not yet, or no longer, whole digits.
type utf7Bits struct {
	buffer uint64
	n      int
}

func (b *utf7Bits) push(v uint64, n int) { b.buffer, b.n = b.buffer<<n|v, b.n+n }

func (b *utf7Bits) pull(n int) uint64 {
	b.n -= n
	v := b.buffer >> b.n
	b.buffer &= 1<<b.n - 1
	return v
}

func encodeUTF7(text []rune) string {
	var sb strings.Builder
	var bits utf7Bits
	flush := func() {
		if bits.n > 0 {
			bits.push(0, 6-bits.n)
			sb.WriteByte(base64Digits[bits.pull(6)])
		}
	}
	unit := func(u rune) {
		for bits.push(uint64(u), 16); bits.n >= 6; {
			sb.WriteByte(base64Digits[bits.pull(6)])
		}
	}
	shifted := false
	for _, r := range text {
		direct := utf7Direct(r)
		switch {
		case shifted && direct:
			flush()
			shifted = false
			if _, digit := utf7Value(byte(r)); digit || r == '-' {
				sb.WriteByte('-')
			}
		case !shifted && r == '+':
			sb.WriteString("+-")
			continue
		case !shifted && !direct:
			sb.WriteByte('+')
			shifted = true
		}
		if direct {
			sb.WriteByte(byte(r))
			continue
		}
		if r >= 0x10000 {
			high, low := utf16.EncodeRune(r)
			unit(high)
			r = low
		}
		unit(r)
	}
	flush()
	if shifted {
		sb.WriteByte('-')
	}
	return sb.String()
}

// utf7Decoder decodes UTF-7.
type utf7Decoder struct {
	c      *clinic.Call
	data   []byte
	errors string
	final  bool
	pos    int
	out    []rune

	shifted bool // behind a +
	start   int  // where the sequence began, or what is wrong
	mark    int  // how much of out was there then
	bits    utf7Bits
	high    rune // a high surrogate that waits for its other half; 0: none
}

// run decodes everything; unless it is final, a sequence that may go on is left.
func (d *utf7Decoder) run() error {
	for {
		for d.pos < len(d.data) {
			if err := d.step(d.data[d.pos]); err != nil {
				return err
			}
		}
		if !d.shifted {
			return nil
		}
		if !d.final {
			d.pos, d.out = d.start, d.out[:d.mark]
			return nil
		}
		d.shifted = false
		if d.high == 0 && d.bits.n < 6 && d.bits.buffer == 0 {
			return nil
		}
		if err := d.bad("unterminated shift sequence"); err != nil {
			return err
		}
	}
}

// step reads one byte.
func (d *utf7Decoder) step(ch byte) error {
	value, digit := utf7Value(ch)
	switch {
	case d.shifted && digit:
		d.pos++
		d.bits.push(value, 6)
		if d.bits.n >= 16 {
			d.unit(rune(d.bits.pull(16)))
		}
		return nil
	case d.shifted:
		return d.unshift(ch)
	case ch == '+':
		d.start = d.pos
		d.pos++
		next := byte('A') // at the end, more may come
		if d.pos < len(d.data) {
			next = d.data[d.pos]
		}
		if next == '-' {
			d.pos++
			d.out = append(d.out, '+')
			return nil
		}
		if _, digit := utf7Value(next); !digit {
			d.pos++
			return d.bad("ill-formed sequence")
		}
		d.shifted, d.mark, d.bits, d.high = true, len(d.out), utf7Bits{}, 0
		return nil
	case ch < 0x80:
		d.pos++
		d.out = append(d.out, rune(ch))
		return nil
	}
	d.start = d.pos
	d.pos++
	return d.bad("unexpected special character")
}

// unshift ends a sequence at a byte that is no digit.
func (d *utf7Decoder) unshift(ch byte) error {
	d.shifted = false
	switch {
	case d.bits.n >= 6:
		d.pos++
		return d.bad("partial character in shift sequence")
	case d.bits.buffer != 0:
		d.pos++
		return d.bad("non-zero padding bits in shift sequence")
	}
	if d.high != 0 && ch < 0x80 && ch != '+' {
		d.out = append(d.out, d.high)
	}
	d.high = 0
	if ch == '-' {
		d.pos++
	}
	return nil
}

// unit takes one unit of UTF-16. Surrogates that have no other half are characters of their own.
func (d *utf7Decoder) unit(u rune) {
	if high := d.high; high != 0 {
		d.high = 0
		if u >= 0xdc00 && u < 0xe000 {
			d.out = append(d.out, utf16.DecodeRune(high, u))
			return
		}
		d.out = append(d.out, high)
	}
	if u >= 0xd800 && u < 0xdc00 {
		d.high = u
		return
	}
	d.out = append(d.out, u)
}

// bad has what was read from start on handled.
func (d *utf7Decoder) bad(why string) error {
	s, rest, next, err := d.c.DecodeError("utf7", d.data, d.start, d.pos, why, d.errors)
	d.out = append(d.out, wtf8.Runes(s)...)
	d.data, d.pos = rest, next
	return err
}
