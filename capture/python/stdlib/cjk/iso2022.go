package cjk

import "bytes"

// Charsets of ISO 2022 go by the final byte of the escape sequence that selects them, with the highest bit for those of two bytes.
const (
	ascii     = 'B'
	romanSet  = 'J' // JIS X 0201, left
	kanaSet   = 'I' // JIS X 0201, right
	jisOld    = '@' | 0x80
	jis0208   = 'B' | 0x80
	jis0212   = 'D' | 0x80
	gb2312    = 'A' | 0x80
	ksx1001   = 'C' | 0x80
	jis2000p1 = 'O' | 0x80
	jis2004p1 = 'Q' | 0x80
	jis0213p2 = 'P' | 0x80
	latin1    = 'A'
	greek     = 'F'
)

const (
	esc      = 0x1b
	shiftOut = 0x0e
	shiftIn  = 0x0f

	flagShifted = 1 // of the state's fifth byte: SO has come and SI has not
	flagThrough = 2 // an escape sequence of something else goes by

	longestEscape = 16
)

// charset is what can be selected.
type charset struct {
	mark   byte
	g      int // where it goes: G0, G1 or G2
	width  int
	decode func(b []byte) (string, bool) // width bytes, the highest bits clear
	encode func(rs []rune, final bool) (seq string, n int, f fault)
}

// ofTable is a charset that is a part of an encoding: the sequences that begin with prefix.
func ofTable(name, prefix string, mark byte, g int) charset {
	t := tableOf(name)
	return charset{mark, g, 2, func(b []byte) (string, bool) {
		s, ok := t.text[prefix+high(b)]
		return s, ok
	}, func(rs []rune, final bool) (string, int, fault) {
		s, n, f := t.encode(rs, final)
		if f != good {
			return "", n, f
		}
		rest := s
		if prefix != "" {
			if s[:1] != prefix {
				return "", 1, broken
			}
			rest = s[1:]
		}
		if len(rest) != 2 || rest[0] < 0xa1 {
			return "", 1, broken
		}
		return low(rest), n, good
	}}
}

// ofByte is a charset of single bytes, given by its characters from a byte on.
func ofByte(mark byte, g int, decode func(c byte) rune, encode func(r rune) byte) charset {
	return charset{mark, g, 1, func(b []byte) (string, bool) {
		r := decode(b[0])
		return string(r), r != 0
	}, func(rs []rune, _ bool) (string, int, fault) {
		if encode != nil {
			if c := encode(rs[0]); c != 0 {
				return string([]byte{c}), 1, good
			}
		}
		return "", 1, broken
	}}
}

// designations are the charsets of an encoding, in the order in which they are tried.
func designations(name string) (sets []charset, shifts, g2 bool) {
	jis := func() charset { return ofTable("euc_jp", "", jis0208, 0) }
	old := func() charset { return ofTable("euc_jp", "", jisOld, 0) }
	extra := func() charset { return ofTable("euc_jp", "\x8f", jis0212, 0) }
	roman := ofByte(romanSet, 0, func(c byte) rune {
		switch c {
		case '\\':
			return '¥'
		case '~':
			return '‾'
		}
		return rune(c)
	}, func(r rune) byte { return map[rune]byte{'¥': '\\', '‾': '~'}[r] })
	switch name {
	case "iso2022_kr":
		return []charset{ofTable("euc_kr", "", ksx1001, 1)}, true, false
	case "iso2022_jp":
		return []charset{jis(), roman, old()}, false, false
	case "iso2022_jp_1":
		return []charset{jis(), extra(), roman, old()}, false, false
	case "iso2022_jp_2":
		latin := ofByte(latin1, 2, func(c byte) rune { return rune(c) | 0x80 }, nil)
		hellenic := ofByte(greek, 2, greekRune, nil)
		return []charset{jis(), extra(), ofTable("euc_kr", "", ksx1001, 0), ofTable("gb2312", "", gb2312, 0), roman, old(), latin, hellenic}, false, true
	case "iso2022_jp_2004":
		return []charset{jis(), ofTable("euc_jis_2004", "", jis2004p1, 0), ofTable("euc_jis_2004", "\x8f", jis0213p2, 0)}, false, false
	case "iso2022_jp_3":
		return []charset{jis(), ofTable("euc_jisx0213", "", jis2000p1, 0), ofTable("euc_jisx0213", "\x8f", jis0213p2, 0)}, false, false
	}
	kana := ofByte(kanaSet, 0, func(c byte) rune {
		if c > 0x5f || c < 0x21 {
			return 0
		}
		return rune(c) - 0x21 + '｡'
	}, func(r rune) byte {
		if r < '｡' || r > 'ﾟ' {
			return 0
		}
		return byte(r - '｡' + 0x21)
	})
	return []charset{jis(), extra(), roman, kana, old()}, false, false // iso2022_jp_ext
}

// greekRune is a character of the upper half of ISO 8859-7, as far as ISO-2022-JP-2 knows it.
func greekRune(c byte) rune {
	c |= 0x80
	switch {
	case c == 0xa1:
		return '‘'
	case c == 0xa2:
		return '’'
	case c == 0xaf:
		return '―'
	case bytes.IndexByte([]byte{0xa0, 0xa3, 0xa6, 0xa7, 0xa8, 0xa9, 0xab, 0xac, 0xad, 0xb0, 0xb1, 0xb2, 0xb3, 0xb7, 0xbb, 0xbd}, c) >= 0:
		return rune(c)
	case c >= 0xb4 && c != 0xd2 && c != 0xff:
		return rune(c) - 0xa0 + 0x370
	}
	return 0
}

