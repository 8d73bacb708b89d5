package charnames

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/runenames"

	"whittle/capture/python/ucd"
)

// The parts of the names of Hangul syllables: The Unicode Standard, section 3.12.
var (
	hangulL = strings.Split("G GG N D DD R M B BB S SS  J JJ C K T P H", " ")
	hangulV = strings.Split("A AE YA YAE EO E YEO YE O WA WAE OE YO U WEO WE WI YU EU YI I", " ")
	hangulT = strings.Split(" G GG GS N NJ NH D L LG LM LB LS LT LP LH M B BS S SS NG J C K T P H", " ")
)

const (
	hangulBase  = 0xac00
	hangulCount = 11172
	hangulWord  = "HANGUL SYLLABLE "
)

// ideographs are the ranges whose characters are named by their numbers.
var ideographs = []struct {
	lo, hi rune
	word   string
}{
	{0x3400, 0x4dbf, "CJK UNIFIED IDEOGRAPH-"}, {0x4e00, 0x9fff, "CJK UNIFIED IDEOGRAPH-"}, {0x20000, 0x2a6df, "CJK UNIFIED IDEOGRAPH-"}, {0x2a700, 0x2b738, "CJK UNIFIED IDEOGRAPH-"},
	{0x2b740, 0x2b81d, "CJK UNIFIED IDEOGRAPH-"}, {0x2b820, 0x2cea1, "CJK UNIFIED IDEOGRAPH-"}, {0x2ceb0, 0x2ebe0, "CJK UNIFIED IDEOGRAPH-"}, {0x30000, 0x3134a, "CJK UNIFIED IDEOGRAPH-"},
	{0x17000, 0x187f7, "TANGUT IDEOGRAPH-"}, {0x18d00, 0x18d08, "TANGUT IDEOGRAPH-"},
}

// Name is a character's name; empty for one that has none.
func Name(r rune) string {
	if !ucd.Of(r).Assigned() { // the names are those of a later Unicode
		return ""
	}
	if i := int(r) - hangulBase; i >= 0 && i < hangulCount {
		return hangulWord + hangulL[i/588] + hangulV[i%588/28] + hangulT[i%28]
	}
	for _, g := range ideographs {
		if g.lo <= r && r <= g.hi {
			return fmt.Sprintf("%s%X", g.word, r)
		}
	}
	if n := runenames.Name(r); n != "" && n[0] != '<' {
		return n
	}
	return ""
}

// names finds characters by their names.
var names = sync.OnceValue(func() map[string]rune {
	m := make(map[string]rune, 40000)
	for r := rune(0); r <= 0x10ffff; r++ {
		if n := runenames.Name(r); n != "" && n[0] != '<' {
			m[n] = r
		}
	}
	for i := rune(hangulBase); i < hangulBase+hangulCount; i++ {
		m[Name(i)] = i
	}
	return m
})

// Named finds a character by its name, in letters of any case.
func Named(name string) (rune, bool) {
	name = strings.ToUpper(name)
	for _, g := range ideographs {
		if hex, ok := strings.CutPrefix(name, g.word); ok {
			n, err := strconv.ParseUint(hex, 16, 32)
			if err == nil && rune(n) >= g.lo && rune(n) <= g.hi {
				return rune(n), true
			}
		}
	}
	if r, ok := names()[name]; ok {
		return r, ucd.Of(r).Assigned()
	}
	s, ok := ucd.Named(name) // an alias; the rest are names of sequences
	r, n := utf8.DecodeRuneInString(s)
	return r, ok && n == len(s)
}
