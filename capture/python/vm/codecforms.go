package vm

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"whittle/capture/python/wtf8"
)

// The built-in encodings: https://docs.python.org/3.11/library/codecs.html#standard-encodings

// encodeUTF8 writes everything but surrogates.
func encodeUTF8(e *encoder) {
	e.each("surrogates not allowed", func(r rune) bool {
		if wtf8.IsSurrogate(r) {
			return false
		}
		e.out = utf8.AppendRune(e.out, r)
		return true
	})
}

// decodeUTF8 reads it. What is broken is reported byte by byte as Unicode recommends: as much as could have begun a character.
func decodeUTF8(d *decoder) {
	for d.pos < len(d.data) && d.err == nil {
		r, n := utf8.DecodeRune(d.data[d.pos:])
		if r != utf8.RuneError || n != 1 {
			d.out.Write(d.data[d.pos : d.pos+n])
			d.pos += n
			continue
		}
		rest := d.data[d.pos:]
		n, why := brokenUTF8(rest)
		if !d.final && (why == "unexpected end of data" || len(rest) == 2 && rest[0] == 0xed && rest[1]&0xe0 == 0xa0) { // it may become a surrogate
			return
		}
		d.fail(d.pos+n, why)
	}
}

// brokenUTF8 says how many bytes at the start of b are wrong, and why.
func brokenUTF8(b []byte) (n int, why string) {
	want := 0
	switch c := b[0]; {
	case c >= 0xc2 && c < 0xe0:
		want = 2
	case c >= 0xe0 && c < 0xf0:
		want = 3
	case c >= 0xf0 && c < 0xf5:
		want = 4
	default:
		return 1, "invalid start byte"
	}
	for n = 1; n < want; n++ {
		if n >= len(b) {
			return n, "unexpected end of data"
		}
		lo, hi := byte(0x80), byte(0xbf)
		if n == 1 {
			switch b[0] {
			case 0xe0:
				lo = 0xa0
			case 0xed:
				hi = 0x9f
			case 0xf0:
				lo = 0x90
			case 0xf4:
				hi = 0x8f
			}
		}
		if b[n] < lo || b[n] > hi {
			break
		}
	}
	return n, "invalid continuation byte"
}

// encodeBytes writes an encoding whose first characters are its bytes.
func encodeBytes(size rune, why string) func(e *encoder) {
	return func(e *encoder) {
		e.each(why, func(r rune) bool {
			if r >= size {
				return false
			}
			e.out = append(e.out, byte(r))
			return true
		})
	}
}

func decodeASCII(d *decoder) {
	for d.pos < len(d.data) && d.err == nil {
		if c := d.data[d.pos]; c < 0x80 {
			d.out.WriteByte(c)
			d.pos++
			continue
		}
		d.fail(d.pos+1, "ordinal not in range(128)")
	}
}

func decodeLatin1(d *decoder) {
	for _, c := range d.data {
		d.out.WriteRune(rune(c))
	}
	d.pos = len(d.data)
}

// byteOrder is the order of the bytes of a unit of UTF-16 or UTF-32, and whether a mark at the front says so.
type byteOrder int

const (
	littleEndian byteOrder = iota
	bigEndian
	littleMark // written little-endian, behind a mark
	byMark     // read as the mark says, little-endian without one
)

func (o byteOrder) order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if o == bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// encodeWide writes UTF-16 and UTF-32: units of two or four bytes.
func encodeWide(size int, o byteOrder) func(e *encoder) {
	order := o.order()
	return func(e *encoder) {
		e.unit = size
		unit := func(u rune) {
			if size == 2 {
				e.out = order.AppendUint16(e.out, uint16(u))
			} else {
				e.out = order.AppendUint32(e.out, uint32(u))
			}
		}
		if o == littleMark {
			unit(0xfeff)
		}
		e.each("surrogates not allowed", func(r rune) bool {
			switch {
			case wtf8.IsSurrogate(r):
				return false
			case size == 2 && r > 0xffff:
				hi, lo := utf16.EncodeRune(r)
				unit(hi)
				unit(lo)
			default:
				unit(r)
			}
			return true
		})
	}
}

// decodeWide reads UTF-16 and UTF-32.
func decodeWide(size int, o byteOrder) func(d *decoder) {
	return func(d *decoder) {
		order := o.order()
		if o == byMark {
			d.name += "-le"
			switch {
			case len(d.data) < size:
			case unitAt(binary.LittleEndian, d.data, size) == 0xfeff:
				d.pos = size
			case unitAt(binary.BigEndian, d.data, size) == 0xfeff:
				d.pos, order = size, binary.BigEndian
				d.name = strings.TrimSuffix(d.name, "le") + "be"
			}
		}
		for d.pos < len(d.data) && d.err == nil {
			rest := d.data[d.pos:]
			if len(rest) < size {
				if !d.final {
					return
				}
				d.fail(len(d.data), "truncated data")
				continue
			}
			u := unitAt(order, rest, size)
			switch {
			case size == 4 && wtf8.IsSurrogate(rune(u)):
				d.fail(d.pos+4, "code point in surrogate code point range(0xd800, 0xe000)")
			case size == 4 && u > utf8.MaxRune:
				d.fail(d.pos+4, "code point not in range(0x110000)")
			case !wtf8.IsSurrogate(rune(u)):
				d.out.WriteRune(rune(u))
				d.pos += size
			case u >= 0xdc00:
				d.fail(d.pos+2, "illegal encoding")
			case len(rest) < 4:
				if !d.final {
					return
				}
				d.fail(len(d.data), "unexpected end of data")
			default:
				p := utf16.DecodeRune(rune(u), rune(unitAt(order, rest[2:], 2)))
				if p == utf8.RuneError {
					d.fail(d.pos+2, "illegal UTF-16 surrogate")
					continue
				}
				d.out.WriteRune(p)
				d.pos += 4
			}
		}
	}
}

// unitAt is the unit at the start of b.
func unitAt(order binary.ByteOrder, b []byte, size int) uint32 {
	if size == 2 {
		return uint32(order.Uint16(b))
	}
	return order.Uint32(b)
}
