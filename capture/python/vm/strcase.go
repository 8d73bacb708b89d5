package vm

import (
	"strings"
	"unicode/utf8"

	"whittle/capture/python/ucd"
	"whittle/capture/python/wtf8"
)

// The case of strings follows Unicode's full mappings, in which one letter may become several: 'ß'.upper() is 'SS'. Plain ASCII needs none
// of the tables.

// capitalSigma has two small forms: one at the end of a word, and one elsewhere.
const capitalSigma, smallSigma, finalSigma = 'Σ', 'σ', 'ς'

// appendLower appends the small form of text[i].
func appendLower(dst, text []rune, i int) []rune {
	if text[i] != capitalSigma {
		return ucd.To(dst, text[i], ucd.Lower)
	}
	if endsWord(text, i) {
		return append(dst, finalSigma)
	}
	return append(dst, smallSigma)
}

// endsWord reports whether a letter comes before text[i], and none behind it. What stands in words without being a letter, such as an
// apostrophe, is passed over.
func endsWord(text []rune, i int) bool {
	letter := func(k, step int) bool {
		for k += step; k >= 0 && k < len(text); k += step {
			if p := ucd.Of(text[k]); !p.Is(ucd.Ignorable) {
				return p.Is(ucd.Cased)
			}
		}
		return false
	}
	return letter(i, -1) && !letter(i, 1)
}

// mapped is a text with a function that appends what becomes of each character.
func mapped(s string, f func(dst, text []rune, i int) []rune) string {
	text := wtf8.Runes(s)
	dst := make([]rune, 0, len(text))
	for i := range text {
		dst = f(dst, text, i)
	}
	return wtf8.String(dst)
}

func inCase(c ucd.Case) func(dst, text []rune, i int) []rune {
	return func(dst, text []rune, i int) []rune { return ucd.To(dst, text[i], c) }
}

func lowerStr(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return mapped(s, appendLower)
}

func upperStr(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return mapped(s, inCase(ucd.Upper))
}

func foldStr(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return mapped(s, inCase(ucd.Folded))
}

// capitalize is str.capitalize.
func capitalize(s string) string {
	if s == "" {
		return s
	}
	if isASCII(s) {
		return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
	}
	return mapped(s, func(dst, text []rune, i int) []rune {
		if i == 0 {
			return ucd.To(dst, text[0], ucd.Title)
		}
		return appendLower(dst, text, i)
	})
}

func isLower(r rune) bool { return has(r, ucd.IsLower) }
func isUpper(r rune) bool { return has(r, ucd.IsUpper) }

// isTitle reports whether a letter is a capital and a small one at once.
func isTitle(r rune) bool { return r >= 128 && ucd.Of(r).Category() == "Lt" }

func isAlpha(r rune) bool { return has(r, ucd.Alpha) }
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || r >= '\t' && r <= '\r' || r >= 0x1c && r <= 0x1f
	}
	return has(r, ucd.Space)
}

// isDecimal, isAnyDigit and isNumeric ask for more and more: '٣', '³', '¾'.
func isDecimal(r rune) bool  { return r >= '0' && r <= '9' || r >= 128 && second(ucd.Of(r).Decimal()) }
func isAnyDigit(r rune) bool { return r >= '0' && r <= '9' || r >= 128 && second(ucd.Of(r).Digit()) }
func isNumeric(r rune) bool  { return r >= '0' && r <= '9' || r >= 128 && ucd.Of(r).IsNumeric() }

func second(_ int, ok bool) bool { return ok }

// asciiFlags are what ASCII's characters are, so that they need no tables.
var asciiFlags = func() (flags [128]ucd.Flag) {
	set := func(lo, hi rune, f ucd.Flag) {
		for r := lo; r <= hi; r++ {
			flags[r] |= f
		}
	}
	set('a', 'z', ucd.Alpha|ucd.IsLower|ucd.Cased|ucd.IDStart|ucd.IDContinue)
	set('A', 'Z', ucd.Alpha|ucd.IsUpper|ucd.Cased|ucd.IDStart|ucd.IDContinue)
	set('0', '9', ucd.IDContinue)
	set('_', '_', ucd.IDStart|ucd.IDContinue)
	set(' ', '~', ucd.Printable)
	set(' ', ' ', ucd.Space)
	set('\t', '\r', ucd.Space)
	set(0x1c, 0x1f, ucd.Space)
	return flags
}()

// has reports whether a character has one of the properties.
func has(r rune, f ucd.Flag) bool {
	if r < 128 {
		return asciiFlags[r]&f != 0
	}
	return ucd.Of(r).Is(f)
}

// swapCase is str.swapcase.
func swapCase(s string) string {
	return mapped(s, func(dst, text []rune, i int) []rune {
		switch r := text[i]; {
		case isUpper(r):
			return appendLower(dst, text, i)
		case isLower(r):
			return ucd.To(dst, r, ucd.Upper)
		default:
			return append(dst, r)
		}
	})
}

// titleStr is str.title: a letter behind a letter is small.
func titleStr(s string) string {
	return mapped(s, func(dst, text []rune, i int) []rune {
		if i > 0 && has(text[i-1], ucd.Cased) {
			return appendLower(dst, text, i)
		}
		return ucd.To(dst, text[i], ucd.Title)
	})
}
