package sre

import (
	"bytes"
	"strings"

	"whittle/capture/python/vm"
)

// replacement is what sub puts in place of a match: a text, or what a function makes of the match.
type replacement struct {
	value    vm.Object
	function bool
}

// newReplacement reads the template of sub. One with a backslash is left to re itself, which gives a text or a function.
func (p *Pattern) newReplacement(in *vm.Interp, o vm.Object) (replacement, error) {
	if callable(o) {
		return replacement{o, true}, nil
	}
	if s, ok := vm.AsStr(o); ok && strings.IndexByte(s, '\\') < 0 {
		return replacement{o, false}, nil
	}
	if b, ok := bytesOf(o); ok && bytes.IndexByte(b, '\\') < 0 {
		return replacement{o, false}, nil
	}
	v, err := callRe(in, "_subx", p, o)
	if err != nil {
		return replacement{}, err
	}
	return replacement{v, callable(v)}, nil
}

func callable(o vm.Object) bool {
	switch o.(type) {
	case *vm.Function, *vm.Builtin, *vm.BoundMethod, *vm.Type, vm.Caller:
		return true
	}
	return o.Type().Lookup("__call__") != nil
}

// callRe calls a function of module re.
func callRe(in *vm.Interp, name string, args ...vm.Object) (vm.Object, error) {
	m, err := in.Import("re")
	if err != nil {
		return nil, err
	}
	f, err := in.GetAttr(m, name)
	if err != nil {
		return nil, err
	}
	return in.Call(f, args, nil)
}

// sub is Pattern.sub and subn: the text with up to most matches replaced, and how many were; most 0 is all.
func (p *Pattern) sub(in *vm.Interp, repl, o vm.Object, most int64) (vm.Object, int64, error) {
	r, err := p.newReplacement(in, repl)
	if err != nil {
		return nil, 0, err
	}
	t, err := newText(in, p, o)
	if err != nil {
		return nil, 0, err
	}
	s := &span{text: t, end: t.n}
	var parts []vm.Object
	last, n := 0, int64(0)
	if most >= 0 {
		err = p.walk(in, s, func(e engine, start, end int) (bool, error) {
			if last < start {
				parts = append(parts, t.slice(last, start))
			}
			v := r.value
			if r.function {
				if v, err = in.Call(r.value, []vm.Object{p.newMatch(s, e, start, end)}, nil); err != nil {
					return false, err
				}
			}
			if v != vm.None {
				parts = append(parts, v)
			}
			last = end
			n++
			return most == 0 || n < most, nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if last < t.n {
		parts = append(parts, t.slice(last, t.n))
	}
	v, err := join(in, t, parts)
	return v, n, err
}

// join puts the parts of a result together.
func join(in *vm.Interp, t *text, parts []vm.Object) (vm.Object, error) {
	empty := t.slice(0, 0)
	if len(parts) == 0 {
		return empty, nil
	}
	var b strings.Builder
	for _, o := range parts {
		switch x := o.(type) {
		case vm.Str:
			if t.isBytes {
				return in.CallMethod(empty, "join", vm.NewList(parts...))
			}
			b.WriteString(string(x))
		case vm.Bytes:
			if !t.isBytes {
				return in.CallMethod(empty, "join", vm.NewList(parts...))
			}
			b.WriteString(string(x))
		default:
			return in.CallMethod(empty, "join", vm.NewList(parts...))
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	if t.isBytes {
		return vm.Bytes(b.String()), nil
	}
	return vm.Str(b.String()), nil
}
