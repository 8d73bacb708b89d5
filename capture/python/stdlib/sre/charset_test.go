package sre

import (
	"testing"

	"whittle/capture/python/ucd"
)

// TestLatin: what is known of the first characters without the tables of Unicode is what these say.
func TestLatin(t *testing.T) {
	for ch := range uint32(latin) {
		p := ucd.Of(rune(ch))
		_, digit := p.Decimal()
		for _, c := range []struct {
			name      string
			got, want bool
		}{
			{"digit", uniDigit(ch), digit},
			{"space", uniSpace(ch), p.Is(ucd.Space)},
			{"word", uniWord(ch), p.Is(ucd.Alpha) || p.IsNumeric() || ch == '_'},
		} {
			if c.got != c.want {
				t.Errorf("%#x is a %s: %v, and should be %v", ch, c.name, c.got, c.want)
			}
		}
	}
}
