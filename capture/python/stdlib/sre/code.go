package sre

import "errors"

// The operations of a compiled pattern, in the order of re/_constants.py.
const (
	opFailure uint32 = iota
	opSuccess
	opAny
	opAnyAll
	opAssert
	opAssertNot
	opAt
	opBranch
	opCategory
	opCharset
	opBigCharset
	opGroupRef
	opGroupRefExists
	opIn
	opInfo
	opJump
	opLiteral
	opMark
	opMaxUntil
	opMinUntil
	opNotLiteral
	opNegate
	opRange
	opRepeat
	opRepeatOne
	opSubpattern
	opMinRepeatOne
	opAtomicGroup
	opPossessiveRepeat
	opPossessiveRepeatOne
	opGroupRefIgnore
	opInIgnore
	opLiteralIgnore
	opNotLiteralIgnore
	opGroupRefLocIgnore
	opInLocIgnore
	opLiteralLocIgnore
	opNotLiteralLocIgnore
	opGroupRefUniIgnore
	opInUniIgnore
	opLiteralUniIgnore
	opNotLiteralUniIgnore
	opRangeUniIgnore
)

// The positions that opAt asks for.
const (
	atBeginning uint32 = iota
	atBeginningLine
	atBeginningString
	atBoundary
	atNonBoundary
	atEnd
	atEndLine
	atEndString
	atLocBoundary
	atLocNonBoundary
	atUniBoundary
	atUniNonBoundary
)

// Flags of a pattern, and of the info block that a code begins with.
const (
	flagTemplate   = 1
	flagIgnoreCase = 2
	flagLocale     = 4
	flagMultiline  = 8
	flagDotAll     = 16
	flagUnicode    = 32
	flagVerbose    = 64
	flagDebug      = 128
	flagASCII      = 256

	infoPrefix  = 1
	infoLiteral = 2
	infoCharset = 4

	maxRepeat = 1<<32 - 1
	maxGroups = 1 << 30
	magic     = 20220615
)

// program is the code of a pattern after it was checked.
type program struct {
	code   []uint32
	groups int
	sets   []*[4]uint64 // by the place of a set: which of the first 256 characters are in it
	start  int          // where the code proper begins, behind the info block
	info   info
}

// info is what the code says of all its matches.
type info struct {
	min     int
	prefix  []uint32 // literals that each match begins with
	charset int      // the place of the set of all first characters; 0 for none
}

var errCode = errors.New("invalid SRE code")

// newProgram checks a code, so that no jump leads out of it, and gathers what makes it fast.
func newProgram(code []uint32, groups int) (p *program, err error) {
	p = &program{code: code, groups: groups, sets: make([]*[4]uint64, len(code))}
	defer func() {
		if recover() != nil { // an index behind the end of the code
			p, err = nil, errCode
		}
	}()
	c := checker{p}
	at := 0
	if len(code) > 0 && code[0] == opInfo {
		at = c.info()
	}
	p.start = at
	if end, ok := c.block(at, len(code)-1); !ok || end != len(code)-1 || code[end] != opSuccess {
		return nil, errCode
	}
	return p, nil
}

// checker walks through a code. Its methods give the place behind what they checked, and false for what no compiler writes.
type checker struct{ p *program }

// info reads the block of a code that says what its matches have in common.
func (c checker) info() int {
	code := c.p.code
	end := 1 + int(code[1])
	flags := code[2]
	c.p.info.min = int(code[3])
	at := 5
	if flags&infoPrefix != 0 {
		n := int(code[at])
		c.p.info.prefix = code[at+2 : at+2+n]
		at += 2 + 2*n
	}
	if flags&infoCharset != 0 {
		c.set(at, end)
		c.p.info.charset = at
	}
	if at > end {
		panic(errCode)
	}
	return end
}

// block checks the operations between two places.
func (c checker) block(at, end int) (int, bool) {
	for at < end {
		next, ok := c.op(at, end)
		if !ok || next > end {
			return 0, false
		}
		at = next
	}
	return at, at == end
}

// body checks operations that end with the one given, which is the last before end.
func (c checker) body(at, end int, last uint32) bool {
	if end > len(c.p.code) || end-1 < at || c.p.code[end-1] != last {
		return false
	}
	_, ok := c.block(at, end-1)
	return ok
}

