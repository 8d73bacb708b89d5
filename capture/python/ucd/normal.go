package ucd

import "slices"

// Form is a normal form.
type Form struct {
	Compat  bool // characters are replaced that mean the same and look otherwise: NFKC, NFKD
	Compose bool // what was taken apart is put together: NFC, NFKC
}

// Forms are the normal forms by name.
var Forms = map[string]Form{"NFC": {Compose: true}, "NFD": {}, "NFKC": {Compat: true, Compose: true}, "NFKD": {Compat: true}}

// How Hangul syllables are composed: The Unicode Standard, section 3.12.
const (
	hangulS, hangulL, hangulV, hangulT = 0xac00, 0x1100, 0x1161, 0x11a7
	countL, countV, countT             = 19, 21, 28
)

// Normalize is a text in a normal form; old says that of Unicode 3.2.
func (f Form) Normalize(text []rune, old bool) []rune {
	n := normalizer{tables: all(), compat: f.Compat, old: old}
	for _, r := range text {
		n.take(r)
	}
	n.order()
	if f.Compose {
		n.compose()
	}
	return n.out
}

// normalizer is a text that is being normalized.
type normalizer struct {
	*tables
	compat, old bool
	out         []rune
}

func (t *tables) combining(r rune) uint8 { return t.records[t.now.at(r)].combining }

// take appends a character, taken apart as far as it goes.
func (n *normalizer) take(r rune) {
	if s := r - hangulS; s >= 0 && s < countL*countV*countT {
		n.out = append(n.out, hangulL+s/(countV*countT), hangulV+s%(countV*countT)/countT)
		if t := s % countT; t > 0 {
			n.out = append(n.out, hangulT+t)
		}
		return
	}
	if n.old {
		if c, ok := n.corrected[r]; ok {
			n.out = append(n.out, c...)
			return
		}
	}
	p, ok := n.parts[r]
	if !ok || p.tag != 0 && !n.compat || n.old && !n.records[n.tables.old.at(r)].Assigned() {
		n.out = append(n.out, r)
		return
	}
	for _, c := range p.runes {
		n.take(c)
	}
}

// order sorts the marks behind each character by their classes.
func (n *normalizer) order() {
	for i := 0; i < len(n.out); {
		if n.combining(n.out[i]) == 0 {
			i++
			continue
		}
		end := i
		for end < len(n.out) && n.combining(n.out[end]) != 0 {
			end++
		}
		slices.SortStableFunc(n.out[i:end], func(a, b rune) int { return int(n.combining(a)) - int(n.combining(b)) })
		i = end
	}
}

// compose puts characters together with the marks behind them, unless a mark of the same or a higher class stands between.
func (n *normalizer) compose() {
	kept := n.out[:0]
	starter := -1    // where in kept what takes marks stands
	last := uint8(0) // the class of the mark kept last behind it
	for _, r := range n.out {
		class := n.combining(r)
		free := starter >= 0 && (last < class || last == 0 && starter == len(kept)-1)
		if free {
			if c, ok := n.pair(kept[starter], r); ok {
				kept[starter] = c
				continue
			}
		}
		kept = append(kept, r)
		if class == 0 {
			starter, last = len(kept)-1, 0
		} else {
			last = class
		}
	}
	n.out = kept
}

// pair is what two characters compose to.
func (n *normalizer) pair(a, b rune) (rune, bool) {
	if l, v := a-hangulL, b-hangulV; l >= 0 && l < countL && v >= 0 && v < countV {
		return hangulS + (l*countV+v)*countT, true
	}
	if s, t := a-hangulS, b-hangulT; s >= 0 && s < countL*countV*countT && s%countT == 0 && t > 0 && t < countT {
		return a + t, true
	}
	c, ok := n.pairs[[2]rune{a, b}]
	return c, ok
}
