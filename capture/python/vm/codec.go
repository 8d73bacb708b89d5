package vm

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text as bytes and back, with the handlers of errors that have names.

func normEnc(e string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(e), "-", ""), "_", "")
}

// windows1252 has the characters of the bytes 0x80 to 0x9f; 0 for those without.
var windows1252 = [32]rune{0x20ac, 0, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17d, 0,
	0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0, 0x17e, 0x178}

// charset is an encoding of one byte a character.
type charset struct {
	name string
	why  string
	size int                       // characters from 0 on that stand for themselves
	more func(r rune) (byte, bool) // the others
}

// charsetOf finds a character set of one byte a character by its name.
func charsetOf(enc string) *charset {
	switch normEnc(enc) {
	case "ascii", "usascii", "646":
		return &charset{name: "ascii", why: "ordinal not in range(128)", size: 128}
	case "latin1", "iso88591", "l1", "latin", "8859", "cp819":
		return &charset{name: "latin-1", why: "ordinal not in range(256)", size: 256}
	case "cp1252", "windows1252", "1252":
		return &charset{name: "charmap", why: "character maps to <undefined>", size: 128, more: func(r rune) (byte, bool) {
			if r >= 0xa0 && r < 0x100 {
				return byte(r), true
			}
			for i, c := range windows1252 {
				if c == r && r != 0 {
					return byte(0x80 + i), true
				}
			}
			return 0, false
		}}
	}
	return nil
}

func encodeError(in *Interp, enc, s string, at, end int, why string) error {
	return in.RaiseObj(in.Exc.UnicodeEncodeError, Str(enc), Str(s), MakeInt(int64(at)), MakeInt(int64(end)), Str(why))
}

// encodeText turns text into bytes of an encoding; errs says what becomes of characters that it does not have.
func encodeText(in *Interp, s, enc, errs string) (string, error) {
	switch normEnc(enc) {
	case "utf8", "u8", "cp65001":
		return s, nil
	case "utf8sig":
		return "\ufeff" + s, nil
	case "utf16", "u16":
		return "\xff\xfe" + wide16(s, binary.LittleEndian), nil
	case "utf16le":
		return wide16(s, binary.LittleEndian), nil
	case "utf16be":
		return wide16(s, binary.BigEndian), nil
	case "utf32", "u32":
		return "\xff\xfe\x00\x00" + wide32(s, binary.LittleEndian), nil
	case "utf32le":
		return wide32(s, binary.LittleEndian), nil
	case "utf32be":
		return wide32(s, binary.BigEndian), nil
	}
	cs := charsetOf(enc)
	if cs == nil {
		return "", in.Errorf(in.Exc.LookupError, "unknown encoding: %s", enc)
	}
	rs := []rune(s)
	known := func(r rune) (byte, bool) {
		if int(r) < cs.size {
			return byte(r), true
		}
		if cs.more != nil {
			return cs.more(r)
		}
		return 0, false
	}
	out := make([]byte, 0, len(rs))
	for i, r := range rs {
		c, ok := known(r)
		if ok {
			out = append(out, c)
			continue
		}
		switch errs {
		case "ignore":
		case "replace":
			out = append(out, '?')
		case "backslashreplace":
			out = append(out, strings.Trim(asciiRepr(r), "'")...)
		case "namereplace":
			out = append(out, strings.Trim(asciiRepr(r), "'")...)
		case "xmlcharrefreplace":
			out = append(out, fmt.Sprintf("&#%d;", r)...)
		case "strict", "surrogateescape", "surrogatepass":
			end := i + 1
			for end < len(rs) { // a run of them is reported at once
				if _, ok := known(rs[end]); ok {
					break
				}
				end++
			}
			return "", encodeError(in, cs.name, s, i, end, cs.why)
		default:
			return "", in.Errorf(in.Exc.LookupError, "unknown error handler name '%s'", errs)
		}
	}
	return string(out), nil
}

