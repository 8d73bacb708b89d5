package vm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"whittle/capture/python/wtf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// The case of strings follows Unicode's full mappings, in which one letter may become several: 'ß'.upper() is 'SS'. A Caser has
// state, so that each call makes its own; plain ASCII needs none.

func lowerStr(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und, cases.HandleFinalSigma(true)).String(s)
}

func upperStr(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

func foldStr(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

// titleRune is the title case of one letter, as a string.
func titleRune(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToUpper(r))
	}
	if !unicode.IsLetter(r) {
		return string(unicode.ToTitle(r))
	}
	return cases.Title(language.Und, cases.NoLower).String(wtf8.Char(r))
}

// capitalize is str.capitalize.
func capitalize(s string) string {
	r, n := wtf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return titleRune(r) + lowerStr(s)[len(lowerStr(s[:n])):]
}

func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }
func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

// hasCase reports whether a letter has a case: what begins and goes on a word for title.
func hasCase(r rune) bool { return isUpper(r) || isLower(r) || unicode.IsTitle(r) }

// lowered gives the small form of each letter of s; a capital sigma at the end of a word has one of its own.
func lowered(s string) func(i int, r rune) string {
	low := wtf8.Runes(lowerStr(s))
	if len(low) == wtf8.RuneCountInString(s) {
		return func(i int, _ rune) string { return string(low[i]) }
	}
	return func(_ int, r rune) string { return lowerStr(wtf8.Char(r)) }
}

// swapCase is str.swapcase.
func swapCase(s string) string {
	var b strings.Builder
	lower := lowered(s)
	for i, r := range wtf8.Runes(s) {
		switch {
		case isUpper(r):
			b.WriteString(lower(i, r))
		case isLower(r):
			b.WriteString(upperStr(wtf8.Char(r)))
		default:
			wtf8.WriteRune(&b, r)
		}
	}
	return b.String()
}

// titleStr is str.title: a letter behind a letter is small.
func titleStr(s string) string {
	var b strings.Builder
	lower := lowered(s)
	inWord := false
	for i, r := range wtf8.Runes(s) {
		if inWord {
			b.WriteString(lower(i, r))
		} else {
			b.WriteString(titleRune(r))
		}
		inWord = hasCase(r)
	}
	return b.String()
}
