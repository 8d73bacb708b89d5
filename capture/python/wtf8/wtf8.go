package wtf8

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// surrogateLead is the byte that surrogates begin with; a few other characters do, too.
const surrogateLead = 0xed

const (
	surrogateMin = 0xd800
	surrogateMax = 0xdfff
)

// IsSurrogate reports whether r is a surrogate, which UTF-8 cannot hold.
func IsSurrogate(r rune) bool { return surrogateMin <= r && r <= surrogateMax }

// surrogate is the surrogate at the start of s, if there is one.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != surrogateLead || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// Valid reports whether a text has no surrogates, so that it is UTF-8.
func Valid(s string) bool { return strings.IndexByte(s, surrogateLead) < 0 || utf8.ValidString(s) }

// DecodeRuneInString is the first character and how many bytes it takes.
func DecodeRuneInString(s string) (rune, int) {
	if s != "" && s[0] == surrogateLead {
		if r, ok := surrogate(s); ok {
			return r, 3
		}
	}
	return utf8.DecodeRuneInString(s)
}

// DecodeLastRuneInString is the last character and how many bytes it takes.
func DecodeLastRuneInString(s string) (rune, int) {
	if n := len(s); n >= 3 {
		if r, ok := surrogate(s[n-3:]); ok {
			return r, 3
		}
	}
	return utf8.DecodeLastRuneInString(s)
}

// RuneCountInString counts characters.
func RuneCountInString(s string) int {
	if strings.IndexByte(s, surrogateLead) < 0 {
		return utf8.RuneCountInString(s)
	}
	n := 0
	for range All(s) {
		n++
	}
	return n
}

// All are the characters of a text, each with the offset of its first byte.
func All(s string) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		for i := 0; i < len(s); {
			r, n := rune(s[i]), 1
			if r >= utf8.RuneSelf {
				r, n = DecodeRuneInString(s[i:])
			}
			if !yield(i, r) {
				return
			}
			i += n
		}
	}
}

// Runes are the characters of a text.
func Runes(s string) []rune {
	if strings.IndexByte(s, surrogateLead) < 0 {
		return []rune(s)
	}
	out := make([]rune, 0, len(s))
	for _, r := range All(s) {
		out = append(out, r)
	}
	return out
}

// AppendRune appends a character.
func AppendRune(b []byte, r rune) []byte {
	if IsSurrogate(r) {
		return append(b, surrogateLead, byte(r>>6&0x3f)|0x80, byte(r&0x3f)|0x80)
	}
	return utf8.AppendRune(b, r)
}

// Char is a text of one character.
func Char(r rune) string {
	if IsSurrogate(r) {
		return string(AppendRune(nil, r))
	}
	return string(r)
}

// String is a text of characters.
func String(rs []rune) string {
	for _, r := range rs {
		if IsSurrogate(r) {
			b := make([]byte, 0, len(rs)*3)
			for _, r := range rs {
				b = AppendRune(b, r)
			}
			return string(b)
		}
	}
	return string(rs)
}

// WriteRune writes a character.
func WriteRune(b *strings.Builder, r rune) {
	if IsSurrogate(r) {
		b.Write(AppendRune(nil, r))
		return
	}
	b.WriteRune(r)
}
