package wtf8

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSurrogates(t *testing.T) {
	for _, rs := range [][]rune{nil, []rune("plain"), {'a', 0xd800, 'b'}, {0xdfff}, {0xd800, 0xdc00}, []rune("한글 \ud7ff"), {0x10ffff, 0xdcff, 0}} {
		s := String(rs)
		var sb strings.Builder
		var back []rune
		for i, r := range All(s) {
			WriteRune(&sb, r)
			back = append(back, r)
			if got, n := DecodeRuneInString(s[i:]); got != r || Char(r) != s[i:i+n] {
				t.Errorf("%x: at %d %x", rs, i, got)
			}
		}
		if d := cmp.Diff(rs, back); d != "" || RuneCountInString(s) != len(rs) || sb.String() != s || String(Runes(s)) != s {
			t.Errorf("%x: %s", rs, d)
		}
		if len(rs) > 0 {
			if r, _ := DecodeLastRuneInString(s); r != rs[len(rs)-1] {
				t.Errorf("%x: the last is %x", rs, r)
			}
		}
		if Valid(s) != utf8.ValidString(s) {
			t.Errorf("%x: valid %v", rs, Valid(s))
		}
	}
}

func FuzzRunes(f *testing.F) {
	f.Add("a\xed\xa0\x80b")
	f.Add("한\xed")
	f.Fuzz(func(t *testing.T, s string) {
		rs := Runes(s)
		if len(rs) != RuneCountInString(s) {
			t.Errorf("%q: %d characters, counted %d", s, len(rs), RuneCountInString(s))
		}
		if again := Runes(String(rs)); !cmp.Equal(rs, again) {
			t.Errorf("%q: %x, again %x", s, rs, again)
		}
	})
}
