package sre

import "math"

// machine runs a program on a text. It goes back to where there was a choice without recursion: choices lie on a stack, what to undo with
// them on a trail, so that a long text takes memory that grows with it and no Go stack.
type machine[C byte | rune] struct {
	p           *program
	s           []C
	end         int // the text ends here for the pattern
	whole       bool
	mustAdvance int          // a match that begins here may not be empty; -1 for none
	poll        func() error // asked now and then whether to stop

	marks     []int // begin and end of each group; -1 for unset
	lastIndex int   // the group that was closed last, 0 for none

	stack   []choice
	trail   []undo
	reps    []repeat
	rep     int32 // the innermost repeat under way, or -1
	barrier int32 // the innermost choice that must not be passed, or -1
	steps   int
}

// choice is a point to come back to. Its kind says how to go on from there.
type choice struct {
	kind      choiceKind
	pc        int32
	rep       int32
	reps      int32 // length of machine.reps
	barrier   int32
	lastIndex int32
	trail     int
	ptr       int
	low       int // kindGreedy: the first place where the rest may begin; kindLazy: how many more may be taken
}

type choiceKind uint8

const (
	kindResume    choiceKind = iota // go on at pc
	kindBranch                      // try the alternative at pc
	kindGreedy                      // give back one character, go on at pc
	kindLazy                        // take one more character of the repeat at pc
	kindAssert                      // barriers: the body of the operation at pc is being matched
	kindAssertNot                   // as above
	kindAtomic
	kindPossessive // low counts how often it has matched
)

// undo is a mark as it was.
type undo struct{ mark, old int }

// repeat is a repeat under way. It is never changed: each turn makes a new one, so that going back is forgetting.
type repeat struct {
	pc    int32 // of opRepeat
	prev  int32 // the repeat around it
	count int   // turns done
	last  int   // where the last turn began; -1 for none
}

const pollEvery = 1 << 14

// reset prepares for another attempt.
func (m *machine[C]) reset() {
	for i := range m.marks {
		m.marks[i] = -1
	}
	m.lastIndex = 0
	m.stack, m.trail, m.reps = m.stack[:0], m.trail[:0], m.reps[:0]
	m.rep, m.barrier = -1, -1
}

// push adds a choice in the state as it is.
func (m *machine[C]) push(kind choiceKind, pc, ptr, low int) {
	m.stack = append(m.stack, choice{kind: kind, pc: int32(pc), rep: m.rep, reps: int32(len(m.reps)), barrier: m.barrier,
		lastIndex: int32(m.lastIndex), trail: len(m.trail), ptr: ptr, low: low})
}

// pushBarrier adds a choice that ends the body of an operation; behind it everything is a matter of that body.
func (m *machine[C]) pushBarrier(kind choiceKind, pc, ptr, count int) {
	m.push(kind, pc, ptr, count)
	m.barrier = int32(len(m.stack) - 1)
}

// turn notes another turn of a repeat and makes it the innermost.
func (m *machine[C]) turn(r repeat) {
	m.reps = append(m.reps, r)
	m.rep = int32(len(m.reps) - 1)
}

// setMark stores where a group begins or ends.
func (m *machine[C]) setMark(i, ptr int) {
	if len(m.stack) > 0 {
		m.trail = append(m.trail, undo{i, m.marks[i]})
	}
	m.marks[i] = ptr
	if i&1 == 1 {
		m.lastIndex = i/2 + 1
	}
}

// restore takes the state back to that of a choice.
func (m *machine[C]) restore(c *choice) {
	for i := len(m.trail) - 1; i >= c.trail; i-- {
		m.marks[m.trail[i].mark] = m.trail[i].old
	}
	m.trail = m.trail[:c.trail]
	m.rep, m.reps, m.barrier, m.lastIndex = c.rep, m.reps[:c.reps], c.barrier, int(c.lastIndex)
}

// group gives the place of a group in the text, or false.
func (m *machine[C]) group(i int) (from, to int, ok bool) {
	from, to = m.marks[2*i], m.marks[2*i+1]
	return from, to, from >= 0 && to >= from
}

// match runs the program at a place of the text and gives where the match ends.
func (m *machine[C]) match(ptr int) (end int, ok bool, err error) {
	start := ptr
	pc := m.p.start
	for {
		if m.steps--; m.steps <= 0 {
			m.steps = pollEvery
			if err := m.poll(); err != nil {
				return 0, false, err
			}
		}
		if m.p.code[pc] == opSuccess && m.barrier < 0 {
			if !(m.whole && ptr != m.end || ptr == m.mustAdvance && start == ptr) {
				return ptr, true, nil
			}
			ok = false
		} else {
			pc, ptr, ok = m.step(pc, ptr)
		}
		for !ok {
			if len(m.stack) == 0 {
				return 0, false, nil
			}
			pc, ptr, ok = m.back()
		}
	}
}