// iso2022 is one of the encodings that select charsets by escape sequences.
type iso2022 struct {
	sets       []charset
	shifts, g2 bool
}

func newISO2022(name string) *scheme {
	x := &iso2022{}
	x.sets, x.shifts, x.g2 = designations(name)
	return &scheme{name: name, start: state{ascii, ascii}, decode: x.decode, encode: x.encode, finish: x.finish}
}

func (x *iso2022) set(mark byte) *charset {
	for i := range x.sets {
		if x.sets[i].mark == mark {
			return &x.sets[i]
		}
	}
	return nil
}

func isEscapeEnd(c byte) bool { return c >= 'A' && c <= 'Z' || c == '@' }

func (x *iso2022) decode(st *state, b []byte) (string, int, fault) {
	c := b[0]
	self := func() (string, int, fault) { return string(rune(c)), 1, good }
	if st[4]&flagThrough != 0 {
		if isEscapeEnd(c) {
			st[4] &^= flagThrough
		}
		if c >= 0x80 {
			return "", 1, broken
		}
		return self()
	}
	switch {
	case c == esc:
		return x.escape(st, b)
	case c == shiftIn && x.shifts:
		st[4] &^= flagShifted
		return "", 1, good
	case c == shiftOut && x.shifts:
		st[4] |= flagShifted
		return "", 1, good
	case c == '\n':
		st[4] &^= flagShifted
		return self()
	case c < 0x20:
		return self()
	case c >= 0x80:
		return "", 1, broken
	}
	mark := st[0]
	if st[4]&flagShifted != 0 {
		mark = st[1]
	}
	return x.one(mark, b, 0)
}

// one reads a character of a charset behind skip bytes.
func (x *iso2022) one(mark byte, b []byte, skip int) (string, int, fault) {
	if mark == ascii {
		return string(rune(b[skip])), skip + 1, good
	}
	set := x.set(mark)
	if set == nil {
		return "", 1, broken
	}
	if len(b) < skip+set.width {
		return "", len(b), short
	}
	if s, ok := set.decode(b[skip : skip+set.width]); ok {
		return s, skip + set.width, good
	}
	return "", skip + set.width, broken
}

// escape reads an escape sequence.
func (x *iso2022) escape(st *state, b []byte) (string, int, fault) {
	if len(b) < 2 {
		return "", 1, short
	}
	switch {
	case bytes.IndexByte([]byte("()$.&"), b[1]) >= 0:
		return x.designate(st, b)
	case x.g2 && b[1] == 'N':
		if len(b) < 3 {
			return "", len(b), short
		}
		if st[2] == 0 { // none was selected
			return x.one(ascii, b, 2)
		}
		return x.one(st[2], b, 2)
	}
	st[4] |= flagThrough
	return string(rune(esc)), 1, good
}

// designate reads an escape sequence that selects a charset.
func (x *iso2022) designate(st *state, b []byte) (string, int, fault) {
	n := 0
	for i := 1; n == 0; i++ {
		switch {
		case i >= longestEscape:
			return "", 1, broken
		case i >= len(b):
			return "", len(b), short
		case !x.shifts && i == 1 && len(b) > 2 && b[1] == '&' && b[2] == '@':
			i += 2 // the sequence that announces an update goes before another one
		case isEscapeEnd(b[i]):
			n = i + 1
		}
	}
	mark, g := b[n-1], -1
	switch {
	case n == 3 && b[1] == '$':
		mark, g = mark|0x80, 0
	case n == 3:
		g = bytes.IndexByte([]byte("()."), b[1])
		if g == 2 && !x.g2 {
			g = -1
		}
	case n == 4 && b[1] == '$':
		mark, g = mark|0x80, bytes.IndexByte([]byte("()"), b[2])
	case n == 6 && string(b[1:6]) == "&@\x1b$B":
		mark, g = mark|0x80, 0
	}
	if g < 0 || mark != ascii && x.set(mark) == nil {
		return "", n, broken
	}
	st[g] = mark
	return "", n, good
}

// toASCII selects G0, and ASCII there.
func (x *iso2022) toASCII(st *state) string {
	s := unshift(st)
	if st[0] != ascii {
		st[0] = ascii
		return "\x1b(B" + s
	}
	return s
}

func unshift(st *state) string {
	if st[4]&flagShifted == 0 {
		return ""
	}
	st[4] &^= flagShifted
	return "\x0f"
}

func (x *iso2022) finish(st *state) string {
	s := unshift(st)
	if st[0] != ascii {
		st[0] = ascii
		s += "\x1b(B"
	}
	return s
}

func (x *iso2022) encode(st *state, rs []rune, final bool) (string, int, fault) {
	if rs[0] < 0x80 {
		return x.toASCII(st) + string(rs[0]), 1, good
	}
	for i := range x.sets {
		set := &x.sets[i]
		seq, n, f := set.encode(rs, final)
		switch f {
		case short:
			return "", 0, short
		case good:
			return set.selected(st) + seq, n, good
		}
	}
	return "", 1, broken
}

// selected is what selects a charset that is not selected.
func (c *charset) selected(st *state) string {
	out := ""
	if st[c.g] != c.mark {
		st[c.g] = c.mark
		final := c.mark &^ 0x80
		switch {
		case c.g == 1:
			out = "\x1b$)" + string(rune(final))
		case c.width == 1:
			out = "\x1b(" + string(rune(final))
		case final <= ascii:
			out = "\x1b$" + string(rune(final))
		default:
			out = "\x1b$(" + string(rune(final))
		}
	}
	if c.g == 1 {
		if st[4]&flagShifted == 0 {
			st[4] |= flagShifted
			out += "\x0e"
		}
		return out
	}
	return unshift(st) + out
}
