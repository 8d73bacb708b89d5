package pydatetime

import "whittle/capture/python/wtf8"

// scanner reads a text of ISO 8601 from the front.
type scanner struct {
	s  []rune
	at int
}

func (sc *scanner) done() bool { return sc.at >= len(sc.s) }

// take steps over r if it comes next.
func (sc *scanner) take(r rune) bool {
	if sc.done() || sc.s[sc.at] != r {
		return false
	}
	sc.at++
	return true
}

// number reads exactly n digits.
func (sc *scanner) number(n int) (int, bool) {
	if sc.at+n > len(sc.s) {
		return 0, false
	}
	v := 0
	for range n {
		r := sc.s[sc.at]
		if r < '0' || r > '9' {
			return 0, false
		}
		v = v*10 + int(r-'0')
		sc.at++
	}
	return v, true
}

// parseDay reads a whole text as a date: YYYY-MM-DD, YYYY-Www-D, YYYY-Www and the same without dashes. Months and days may be out of range.
func parseDay(s []rune) (day, bool) {
	sc := &scanner{s: s}
	if len(s) != 7 && len(s) != 8 && len(s) != 10 {
		return day{}, false
	}
	y, ok := sc.number(4)
	if !ok {
		return day{}, false
	}
	dashes := sc.take('-')
	if sc.take('W') {
		return parseWeek(sc, y, dashes)
	}
	mo, ok := sc.number(2)
	if !ok || sc.take('-') != dashes {
		return day{}, false
	}
	d, ok := sc.number(2)
	return day{y, mo, d}, ok && sc.done()
}

// parseWeek reads what stands behind the W.
func parseWeek(sc *scanner, y int, dashes bool) (day, bool) {
	w, ok := sc.number(2)
	if !ok {
		return day{}, false
	}
	wd := 1
	if !sc.done() {
		if sc.take('-') != dashes {
			return day{}, false
		}
		if wd, ok = sc.number(1); !ok || !sc.done() {
			return day{}, false
		}
	}
	d, fault := fromISO(y, w, wd)
	return d, fault == isoGood
}

// parsedTime is a time of day as it was read, with its offset if it has one.
type parsedTime struct {
	clock
	zoned bool
	off   delta
}

// parseTime reads a whole text as a time of day: HH[:MM[:SS[.ffffff]]] or without colons, and Z or a sign and an offset of the same form.
func parseTime(s []rune) (p parsedTime, ok bool) {
	end := len(s)
	for i, r := range s {
		if r == '+' || r == '-' || r == 'Z' {
			end = i
			break
		}
	}
	if p.clock, ok = parseClock(s[:end]); !ok || end == len(s) {
		return p, ok
	}
	p.zoned = true
	if s[end] == 'Z' {
		return p, end+1 == len(s)
	}
	off, ok := parseClock(s[end+1:])
	p.off = normal(0, off.h*3600+off.mi*60+off.s, off.us)
	if s[end] == '-' {
		p.off = delta{}.add(p.off, -1)
	}
	return p, ok
}

// parseClock reads the numbers of a time or of an offset.
func parseClock(s []rune) (c clock, ok bool) {
	sc := &scanner{s: s}
	colons := false
	for i, to := range []*int{&c.h, &c.mi, &c.s} {
		if *to, ok = sc.number(2); !ok {
			return c, false
		}
		if i == 0 {
			colons = !sc.done() && sc.s[sc.at] == ':'
		}
		if sc.done() {
			return c, true
		}
		if sc.take('.') || sc.take(',') {
			c.us, ok = sc.fraction()
			return c, ok
		}
		if colons && !sc.take(':') {
			return c, false
		}
	}
	return c, false
}

// fraction reads the rest as microseconds. Digits beyond the sixth count for nothing.
func (sc *scanner) fraction() (us int, ok bool) {
	n := min(len(sc.s)-sc.at, 6)
	if us, ok = sc.number(n); !ok || n == 0 {
		return 0, false
	}
	for ; n < 6; n++ {
		us *= 10
	}
	for ; !sc.done(); sc.at++ {
		if r := sc.s[sc.at]; r < '0' || r > '9' {
			return 0, false
		}
	}
	return us, true
}

// dateEnd is where the date ends in the text of a date and time; the character there is their separator.
func dateEnd(s []rune) int {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	if len(s) == 7 {
		return 7
	}
	if s[4] == '-' {
		switch {
		case s[5] != 'W':
			return 10
		case len(s) > 8 && s[8] == '-':
			if len(s) == 9 || len(s) > 10 && digit(10) { // YYYY-Www-HH: the dash separates
				return 8
			}
			return 10
		}
		return 8
	}
	if s[4] != 'W' {
		return 8
	}
	i := 7
	for digit(i) {
		i++
	}
	switch {
	case i < 9:
		return i
	case i%2 == 0: // YYYYWwwHHMM..., the W being at 4
		return 7
	}
	return 8
}

// parseMoment reads a whole text as a date and time.
func parseMoment(text string) (d day, t parsedTime, ok bool) {
	s := wtf8.Runes(text)
	if len(s) < 7 {
		return d, t, false
	}
	end := dateEnd(s)
	if end > len(s) {
		return d, t, false
	}
	if d, ok = parseDay(s[:end]); !ok {
		return d, t, false
	}
	if end+1 <= len(s)-1 {
		t, ok = parseTime(s[end+1:])
		return d, t, ok
	}
	return d, t, end == len(s)
}