// step runs one operation. ok is false where it does not match.
func (m *machine[C]) step(pc, ptr int) (int, int, bool) {
	code := m.p.code
	switch op := code[pc]; op {
	case opLiteral:
		return pc + 2, ptr + 1, ptr < m.end && uint32(m.s[ptr]) == code[pc+1]
	case opIn:
		return pc + 1 + int(code[pc+1]), ptr + 1, ptr < m.end && m.p.inSet(pc+2, uint32(m.s[ptr]))
	case opMark:
		m.setMark(int(code[pc+1]), ptr)
		return pc + 2, ptr, true
	case opJump:
		return pc + 1 + int(code[pc+1]), ptr, true
	case opAny, opAnyAll:
		return pc + 1, ptr + 1, ptr < m.end && m.one(pc, uint32(m.s[ptr]))
	case opNotLiteral, opLiteralIgnore, opNotLiteralIgnore, opLiteralLocIgnore, opNotLiteralLocIgnore, opLiteralUniIgnore, opNotLiteralUniIgnore:
		return pc + 2, ptr + 1, ptr < m.end && m.one(pc, uint32(m.s[ptr]))
	case opInIgnore, opInLocIgnore, opInUniIgnore:
		return pc + 1 + int(code[pc+1]), ptr + 1, ptr < m.end && m.one(pc, uint32(m.s[ptr]))
	case opAt:
		return pc + 2, ptr, m.at(code[pc+1], ptr)
	case opBranch:
		return m.branch(pc+1, ptr)
	case opRepeatOne, opMinRepeatOne, opPossessiveRepeatOne:
		return m.repeatOne(op, pc+1, ptr)
	case opRepeat:
		m.turn(repeat{pc: int32(pc), prev: m.rep, count: -1, last: -1})
		return pc + 1 + int(code[pc+1]), ptr, true
	case opMaxUntil:
		return m.maxUntil(pc, ptr)
	case opMinUntil:
		return m.minUntil(pc, ptr)
	case opPossessiveRepeat:
		return m.possessive(pc, ptr, 0)
	case opAtomicGroup:
		m.pushBarrier(kindAtomic, pc, ptr, 0)
		return pc + 2, ptr, true
	case opAssert, opAssertNot:
		return m.assert(op, pc, ptr)
	case opSuccess:
		return m.bodyMatched(ptr)
	case opGroupRef, opGroupRefIgnore, opGroupRefLocIgnore, opGroupRefUniIgnore:
		ptr, ok := m.groupRef(op, int(code[pc+1]), ptr)
		return pc + 2, ptr, ok
	case opGroupRefExists:
		if _, _, ok := m.group(int(code[pc+1])); ok {
			return pc + 3, ptr, true
		}
		return pc + 1 + int(code[pc+2]), ptr, true
	}
	return 0, 0, false // opFailure
}

// back takes up the newest choice; it drops it once that was the last way on from there.
func (m *machine[C]) back() (pc, ptr int, ok bool) {
	top := len(m.stack) - 1
	c := &m.stack[top]
	m.restore(c)
	pc, ptr = int(c.pc), c.ptr
	code := m.p.code
	switch c.kind {
	case kindResume:
		m.stack = m.stack[:top]
		return pc, ptr, true
	case kindBranch:
		m.stack = m.stack[:top]
		return m.branch(pc, ptr)
	case kindGreedy:
		ptr = c.ptr - 1
		if code[pc] == opLiteral {
			for ptr >= c.low && uint32(m.s[ptr]) != code[pc+1] {
				ptr--
			}
		}
		if ptr <= c.low {
			m.stack = m.stack[:top]
		} else {
			c.ptr = ptr
		}
		return pc, ptr, ptr >= c.low
	case kindLazy:
		if c.low == 0 || ptr >= m.end || !m.one(pc+4, uint32(m.s[ptr])) {
			m.stack = m.stack[:top]
			return 0, 0, false
		}
		c.low--
		c.ptr++
		return pc + 1 + int(code[pc+1]), ptr + 1, true
	case kindAssertNot:
		m.stack = m.stack[:top]
		return pc + 1 + int(code[pc+1]), ptr, true
	case kindPossessive:
		count := c.low
		m.stack = m.stack[:top]
		return pc + 2 + int(code[pc+1]), ptr, count >= int(code[pc+2])
	}
	m.stack = m.stack[:top] // the body of an assertion or an atomic group does not match
	return 0, 0, false
}

// branch takes the first alternative that may match, and leaves a choice for those behind it.
func (m *machine[C]) branch(at, ptr int) (int, int, bool) {
	at = m.viable(at, ptr)
	code := m.p.code
	if code[at] == 0 {
		return 0, 0, false
	}
	if next := m.viable(at+int(code[at]), ptr); code[next] != 0 {
		m.push(kindBranch, next, ptr, 0)
	}
	return at + 1, ptr, true
}

