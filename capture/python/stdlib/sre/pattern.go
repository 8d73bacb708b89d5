package sre

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// Pattern is re.Pattern.
type Pattern struct {
	vm.Identity
	types *types
	prog  *program
	kind  patternKind

	source     vm.Object // str, bytes, or None
	flags      int
	groupIndex *vm.Dict
	indexGroup []vm.Object
}

// patternKind says which texts a pattern goes with.
type patternKind uint8

const (
	anyPattern patternKind = iota // made of parts, as re.Scanner does
	strPattern
	bytesPattern
)

// Type implements vm.Object, here and below.
func (p *Pattern) Type() *vm.Type { return p.types.pattern }

// span is what the methods of a pattern are asked to look at.
type span struct {
	text       *text
	pos, end   int
	impossible bool // pos lies behind end
}

// spanOf reads the arguments (string, pos, endpos) of a method.
func (p *Pattern) spanOf(in *vm.Interp, params *vm.Params, a []vm.Object, kw []vm.KwArg) (*span, error) {
	if len(kw) > 0 || len(a) == 0 || len(a) > 3 {
		var err error
		if a, err = params.Bind(in, a, kw); err != nil {
			return nil, err
		}
	}
	t, err := newText(in, p, a[0])
	if err != nil {
		return nil, err
	}
	s := &span{text: t, end: t.n}
	if len(a) > 1 {
		if s.pos, err = clamp(in, a[1], t.n); err != nil {
			return nil, err
		}
	}
	if len(a) > 2 {
		if s.end, err = clamp(in, a[2], t.n); err != nil {
			return nil, err
		}
	}
	s.impossible = s.pos > s.end
	return s, nil
}

// clamp reads an index and keeps it within the text.
func clamp(in *vm.Interp, o vm.Object, n int) (int, error) {
	i, err := in.Index(o)
	if err != nil {
		if b, ok := vm.AsBig(o); ok {
			if b.Sign() < 0 {
				return 0, nil
			}
			return n, nil
		}
		return 0, err
	}
	return int(max(0, min(i, int64(n)))), nil
}

func (p *Pattern) engine(in *vm.Interp, s *span, whole bool) engine {
	return newEngine(in, p.prog, s.text, s.end, whole)
}

// matchAt is match and fullmatch.
func (p *Pattern) matchAt(in *vm.Interp, s *span, whole bool) (vm.Object, error) {
	if s.impossible {
		return vm.None, nil
	}
	e := p.engine(in, s, whole)
	end, ok, err := e.match(s.pos)
	if err != nil || !ok {
		return vm.None, err
	}
	return p.newMatch(s, e, s.pos, end), nil
}

// walk calls found for one match after the other, until it gives false. Behind an empty match no other lies at the same place.
func (p *Pattern) walk(in *vm.Interp, s *span, found func(e engine, start, end int) (bool, error)) error {
	if s.impossible {
		return nil
	}
	e := p.engine(in, s, false)
	for at := s.pos; at <= s.end; {
		start, end, ok, err := e.search(at)
		if err != nil || !ok {
			return err
		}
		if more, err := found(e, start, end); err != nil || !more {
			return err
		}
		e.advanceFrom(start, end)
		at = end
	}
	return nil
}

// search is Pattern.search.
func (p *Pattern) search(in *vm.Interp, s *span) (m vm.Object, err error) {
	m = vm.None
	err = p.walk(in, s, func(e engine, start, end int) (bool, error) {
		m = p.newMatch(s, e, start, end)
		return false, nil
	})
	return m, err
}

func (p *Pattern) findAll(in *vm.Interp, s *span) (vm.Object, error) {
	out := &vm.List{}
	empty := s.text.slice(0, 0)
	err := p.walk(in, s, func(e engine, start, end int) (bool, error) {
		marks, _ := e.captures()
		switch len(marks) {
		case 0:
			out.Items = append(out.Items, s.text.slice(start, end))
		case 2:
			out.Items = append(out.Items, s.text.group(marks[0], marks[1], empty))
		default:
			out.Items = append(out.Items, vm.NewTuple(groupsOf(s.text, marks, empty)...))
		}
		return true, nil
	})
	return out, err
}

// groupsOf gives all groups, otherwise for those that have not matched.
func groupsOf(t *text, marks []int, otherwise vm.Object) []vm.Object {
	out := make([]vm.Object, 0, len(marks)/2)
	for i := 0; i < len(marks); i += 2 {
		out = append(out, t.group(marks[i], marks[i+1], otherwise))
	}
	return out
}

func (p *Pattern) split(in *vm.Interp, o vm.Object, most int64) (vm.Object, error) {
	t, err := newText(in, p, o)
	if err != nil {
		return nil, err
	}
	s := &span{text: t, end: t.n}
	out := &vm.List{}
	last, n := 0, int64(0)
	if most >= 0 {
		err = p.walk(in, s, func(e engine, start, end int) (bool, error) {
			marks, _ := e.captures()
			out.Items = append(append(out.Items, t.slice(last, start)), groupsOf(t, marks, vm.None)...)
			last = end
			n++
			return most == 0 || n < most, nil
		})
	}
	out.Items = append(out.Items, t.slice(last, t.n))
	return out, err
}

// repr is repr(p): the source, cut after 200 characters, and the flags by name.
func (p *Pattern) repr(in *vm.Interp) (vm.Object, error) {
	src, err := in.Repr(p.source)
	if err != nil {
		return nil, err
	}
	if r := []rune(src); len(r) > 200 {
		src = string(r[:200])
	}
	flags := p.flags
	if p.kind == strPattern && flags&(flagLocale|flagUnicode|flagASCII) == flagUnicode {
		flags &^= flagUnicode
	}
	var names []string
	for _, f := range flagNames {
		if flags&f.flag != 0 {
			names = append(names, "re."+f.name)
			flags &^= f.flag
		}
	}
	if flags != 0 {
		names = append(names, fmt.Sprintf("0x%x", flags))
	}
	if len(names) > 0 {
		src += ", " + strings.Join(names, "|")
	}
	return vm.Str("re.compile(" + src + ")"), nil
}

var flagNames = []struct {
	name string
	flag int
}{{"TEMPLATE", flagTemplate}, {"IGNORECASE", flagIgnoreCase}, {"LOCALE", flagLocale}, {"MULTILINE", flagMultiline}, {"DOTALL", flagDotAll},
	{"UNICODE", flagUnicode}, {"VERBOSE", flagVerbose}, {"DEBUG", flagDebug}, {"ASCII", flagASCII}}

// equal is p == o.
func (p *Pattern) equal(in *vm.Interp, o vm.Object) (vm.Object, error) {
	q, ok := o.(*Pattern)
	if !ok {
		return vm.NotImplemented, nil
	}
	if p == q {
		return vm.True, nil
	}
	if p.flags != q.flags || p.kind != q.kind || !slices.Equal(p.prog.code, q.prog.code) {
		return vm.False, nil
	}
	eq, err := in.Eq(p.source, q.source)
	return vm.MakeBool(eq), err
}

// hash goes with equal.
func (p *Pattern) hash(in *vm.Interp) (vm.Object, error) {
	h, err := in.Hash(p.source)
	for _, c := range p.prog.code {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return vm.MakeInt(int64(h ^ uint64(p.flags))), err
}
