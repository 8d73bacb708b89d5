// Package look is what the pages of whittle share, those of the server and the reports that stand alone: the style sheet, and the rule that no character
// of a text from outside is hidden. It makes no page: see packages serve and trace.
package look

import (
	_ "embed"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Style is the style sheet.
//
//go:embed style.css
var Style string

// Visible puts symbols in place of what a reader would not see, or see elsewhere than it is: control characters, marks of direction, what has no
// width, and bytes that are no UTF-8. It is the last thing that is done to a page, so that no text from outside can leave it out; markup has none of these.
func Visible(page []byte) []byte {
	var out []byte // nil while page is as it should be
	last := 0
	for i := 0; i < len(page); {
		c, size := rune(page[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(page[i:])
		}
		if s := Symbol(c, page[i:i+size]); s != "" {
			out = append(append(out, page[last:i]...), s...)
			last = i + size
		}
		i += size
	}
	if last == 0 {
		return page
	}
	return append(out, page[last:]...)
}

// Symbol is what stands for a character that cannot be seen; "" for one that can.
func Symbol(c rune, raw []byte) string {
	switch {
	case c == '\n' || c == '\t':
		return ""
	case c >= ' ' && c < 0x7f:
		return ""
	case c == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf("⟨%02x⟩", raw[0])
	case c < 0xa0, unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Variation_Selector), c == 0x115f, c == 0x1160, c == 0x3164, c == 0xffa0, c&0xfffe == 0xfffe:
		return fmt.Sprintf("⟨U+%04X⟩", c)
	}
	return ""
}
