package serve

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible puts symbols in place of what a reader would not see, or see elsewhere than it is: control characters, marks of direction, what has no
// width, and bytes that are no UTF-8. It is the last thing that is done to a page, so that no text of a store can leave it out; markup has none of these.
func visible(page []byte) []byte {
	var out []byte // nil while page is as it should be
	last := 0
	for i := 0; i < len(page); {
		c, size := rune(page[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(page[i:])
		}
		if s := symbol(c, page[i:i+size]); s != "" {
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

// symbol is what stands for a character that cannot be seen; "" for one that can.
func symbol(c rune, raw []byte) string {
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

// The most that is shown of a text, in bytes.
const (
	cellText  = 300     // in a table
	foldText  = 20_000  // folded away
	blockText = 200_000 // in a block of its own, which says where all of it is
)

// short is the first line of a text, cut to n bytes or so.
func short(n int, text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > n {
		return cut(n, line) + "…"
	}
	if strings.TrimSpace(rest) != "" {
		return line + " …"
	}
	return line
}

// cut is the first n bytes of a text, or a few less: no character is cut in two.
func cut(n int, text string) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// block is a text as a page has it.
type block struct {
	Text string
	Left int    // bytes that are not shown
	Raw  string // path of the whole text; "" none
	Name string // what it is, for the button that copies it
}

func newBlock(name, text, raw string) *block {
	if text == "" {
		return nil
	}
	shown := cut(blockText, text)
	return &block{shown, len(text) - len(shown), raw, name}
}

// lines splits a text for tables of lines.
func lines(text []byte) []string { return strings.Split(string(bytes.TrimRight(text, "\n")), "\n") }
