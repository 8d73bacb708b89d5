package serve

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"whittle/tools/whittle/serve/look"
)

// visible is look.Visible: the last thing that is done to a page.
func visible(page []byte) []byte { return look.Visible(page) }

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