// op checks one operation.
func (c checker) op(at, end int) (int, bool) {
	code := c.p.code
	switch code[at] {
	case opFailure, opAny, opAnyAll:
		return at + 1, true
	case opLiteral, opNotLiteral, opLiteralIgnore, opNotLiteralIgnore, opLiteralLocIgnore, opNotLiteralLocIgnore, opLiteralUniIgnore, opNotLiteralUniIgnore:
		return at + 2, true
	case opAt:
		return at + 2, code[at+1] <= atUniNonBoundary
	case opMark:
		return at + 2, int(code[at+1]) <= 2*c.p.groups+1
	case opGroupRef, opGroupRefIgnore, opGroupRefLocIgnore, opGroupRefUniIgnore:
		return at + 2, int(code[at+1]) < c.p.groups
	case opJump:
		return at + 2, false // only where a branch or a condition has one
	case opIn, opInIgnore, opInLocIgnore, opInUniIgnore:
		next := at + 1 + int(code[at+1])
		return next, c.set(at+2, next)
	case opBranch:
		return c.branch(at+1, end)
	case opRepeatOne, opMinRepeatOne, opPossessiveRepeatOne:
		next := at + 1 + int(code[at+1])
		return next, code[at+2] <= code[at+3] && c.body(at+4, next, opSuccess)
	case opRepeat:
		until := at + 1 + int(code[at+1])
		if _, ok := c.block(at+4, until); !ok {
			return 0, false
		}
		return until + 1, code[at+2] <= code[at+3] && (code[until] == opMaxUntil || code[until] == opMinUntil)
	case opPossessiveRepeat:
		until := at + 1 + int(code[at+1])
		_, ok := c.block(at+4, until)
		return until + 1, ok && code[at+2] <= code[at+3] && code[until] == opSuccess
	case opAtomicGroup:
		next := at + 1 + int(code[at+1])
		return next, c.body(at+2, next, opSuccess)
	case opAssert, opAssertNot:
		next := at + 1 + int(code[at+1])
		return next, c.body(at+3, next, opSuccess)
	case opGroupRefExists:
		return c.condition(at + 1)
	}
	return 0, false
}

// branch checks alternatives: each has its length in front and ends with a jump behind all of them.
func (c checker) branch(at, end int) (int, bool) {
	code := c.p.code
	target := 0
	for code[at] != 0 {
		next := at + int(code[at])
		if next > end || next < at+3 || code[next-2] != opJump {
			return 0, false
		}
		if _, ok := c.block(at+1, next-2); !ok {
			return 0, false
		}
		t := next - 1 + int(code[next-1])
		if target != 0 && t != target {
			return 0, false
		}
		at, target = next, t
	}
	return at + 1, target == 0 || target == at+1
}

// condition checks a choice by whether a group has matched; its second part is missing if no jump ends the first.
func (c checker) condition(at int) (int, bool) {
	code := c.p.code
	if int(code[at]) >= c.p.groups {
		return 0, false
	}
	no := at + int(code[at+1])
	if no >= at+4 && code[no-2] == opJump {
		if _, ok := c.block(at+2, no-2); ok {
			next := no - 1 + int(code[no-1])
			_, ok := c.block(no, next)
			return next, ok
		}
	}
	_, ok := c.block(at+2, no)
	return no, ok
}

// set checks a set of characters, and notes which of the first 256 are in it.
func (c checker) set(at, end int) bool {
	code := c.p.code
	for i := at; ; {
		if i >= end {
			return false
		}
		switch code[i] {
		case opFailure:
			c.p.note(at)
			return i+1 == end
		case opNegate:
			i++
		case opLiteral:
			i += 2
		case opCategory:
			if code[i+1] > lastCategory {
				return false
			}
			i += 2
		case opRange, opRangeUniIgnore:
			i += 3
		case opCharset:
			i += 9
		case opBigCharset:
			i += 2 + 64 + 8*int(code[i+1])
		default:
			return false
		}
	}
}

// note fills the table of the first 256 characters of the set at a place.
func (p *program) note(at int) {
	var t [4]uint64
	for ch := range uint32(256) {
		if p.walkSet(at, ch) {
			t[ch>>6] |= 1 << (ch & 63)
		}
	}
	p.sets[at] = &t
}