// viable passes alternatives whose first character is another.
func (m *machine[C]) viable(at, ptr int) int {
	code := m.p.code
	for ; code[at] != 0; at += int(code[at]) {
		switch code[at+1] {
		case opLiteral:
			if ptr >= m.end || uint32(m.s[ptr]) != code[at+2] {
				continue
			}
		case opIn:
			if ptr >= m.end || !m.p.inSet(at+3, uint32(m.s[ptr])) {
				continue
			}
		}
		break
	}
	return at
}

// repeatOne repeats an operation that takes one character: as often as it can, as seldom as it may, or without giving back.
func (m *machine[C]) repeatOne(op uint32, base, ptr int) (int, int, bool) {
	code := m.p.code
	least, most := int(code[base+1]), math.MaxInt
	if code[base+2] != maxRepeat {
		most = int(code[base+2])
	}
	if least > m.end-ptr {
		return 0, 0, false
	}
	rest := base + int(code[base])
	if op == opMinRepeatOne {
		if m.count(base+3, ptr, least) < least {
			return 0, 0, false
		}
		m.push(kindLazy, base-1, ptr+least, most-least)
		return rest, ptr + least, true
	}
	n := m.count(base+3, ptr, most)
	if n < least {
		return 0, 0, false
	}
	if op == opRepeatOne && n > least {
		low, high := ptr+least, ptr+n
		if code[rest] == opLiteral {
			for high >= low && (high >= m.end || uint32(m.s[high]) != code[rest+1]) {
				high--
			}
			if high < low {
				return 0, 0, false
			}
		}
		if high > low {
			m.push(kindGreedy, rest, high, low)
		}
		return rest, high, true
	}
	return rest, ptr + n, true
}

// maxUntil ends a turn of a greedy repeat: another turn, if there may be one, and else what follows.
func (m *machine[C]) maxUntil(pc, ptr int) (int, int, bool) {
	code := m.p.code
	r := m.reps[m.rep]
	count := r.count + 1
	base := int(r.pc) + 1
	if count < int(code[base+1]) {
		m.turn(repeat{r.pc, r.prev, count, r.last})
		return base + 3, ptr, true
	}
	if (count < int(code[base+2]) || code[base+2] == maxRepeat) && ptr != r.last {
		rep := m.rep
		m.rep = r.prev
		m.push(kindResume, pc+1, ptr, 0)
		m.rep = rep
		m.turn(repeat{r.pc, r.prev, count, ptr})
		return base + 3, ptr, true
	}
	m.rep = r.prev
	return pc + 1, ptr, true
}

// minUntil ends a turn of a lazy repeat: what follows, and else another turn.
func (m *machine[C]) minUntil(pc, ptr int) (int, int, bool) {
	code := m.p.code
	r := m.reps[m.rep]
	count := r.count + 1
	base := int(r.pc) + 1
	if count < int(code[base+1]) {
		m.turn(repeat{r.pc, r.prev, count, r.last})
		return base + 3, ptr, true
	}
	if (count < int(code[base+2]) || code[base+2] == maxRepeat) && ptr != r.last {
		m.turn(repeat{r.pc, r.prev, count, ptr})
		m.push(kindResume, base+3, ptr, 0)
	}
	m.rep = r.prev
	return pc + 1, ptr, true
}

// possessive begins another turn of a possessive repeat after count of them, or ends it.
func (m *machine[C]) possessive(pc, ptr, count int) (int, int, bool) {
	code := m.p.code
	if count >= int(code[pc+3]) && code[pc+3] != maxRepeat {
		return pc + 2 + int(code[pc+1]), ptr, true
	}
	m.pushBarrier(kindPossessive, pc, ptr, count)
	return pc + 4, ptr, true
}

// assert begins to look ahead or behind.
func (m *machine[C]) assert(op uint32, pc, ptr int) (int, int, bool) {
	code := m.p.code
	back := int(code[pc+2])
	if ptr < back {
		return pc + 1 + int(code[pc+1]), ptr, op == opAssertNot
	}
	kind := kindAssert
	if op == opAssertNot {
		kind = kindAssertNot
	}
	m.pushBarrier(kind, pc, ptr, 0)
	return pc + 3, ptr - back, true
}

// bodyMatched ends the body of the operation whose barrier is the innermost: no choice within the body is left.
func (m *machine[C]) bodyMatched(ptr int) (int, int, bool) {
	c := m.stack[m.barrier]
	m.stack = m.stack[:m.barrier]
	pc := int(c.pc)
	next := pc + 1 + int(m.p.code[pc+1])
	if c.kind == kindAssertNot {
		m.restore(&c)
		return 0, 0, false
	}
	m.rep, m.reps, m.barrier = c.rep, m.reps[:c.reps], c.barrier
	switch c.kind {
	case kindAssert:
		return next, c.ptr, true
	case kindPossessive:
		if ptr == c.ptr && c.low >= int(m.p.code[pc+2]) {
			return next + 1, ptr, true // a turn that takes nothing will take nothing again
		}
		return m.possessive(pc, ptr, c.low+1)
	}
	return next, ptr, true
}
