package ucd

import (
	"strconv"
	"strings"
)

// Props are the properties of a character.
type Props struct {
	category, class, width uint8 // indices of the tables' texts
	combining              uint8
	decimal, digit         uint8 // one more than the value; 0: it has none
	numeric                uint8 // an index of the tables' numbers; 0: it has none
	flags                  Flag
	cases                  [4]int32 // what to add for lower, upper, title and folded case
}

// Flag is a set of yes-or-no properties.
type Flag uint16

// The flags, as make.py orders them.
const (
	Mirrored   Flag = 1 << iota // in text from right to left
	Alpha                       // str.isalpha
	Printable                   // str.isprintable
	Space                       // str.isspace
	IDStart                     // an identifier may begin with it
	IDContinue                  // an identifier may go on with it
	IsLower
	IsUpper
	Cased     // what begins and goes on a word for str.title
	Ignorable // not looked at where a word's end is looked for
	excluded  // never composed
)

// Of are the properties of a character in Unicode 14.
func Of(r rune) *Props {
	t := all()
	return &t.records[t.now.at(r)]
}

// Old are the properties of a character in Unicode 3.2, except for its cases.
func Old(r rune) *Props {
	t := all()
	return &t.records[t.old.at(r)]
}

// Version is that of Unicode.
func Version() string { return all().version }

// Is reports whether the character has one of the properties.
func (p *Props) Is(f Flag) bool { return p.flags&f != 0 }

// Category is the general category: "Lu".
func (p *Props) Category() string { return all().categories[p.category] }

// Assigned reports whether there is such a character.
func (p *Props) Assigned() bool { return p.category != 0 }

// Bidirectional is the class in text of both directions; empty if none is defined.
func (p *Props) Bidirectional() string { return all().classes[p.class] }

// Width is the East Asian width.
func (p *Props) Width() string { return all().widths[p.width] }

// Combining is the canonical combining class.
func (p *Props) Combining() int { return int(p.combining) }

// Decimal is the value of a decimal digit.
func (p *Props) Decimal() (int, bool) { return int(p.decimal) - 1, p.decimal > 0 }

// Digit is the value of a digit, which may be a raised one, or one in a circle.
func (p *Props) Digit() (int, bool) { return int(p.digit) - 1, p.digit > 0 }

// Numeric is the value of a number.
func (p *Props) Numeric() (float64, bool) {
	f, err := strconv.ParseFloat(all().numerics[p.numeric], 64)
	return f, err == nil
}

// IsNumeric reports whether there is such a value.
func (p *Props) IsNumeric() bool { return p.numeric > 0 }

// Case is one of the forms that a letter has.
type Case int

// The cases.
const (
	Lower Case = iota
	Upper
	Title
	Folded
)

// To appends a character in a case, which may be several, to dst.
func To(dst []rune, r rune, c Case) []rune {
	t := all()
	if m, ok := t.cases[c][r]; ok {
		return append(dst, m...)
	}
	return append(dst, r+t.records[t.now.at(r)].cases[c])
}

// First is the first character of what To gives.
func First(r rune, c Case) rune {
	t := all()
	if m, ok := t.cases[c][r]; ok {
		return m[0]
	}
	return r + t.records[t.now.at(r)].cases[c]
}

// Decomposition is what a character is taken apart to in one step, and the tag that says in what way, such as "<font>": none for a canonical
// decomposition.
func Decomposition(r rune) (tag string, parts []rune) {
	t := all()
	p := t.parts[r]
	return t.tags[p.tag], p.runes
}

// Named is the text of a name that is not a character's own: an alias, or the name of a sequence of characters.
func Named(name string) (string, bool) {
	s, ok := all().names[strings.ToUpper(name)]
	return s, ok
}