// wide16 writes a text in UTF-16; characters beyond 16 bits take two units.
func wide16(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// wide32 writes a text in UTF-32.
func wide32(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, r := range s {
		b = order.AppendUint32(b, uint32(r))
	}
	return string(b)
}

// decodeText turns bytes into text.
func decodeText(in *Interp, b []byte, enc, errs string) (string, error) {
	var sb strings.Builder
	bad := func(name string, at, end int, why string) error {
		switch errs {
		case "ignore":
		case "replace", "surrogateescape":
			sb.WriteRune(utf8.RuneError)
		case "backslashreplace":
			for _, c := range b[at:end] {
				fmt.Fprintf(&sb, `\x%02x`, c)
			}
		case "strict", "surrogatepass":
			return in.RaiseObj(in.Exc.UnicodeDecodeError, Str(name), Bytes(b), MakeInt(int64(at)), MakeInt(int64(end)), Str(why))
		default:
			return in.Errorf(in.Exc.LookupError, "unknown error handler name '%s'", errs)
		}
		return nil
	}
	norm := normEnc(enc)
	switch norm {
	case "utf8", "u8", "utf8sig", "cp65001":
		if norm == "utf8sig" {
			b = []byte(strings.TrimPrefix(string(b), "\ufeff"))
		}
		for i := 0; i < len(b); {
			r, n := utf8.DecodeRune(b[i:])
			if r != utf8.RuneError || n != 1 {
				sb.Write(b[i : i+n])
				i += n
				continue
			}
			n, why := brokenUTF8(b[i:])
			if err := bad("utf-8", i, i+n, why); err != nil {
				return "", err
			}
			i += n
		}
		return sb.String(), nil
	case "utf16", "u16", "utf16le", "utf16be", "utf32", "u32", "utf32le", "utf32be":
		return decodeWide(in, b, norm, &sb, bad)
	}
	cs := charsetOf(enc)
	if cs == nil {
		return "", in.Errorf(in.Exc.LookupError, "unknown encoding: %s", enc)
	}
	for i, c := range b {
		r := rune(c)
		if cs.more != nil && c >= 0x80 && c < 0xa0 {
			r = windows1252[c-0x80]
		}
		if int(r) >= cs.size && cs.more == nil || r == 0 && c != 0 {
			if err := bad(cs.name, i, i+1, cs.why); err != nil {
				return "", err
			}
			continue
		}
		sb.WriteRune(r)
	}
	return sb.String(), nil
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

// decodeWide reads UTF-16 and UTF-32, whose units have two or four bytes in an order that a mark at the front may say.
func decodeWide(in *Interp, b []byte, norm string, sb *strings.Builder, bad func(name string, at, end int, why string) error) (string, error) {
	size, name := 2, "utf-16"
	if strings.Contains(norm, "32") {
		size, name = 4, "utf-32"
	}
	var order binary.ByteOrder = binary.LittleEndian
	start := 0
	switch {
	case strings.HasSuffix(norm, "be"):
		order, name = binary.BigEndian, name+"-be"
	case strings.HasSuffix(norm, "le"):
		name += "-le"
	case size == 2 && len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff:
		order, start = binary.BigEndian, 2
	case size == 2 && len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe, size == 4 && len(b) >= 4 && string(b[:4]) == "\xff\xfe\x00\x00":
		start = size
	}
	for i := start; i < len(b); {
		if i+size > len(b) {
			if err := bad(name, i, len(b), "truncated data"); err != nil {
				return "", err
			}
			break
		}
		if size == 4 {
			r := rune(order.Uint32(b[i:]))
			if !utf8.ValidRune(r) {
				if err := bad(name, i, i+4, "code point not in range(0x110000)"); err != nil {
					return "", err
				}
			} else {
				sb.WriteRune(r)
			}
			i += 4
			continue
		}
		r := rune(order.Uint16(b[i:]))
		i += 2
		if !utf16.IsSurrogate(r) {
			sb.WriteRune(r)
			continue
		}
		if i+2 <= len(b) {
			if p := utf16.DecodeRune(r, rune(order.Uint16(b[i:]))); p != utf8.RuneError {
				sb.WriteRune(p)
				i += 2
				continue
			}
		}
		why := "illegal UTF-16 surrogate"
		if r < 0xdc00 && i+2 > len(b) {
			why = "unexpected end of data"
		}
		if err := bad(name, i-2, i, why); err != nil {
			return "", err
		}
	}
	return sb.String(), nil
}

// asciiRepr writes a character as error messages do.
func asciiRepr(r rune) string {
	switch {
	case r < 256:
		return fmt.Sprintf(`'\x%02x'`, r)
	case r < 65536:
		return fmt.Sprintf(`'\u%04x'`, r)
	}
	return fmt.Sprintf(`'\U%08x'`, r)
}
