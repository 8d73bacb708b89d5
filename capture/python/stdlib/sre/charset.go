package sre

import "whittle/capture/python/ucd"

// The categories of characters, in the order of re/_constants.py.
const (
	catDigit uint32 = iota
	catNotDigit
	catSpace
	catNotSpace
	catWord
	catNotWord
	catLineBreak
	catNotLineBreak
	catLocWord
	catLocNotWord
	catUniDigit
	catUniNotDigit
	catUniSpace
	catUniNotSpace
	catUniWord
	catUniNotWord
	catUniLineBreak
	catUniNotLineBreak

	lastCategory = catUniNotLineBreak
)

// inCategory reports whether a character is of a category. The locale is that of C, in which only ASCII has letters.
func inCategory(cat, ch uint32) bool {
	switch cat {
	case catDigit:
		return isDigit(ch)
	case catNotDigit:
		return !isDigit(ch)
	case catSpace:
		return isSpace(ch)
	case catNotSpace:
		return !isSpace(ch)
	case catWord, catLocWord:
		return isWord(ch)
	case catNotWord, catLocNotWord:
		return !isWord(ch)
	case catLineBreak:
		return ch == '\n'
	case catNotLineBreak:
		return ch != '\n'
	case catUniDigit:
		return uniDigit(ch)
	case catUniNotDigit:
		return !uniDigit(ch)
	case catUniSpace:
		return uniSpace(ch)
	case catUniNotSpace:
		return !uniSpace(ch)
	case catUniWord:
		return uniWord(ch)
	case catUniNotWord:
		return !uniWord(ch)
	case catUniLineBreak:
		return uniLineBreak(ch)
	case catUniNotLineBreak:
		return !uniLineBreak(ch)
	}
	return false
}

func isDigit(ch uint32) bool { return ch-'0' < 10 }
func isSpace(ch uint32) bool { return ch == ' ' || ch-'\t' < 5 }
func isLetter(ch uint32) bool {
	return ch|0x20-'a' < 26 && ch < 128
}
func isWord(ch uint32) bool { return isLetter(ch) || isDigit(ch) || ch == '_' }

// Characters up to latin are told apart here: a set has an answer for each of them, and the tables of Unicode are read for no other reason in
// most programs.
const latin = 256

// latinWords has the letters and numbers between 0xaa and 0xbe, a bit each.
const latinWords = 1<<0 | 1<<(0xb2-0xaa) | 1<<(0xb3-0xaa) | 1<<(0xb5-0xaa) | 1<<(0xb9-0xaa) | 1<<(0xba-0xaa) | 1<<(0xbc-0xaa) | 1<<(0xbd-0xaa) | 1<<(0xbe-0xaa)

func uniDigit(ch uint32) bool {
	if ch < latin {
		return isDigit(ch)
	}
	_, ok := ucd.Of(rune(ch)).Decimal()
	return ok
}

func uniSpace(ch uint32) bool {
	if ch < latin {
		return ch-'\t' < 5 || ch-0x1c < 5 || ch == 0x85 || ch == 0xa0
	}
	return ucd.Of(rune(ch)).Is(ucd.Space)
}

func uniWord(ch uint32) bool {
	if ch < latin {
		return isWord(ch) || ch >= 0xc0 && ch != 0xd7 && ch != 0xf7 || ch >= 0xaa && latinWords&(1<<(ch-0xaa)) != 0
	}
	p := ucd.Of(rune(ch))
	return p.Is(ucd.Alpha) || p.IsNumeric()
}

func uniLineBreak(ch uint32) bool {
	return ch-'\n' < 4 || ch-0x1c < 3 || ch == 0x85 || ch == 0x2028 || ch == 0x2029
}

// asciiLower and asciiUpper change the case of ASCII letters alone.
func asciiLower(ch uint32) uint32 {
	if ch-'A' < 26 {
		return ch + 32
	}
	return ch
}

func asciiUpper(ch uint32) uint32 {
	if ch-'a' < 26 {
		return ch - 32
	}
	return ch
}

func uniLower(ch uint32) uint32 {
	if ch < 128 {
		return asciiLower(ch)
	}
	return uint32(ucd.First(rune(ch), ucd.Lower))
}

func uniUpper(ch uint32) uint32 {
	if ch < 128 {
		return asciiUpper(ch)
	}
	return uint32(ucd.First(rune(ch), ucd.Upper))
}

// inSet reports whether a character is in the set at a place of the code.
func (p *program) inSet(at int, ch uint32) bool {
	if ch < 256 {
		if t := p.sets[at]; t != nil {
			return t[ch>>6]&(1<<(ch&63)) != 0
		}
	}
	return p.walkSet(at, ch)
}

// walkSet is inSet by what the code of the set says, item by item.
func (p *program) walkSet(at int, ch uint32) bool {
	code := p.code
	found := true
	for {
		switch code[at] {
		case opFailure:
			return !found
		case opNegate:
			found = !found
			at++
		case opLiteral:
			if ch == code[at+1] {
				return found
			}
			at += 2
		case opCategory:
			if inCategory(code[at+1], ch) {
				return found
			}
			at += 2
		case opRange:
			if code[at+1] <= ch && ch <= code[at+2] {
				return found
			}
			at += 3
		case opRangeUniIgnore:
			if up := uniUpper(ch); code[at+1] <= ch && ch <= code[at+2] || code[at+1] <= up && up <= code[at+2] {
				return found
			}
			at += 3
		case opCharset:
			if ch < 256 && code[at+1+int(ch>>5)]&(1<<(ch&31)) != 0 {
				return found
			}
			at += 9
		case opBigCharset:
			if ch < 1<<16 {
				page := int(ch >> 8)
				block := int(code[at+2+page/4] >> (8 * (page % 4)) & 0xff)
				if code[at+66+block*8+int(ch&0xff)>>5]&(1<<(ch&31)) != 0 {
					return found
				}
			}
			at += 66 + 8*int(code[at+1])
		default:
			return false
		}
	}
}
