package triage

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote makes any text one line that a terminal shows as text: control characters, line ends, what changes the direction of writing or takes no
// place, and bytes that are no UTF-8 come out as escapes.
func Quote(text string) string { return quote(text, false) }

// QuoteLines is Quote for a text of several lines: line ends and tabs stay.
func QuoteLines(text string) string { return quote(text, true) }

func quote(text string, lines bool) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}
