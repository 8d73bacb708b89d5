package sre

// one reports whether an operation that takes one character takes this one.
func (m *machine[C]) one(pc int, ch uint32) bool {
	code := m.p.code
	switch code[pc] {
	case opAnyAll:
		return true
	case opAny:
		return ch != '\n'
	case opIn:
		return m.p.inSet(pc+2, ch)
	case opInIgnore:
		return m.p.inSet(pc+2, asciiLower(ch))
	case opInUniIgnore:
		return m.p.inSet(pc+2, uniLower(ch))
	case opInLocIgnore:
		lo := asciiLower(ch)
		up := asciiUpper(ch)
		return m.p.inSet(pc+2, lo) || up != lo && m.p.inSet(pc+2, up)
	case opLiteral:
		return ch == code[pc+1]
	case opNotLiteral:
		return ch != code[pc+1]
	case opLiteralIgnore:
		return asciiLower(ch) == code[pc+1]
	case opNotLiteralIgnore:
		return asciiLower(ch) != code[pc+1]
	case opLiteralUniIgnore:
		return uniLower(ch) == code[pc+1]
	case opNotLiteralUniIgnore:
		return uniLower(ch) != code[pc+1]
	case opLiteralLocIgnore:
		return sameInLocale(code[pc+1], ch)
	case opNotLiteralLocIgnore:
		return !sameInLocale(code[pc+1], ch)
	}
	return false
}

func sameInLocale(want, ch uint32) bool {
	return want == ch || asciiLower(ch) == want || asciiUpper(ch) == want
}

// count gives how many characters from ptr on an operation takes, at most so many.
func (m *machine[C]) count(pc, ptr, most int) int {
	text := m.s[ptr:m.end]
	if most < len(text) {
		text = text[:most]
	}
	code := m.p.code
	switch code[pc] {
	case opAnyAll:
		return len(text)
	case opIn:
		for i, ch := range text {
			if !m.p.inSet(pc+2, uint32(ch)) {
				return i
			}
		}
	case opAny:
		for i, ch := range text {
			if ch == '\n' {
				return i
			}
		}
	default:
		for i, ch := range text {
			if !m.one(pc, uint32(ch)) {
				return i
			}
		}
	}
	return len(text)
}

// at reports whether a place in the text is what opAt asks for.
func (m *machine[C]) at(where uint32, ptr int) bool {
	switch where {
	case atBeginning, atBeginningString:
		return ptr == 0
	case atBeginningLine:
		return ptr == 0 || m.s[ptr-1] == '\n'
	case atEnd:
		return ptr == m.end || ptr == m.end-1 && m.s[ptr] == '\n'
	case atEndLine:
		return ptr == m.end || m.s[ptr] == '\n'
	case atEndString:
		return ptr == m.end
	case atBoundary, atLocBoundary:
		return m.end > 0 && m.boundary(ptr, isWord)
	case atNonBoundary, atLocNonBoundary:
		return m.end > 0 && !m.boundary(ptr, isWord)
	case atUniBoundary:
		return m.end > 0 && m.boundary(ptr, uniWord)
	case atUniNonBoundary:
		return m.end > 0 && !m.boundary(ptr, uniWord)
	}
	return false
}

// boundary reports whether only one of the characters around a place belongs to a word.
func (m *machine[C]) boundary(ptr int, word func(uint32) bool) bool {
	before := ptr > 0 && word(uint32(m.s[ptr-1]))
	after := ptr < m.end && word(uint32(m.s[ptr]))
	return before != after
}

// groupRef matches what a group matched, and gives the place behind it.
func (m *machine[C]) groupRef(op uint32, group, ptr int) (int, bool) {
	from, to, ok := m.group(group)
	if !ok || to-from > m.end-ptr {
		return 0, false
	}
	fold := func(ch uint32) uint32 { return ch }
	switch op {
	case opGroupRefIgnore, opGroupRefLocIgnore:
		fold = asciiLower
	case opGroupRefUniIgnore:
		fold = uniLower
	}
	for ; from < to; from, ptr = from+1, ptr+1 {
		if a, b := uint32(m.s[from]), uint32(m.s[ptr]); a != b && fold(a) != fold(b) {
			return 0, false
		}
	}
	return ptr, true
}

// search looks for the first match that begins at from or behind it.
func (m *machine[C]) search(from int) (start, end int, ok bool, err error) {
	last := m.end - m.p.info.min
	if code := m.p.code[m.p.start:]; code[0] == opAt && (code[1] == atBeginning || code[1] == atBeginningString) {
		last = min(last, 0) // it matches nowhere else
	}
	for at := from; at <= last; at++ {
		if at = m.candidate(at, last); at > last {
			break
		}
		if m.steps--; m.steps <= 0 {
			m.steps = pollEvery
			if err := m.poll(); err != nil {
				return 0, 0, false, err
			}
		}
		m.reset()
		if end, ok, err := m.match(at); ok || err != nil {
			return at, end, ok, err
		}
	}
	return 0, 0, false, nil
}

// candidate is the next place where a match may begin, by what the code says of its first characters.
func (m *machine[C]) candidate(at, last int) int {
	in := &m.p.info
	switch {
	case len(in.prefix) > 0:
	next:
		for ; at <= last; at++ {
			for i, ch := range in.prefix {
				if uint32(m.s[at+i]) != ch {
					continue next
				}
			}
			return at
		}
	case in.charset > 0:
		for at <= last && !m.p.inSet(in.charset, uint32(m.s[at])) {
			at++
		}
	}
	return at
}
