package sre

import (
	"unsafe"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// text is what a pattern is matched with: characters of one byte each, or runes.
type text struct {
	obj     vm.Object
	str     string // of a str that is all ASCII
	bytes   []byte // those of str, or of a bytes-like object
	runes   []rune // of any other str
	isBytes bool
	n       int
}

// newText reads a str or a bytes-like object for a pattern.
func newText(in *vm.Interp, p *Pattern, o vm.Object) (*text, error) {
	t := &text{obj: o}
	if s, ok := vm.AsStr(o); ok {
		if p.kind == bytesPattern {
			return nil, in.Errorf(in.Exc.TypeError, "cannot use a bytes pattern on a string-like object")
		}
		t.runes, t.n = in.Runes(s)
		if t.runes == nil {
			t.str = s
			t.bytes = unsafe.Slice(unsafe.StringData(s), len(s)) // only read
		}
		return t, nil
	}
	b, ok := bytesOf(o)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "expected string or bytes-like object, got '%s'", vm.TypeName(o))
	}
	if p.kind == strPattern {
		return nil, in.Errorf(in.Exc.TypeError, "cannot use a string pattern on a bytes-like object")
	}
	t.bytes, t.n, t.isBytes = b, len(b), true
	return t, nil
}

// bytesOf is vm.AsBytes without a copy of a bytes object.
func bytesOf(o vm.Object) ([]byte, bool) {
	if b, ok := o.(vm.Bytes); ok {
		return unsafe.Slice(unsafe.StringData(string(b)), len(b)), true
	}
	return vm.AsBytes(o)
}

// slice is a part of the text as Python sees it.
func (t *text) slice(from, to int) vm.Object {
	if from == 0 && to == t.n {
		switch t.obj.(type) {
		case vm.Str, vm.Bytes:
			return t.obj
		}
	}
	switch {
	case t.isBytes:
		return vm.Bytes(t.bytes[from:to])
	case t.runes != nil:
		return vm.Str(wtf8.String(t.runes[from:to]))
	}
	return vm.Str(t.str[from:to])
}

// group is slice for a group, or otherwise where the group has not matched.
func (t *text) group(from, to int, otherwise vm.Object) vm.Object {
	if from < 0 || to < from {
		return otherwise
	}
	return t.slice(from, to)
}

// engine is a machine for either kind of text.
type engine interface {
	reset()
	match(ptr int) (end int, ok bool, err error)
	search(from int) (start, end int, ok bool, err error)
	captures() (marks []int, lastIndex int)
	advanceFrom(start, end int)
}

func (m *machine[C]) captures() ([]int, int) { return m.marks, m.lastIndex }

// advanceFrom says where the last match was: if it was empty, the next that begins there is not.
func (m *machine[C]) advanceFrom(start, end int) {
	m.mustAdvance = -1
	if start == end {
		m.mustAdvance = end
	}
}

// newEngine makes a machine for a text up to end; whole demands matches of all of it.
func newEngine(in *vm.Interp, p *program, t *text, end int, whole bool) engine {
	if t.runes != nil {
		return newMachine(in, p, t.runes, end, whole)
	}
	return newMachine(in, p, t.bytes, end, whole)
}

func newMachine[C byte | rune](in *vm.Interp, p *program, s []C, end int, whole bool) *machine[C] {
	m := &machine[C]{p: p, s: s, end: end, whole: whole, mustAdvance: -1, poll: in.Poll, steps: pollEvery, marks: make([]int, 2*p.groups)}
	m.reset()
	return m
}
