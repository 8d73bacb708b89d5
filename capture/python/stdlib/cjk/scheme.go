package cjk

// state is what a codec remembers from one character to the next, in the eight bytes that programs see as a number.
type state [8]byte

// fault is why bytes or characters were not taken.
type fault int

const (
	good   fault = iota
	short        // more bytes or characters are needed to tell
	broken       // there is no such thing
)

// scheme is an encoding.
type scheme struct {
	name   string
	start  state
	decode func(st *state, b []byte) (text string, n int, f fault) // n bytes of b; of broken ones as many as an error covers
	encode func(st *state, rs []rune, final bool) (out string, n int, f fault)
	finish func(st *state) string // what takes the state back to the start
}

// stateless is the scheme of a table.
func stateless(name string) *scheme {
	t := tableOf(name)
	s := &scheme{name: name, decode: func(_ *state, b []byte) (string, int, fault) { return t.decode(b) },
		encode: func(_ *state, rs []rune, final bool) (string, int, fault) { return t.encode(rs, final) }, finish: func(*state) string { return "" }}
	if name == "gb18030" {
		return s.withRanges(t)
	}
	return s
}

func (t *table) decode(b []byte) (string, int, fault) {
	for n := 1; n <= len(b); {
		if s, ok := t.text[string(b[:n])]; ok {
			return s, n, good
		}
		next := t.need[string(b[:n])]
		if next == 0 {
			return "", 1, broken
		}
		n = next
	}
	return "", len(b), short
}

func (t *table) encode(rs []rune, final bool) (string, int, fault) {
	if t.heads[rs[0]] {
		if len(rs) == 1 && !final {
			return "", 0, short
		}
		if len(rs) > 1 {
			if s, ok := t.pairs[string(rs[:2])]; ok {
				return s, 2, good
			}
		}
	}
	s, ok := t.bytes[rs[0]]
	if !ok {
		return "", 1, broken
	}
	return s, 1, good
}

// Sequences of four bytes of GB 18030 count: first the characters that have no shorter sequence, from planeStart those beyond 16 bits.
const (
	planeStart = 189000
	planeEnd   = planeStart + 0x100000
)

// withRanges adds the sequences of four bytes, which go by rule, to the scheme of GB 18030.
func (s *scheme) withRanges(t *table) *scheme {
	var rest []rune
	index := map[rune]int{}
	for r := rune(0x80); r < 0x10000; r++ {
		if _, ok := t.bytes[r]; !ok && (r < 0xd800 || r > 0xdfff) {
			index[r] = len(rest)
			rest = append(rest, r)
		}
	}
	two, one := s.decode, s.encode
	s.decode = func(st *state, b []byte) (string, int, fault) {
		if len(b) < 4 || b[0] < 0x81 || b[0] > 0xfe || b[1] < 0x30 || b[1] > 0x39 {
			return two(st, b)
		}
		if b[2] < 0x81 || b[2] > 0xfe || b[3] < 0x30 || b[3] > 0x39 {
			return "", 1, broken
		}
		n := ((int(b[0])-0x81)*10+int(b[1])-0x30)*1260 + (int(b[2])-0x81)*10 + int(b[3]) - 0x30
		switch {
		case n < len(rest):
			return string(rest[n]), 4, good
		case n >= planeStart && n < planeEnd:
			return string(rune(0x10000 + n - planeStart)), 4, good
		}
		return "", 1, broken
	}
	s.encode = func(st *state, rs []rune, final bool) (string, int, fault) {
		n, ok := index[rs[0]]
		if rs[0] >= 0x10000 {
			n, ok = int(rs[0])-0x10000+planeStart, true
		}
		if !ok {
			return one(st, rs, final)
		}
		return string([]byte{byte(n/12600) + 0x81, byte(n/1260%10) + 0x30, byte(n/10%126) + 0x81, byte(n%10) + 0x30}), 1, good
	}
	return s
}

// newHZ is HZ: ASCII, and between ~{ and ~} pairs of bytes of GB 2312. The state's first byte says whether it is between them.
func newHZ() *scheme {
	t := tableOf("gb2312")
	s := &scheme{name: "hz"}
	s.decode = func(st *state, b []byte) (string, int, fault) {
		switch c := b[0]; {
		case c == '~':
			if len(b) < 2 {
				return "", 1, short
			}
			switch pair := string(b[:2]); {
			case st[0] == 0 && pair == "~~":
				return "~", 2, good
			case st[0] == 0 && pair == "~\n":
				return "", 2, good
			case st[0] == 0 && pair == "~{":
				st[0] = 1
				return "", 2, good
			case st[0] == 1 && pair == "~}":
				st[0] = 0
				return "", 2, good
			}
			return "", 1, broken
		case c >= 0x80:
			return "", 1, broken
		case st[0] == 0:
			return string(rune(c)), 1, good
		}
		if len(b) < 2 {
			return "", 1, short
		}
		if text, ok := t.text[high(b[:2])]; ok {
			return text, 2, good
		}
		return "", 1, broken
	}
	s.finish = func(st *state) string {
		if st[0] == 0 {
			return ""
		}
		st[0] = 0
		return "~}"
	}
	s.encode = func(st *state, rs []rune, _ bool) (string, int, fault) {
		r := rs[0]
		if r == '~' {
			return s.finish(st) + "~~", 1, good
		}
		if r < 0x80 {
			return s.finish(st) + string(r), 1, good
		}
		seq, ok := t.bytes[r]
		if !ok || len(seq) != 2 {
			return "", 1, broken
		}
		if st[0] == 0 {
			st[0] = 1
			return "~{" + low(seq), 1, good
		}
		return low(seq), 1, good
	}
	return s
}

// high and low set and clear the highest bit of each byte.
func high(b []byte) string {
	return mapBytes(string(b), func(c byte) byte { return c | 0x80 })
}

func low(s string) string { return mapBytes(s, func(c byte) byte { return c &^ 0x80 }) }

func mapBytes(s string, f func(byte) byte) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = f(c)
	}
	return string(b)
}
