package sre

import (
	"whittle/capture/python/vm"
)

// types are the classes of one interpreter.
type types struct{ pattern, match, scanner *vm.Type }

// scanner is what Pattern.scanner gives: a text and how far it was matched.
type scanner struct {
	vm.Identity
	p    *Pattern
	span *span
	e    engine
	at   int // -1 after the last match
}

// Type implements vm.Object.
func (s *scanner) Type() *vm.Type { return s.p.types.scanner }

// next is the next match from where the last has ended: there itself, or, if search is set, behind it.
func (s *scanner) next(in *vm.Interp, search bool) (vm.Object, error) {
	if s.at < 0 || s.span.impossible || s.at > s.span.end {
		return vm.None, nil
	}
	start, end, ok := s.at, 0, false
	var err error
	if search {
		start, end, ok, err = s.e.search(s.at)
	} else {
		s.e.reset()
		end, ok, err = s.e.match(s.at)
	}
	if err != nil || !ok {
		s.at = -1
		return vm.None, err
	}
	s.e.advanceFrom(start, end)
	s.at = end
	return s.p.newMatch(s.span, s.e, start, end), nil
}

// Module makes the module _sre.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_sre", "")
	t := newTypes(in)
	for name, v := range map[string]int64{"MAGIC": magic, "CODESIZE": 4, "MAXREPEAT": maxRepeat, "MAXGROUPS": maxGroups - 1} {
		m.Set(name, vm.MakeInt(v))
	}
	m.FuncN("getcodesize", 0, 0, func(*vm.Interp, []vm.Object) (vm.Object, error) { return vm.MakeInt(4), nil })
	char := func(name string, f func(ch uint32) vm.Object) {
		m.FuncN(name, 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
			ch, err := in.Index(a[0])
			if err != nil {
				return nil, err
			}
			return f(uint32(ch)), nil
		})
	}
	char("ascii_iscased", func(ch uint32) vm.Object { return vm.MakeBool(isLetter(ch)) })
	m.FuncN("unicode_iscased", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		ch, err := in.Index(a[0])
		if err != nil || uniLower(uint32(ch)) != uint32(ch) {
			return vm.MakeBool(err == nil), err
		}
		s := vm.Str(string(rune(ch)))
		up, err := in.CallMethod(s, "upper") // of more than one character where one has no upper case of its own
		return vm.MakeBool(up != vm.Object(s)), err
	})
	char("ascii_tolower", func(ch uint32) vm.Object { return vm.MakeInt(int64(asciiLower(ch))) })
	char("unicode_tolower", func(ch uint32) vm.Object { return vm.MakeInt(int64(uniLower(ch))) })
	params := vm.NewParams("compile", "pattern, flags, code, groups, groupindex, indexgroup")
	m.Func("compile", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		return t.compile(in, a)
	})
	return m, nil
}

// compile makes a Pattern of what re/_compiler.py has made.
func (t *types) compile(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	wrong := func(name, want string, o vm.Object) error {
		return in.Errorf(in.Exc.TypeError, "compile() argument '%s' must be %s, not %s", name, want, vm.ArgName(o))
	}
	p := &Pattern{types: t, source: a[0]}
	flags, err := in.Index(a[1])
	if err != nil {
		return nil, err
	}
	list, ok := vm.AsList(a[2])
	if !ok {
		return nil, wrong("code", "list", a[2])
	}
	groups, err := in.Index(a[3])
	if err != nil {
		return nil, err
	}
	if p.groupIndex, ok = vm.AsDict(a[4]); !ok {
		return nil, wrong("groupindex", "dict", a[4])
	}
	index, ok := vm.AsTuple(a[5])
	if !ok {
		return nil, wrong("indexgroup", "tuple", a[5])
	}
	p.flags, p.indexGroup = int(flags), index.Items
	if _, isStr := vm.AsStr(a[0]); isStr {
		p.kind = strPattern
	} else if _, isBytes := vm.AsBytes(a[0]); isBytes {
		p.kind = bytesPattern
	} else if a[0] != vm.None {
		return nil, in.Errorf(in.Exc.TypeError, "expected string or bytes-like object, got '%s'", vm.TypeName(a[0]))
	}
	code := make([]uint32, len(list.Items))
	for i, o := range list.Items {
		n, err := in.Index(o)
		if err != nil {
			return nil, err
		}
		if n < 0 || n > maxRepeat {
			return nil, in.Errorf(in.Exc.OverflowError, "regular expression code size limit exceeded")
		}
		code[i] = uint32(n)
	}
	if groups < 0 || groups > maxGroups {
		return nil, in.Errorf(in.Exc.RuntimeError, "invalid SRE code")
	}
	if p.prog, err = newProgram(code, int(groups)); err != nil {
		return nil, in.Errorf(in.Exc.RuntimeError, "%s", err)
	}
	return p, nil
}

// method makes a method of Go functions that take the receiver in its own type.
func method[T vm.Object](f func(in *vm.Interp, self T, args []vm.Object) (vm.Object, error)) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return f(in, args[0].(T), args[1:])
	}
}

// bound is method for parameters that may go by name.
func bound[T vm.Object](name, sig string, f func(in *vm.Interp, self T, args []vm.Object) (vm.Object, error)) vm.GoFunc {
	params := vm.NewParams(name, sig)
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args[1:], kw)
		if err != nil {
			return nil, err
		}
		return f(in, args[0].(T), a)
	}
}

// attr is a read-only attribute.
func attr[T vm.Object](name string, get func(T) vm.Object) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return get(self.(T)), nil }}
}

// same is __copy__ and __deepcopy__ of what never changes.
func same(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return args[0], nil }

// alias is __class_getitem__.
func alias(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	t, ok := args[1].(*vm.Tuple)
	if !ok {
		t = vm.NewTuple(args[1])
	}
	return &vm.GenericAlias{Origin: args[0], Args: t}, nil
}

// noNew refuses calls of a class.
func noNew(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", cls.FullName())
}

func newTypes(in *vm.Interp) *types {
	t := &types{}
	t.pattern = in.NewNativeType(patternSpec())
	t.match = in.NewNativeType(matchSpec())
	t.scanner = in.NewNativeType(vm.Spec{Strict: true, Name: "SRE_Scanner", Module: "_sre", New: noNew, NoDict: true, Final: true,
		Arity: map[string][2]int{"match": {0, 0}, "search": {0, 0}},
		Methods: map[string]vm.GoFunc{
			"match":  method(func(in *vm.Interp, s *scanner, _ []vm.Object) (vm.Object, error) { return s.next(in, false) }),
			"search": method(func(in *vm.Interp, s *scanner, _ []vm.Object) (vm.Object, error) { return s.next(in, true) }),
		},
		GetSet: []*vm.GetSet{attr("pattern", func(s *scanner) vm.Object { return s.p })}})
	return t
}

// patternSpec describes re.Pattern.
func patternSpec() vm.Spec {
	spanned := func(name string, f func(in *vm.Interp, p *Pattern, s *span) (vm.Object, error)) vm.GoFunc {
		params := vm.NewParams(name, "string, pos=0, endpos=9223372036854775807")
		return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			p := args[0].(*Pattern)
			s, err := p.spanOf(in, params, args[1:], kw)
			if err != nil {
				return nil, err
			}
			return f(in, p, s)
		}
	}
	return vm.Spec{Strict: true, Name: "Pattern", Module: "re", Doc: "Compiled regular expression object.", New: noNew, NoDict: true, Final: true,
		Arity: map[string][2]int{"__copy__": {0, 0}, "__deepcopy__": {1, 1}, "__repr__": {0, 0}, "__eq__": {1, 1}, "__hash__": {0, 0}},
		Methods: map[string]vm.GoFunc{
			"match":     spanned("match", func(in *vm.Interp, p *Pattern, s *span) (vm.Object, error) { return p.matchAt(in, s, false) }),
			"fullmatch": spanned("fullmatch", func(in *vm.Interp, p *Pattern, s *span) (vm.Object, error) { return p.matchAt(in, s, true) }),
			"search":    spanned("search", func(in *vm.Interp, p *Pattern, s *span) (vm.Object, error) { return p.search(in, s) }),
			"findall":   spanned("findall", func(in *vm.Interp, p *Pattern, s *span) (vm.Object, error) { return p.findAll(in, s) }),
			"scanner":   spanned("scanner", func(in *vm.Interp, p *Pattern, s *span) (vm.Object, error) { return p.scan(in, s), nil }),
			"finditer": spanned("finditer", func(in *vm.Interp, p *Pattern, s *span) (vm.Object, error) {
				sc := p.scan(in, s)
				// It is iter(sc.search, None).
				done := false
				return &vm.GoIter{T: vm.CallableIterType, NextFn: func(in *vm.Interp) (vm.Object, error) {
					if done {
						return nil, nil
					}
					m, err := sc.next(in, true)
					if m == vm.None {
						done = true
						return nil, err
					}
					return m, err
				}, Reduce: func(in *vm.Interp, _ *vm.Type) (vm.Object, error) {
					iter, _ := in.Builtins.Dict.GetStr("iter")
					if done {
						return vm.NewTuple(iter, vm.NewTuple(vm.NewTuple())), nil
					}
					search, err := in.GetAttr(sc, "search")
					return vm.NewTuple(iter, vm.NewTuple(search, vm.None)), err
				}}, nil
			}),
			"split": bound("split", "string, maxsplit=0", func(in *vm.Interp, p *Pattern, a []vm.Object) (vm.Object, error) {
				n, err := in.Index(a[1])
				if err != nil {
					return nil, err
				}
				return p.split(in, a[0], n)
			}),
			"sub": bound("sub", "repl, string, count=0", func(in *vm.Interp, p *Pattern, a []vm.Object) (vm.Object, error) {
				n, err := in.Index(a[2])
				if err != nil {
					return nil, err
				}
				v, _, err := p.sub(in, a[0], a[1], n)
				return v, err
			}),
			"subn": bound("subn", "repl, string, count=0", func(in *vm.Interp, p *Pattern, a []vm.Object) (vm.Object, error) {
				n, err := in.Index(a[2])
				if err != nil {
					return nil, err
				}
				v, n, err := p.sub(in, a[0], a[1], n)
				if err != nil {
					return nil, err
				}
				return vm.NewTuple(v, vm.MakeInt(n)), nil
			}),
			"__copy__": same, "__deepcopy__": same,
			"__repr__": method(func(in *vm.Interp, p *Pattern, _ []vm.Object) (vm.Object, error) { return p.repr(in) }),
			"__eq__":   method(func(in *vm.Interp, p *Pattern, a []vm.Object) (vm.Object, error) { return p.equal(in, a[0]) }),
			"__hash__": method(func(in *vm.Interp, p *Pattern, _ []vm.Object) (vm.Object, error) { return p.hash(in) }),
		},
		Class: map[string]vm.GoFunc{"__class_getitem__": alias},
		GetSet: []*vm.GetSet{
			attr("pattern", func(p *Pattern) vm.Object { return p.source }),
			attr("flags", func(p *Pattern) vm.Object { return vm.MakeInt(int64(p.flags)) }),
			attr("groups", func(p *Pattern) vm.Object { return vm.MakeInt(int64(p.prog.groups)) }),
			attr("groupindex", func(p *Pattern) vm.Object { return groupIndex(p) }),
		}}
}

// scan begins to walk through a text.
func (p *Pattern) scan(in *vm.Interp, s *span) *scanner {
	return &scanner{p: p, span: s, e: p.engine(in, s, false), at: s.pos}
}

// matchSpec describes re.Match.
func matchSpec() vm.Spec {
	place := func(f func(from, to vm.Object) vm.Object) vm.GoFunc {
		return method(func(in *vm.Interp, m *Match, a []vm.Object) (vm.Object, error) {
			from, to, err := m.bounds(in, a)
			if err != nil {
				return nil, err
			}
			return f(from, to), nil
		})
	}
	return vm.Spec{Strict: true, Name: "Match", Module: "re", ByKey: true, Doc: "The result of re.match() and re.search().\nMatch objects always have a boolean value of True.",
		New: noNew, NoDict: true, Final: true,
		Arity: map[string][2]int{"group": {0, 1 << 30}, "start": {0, 1}, "end": {0, 1}, "span": {0, 1}, "__getitem__": {1, 1}, "__copy__": {0, 0}, "__deepcopy__": {1, 1}, "__repr__": {0, 0}},
		Methods: map[string]vm.GoFunc{
			"group":       method(func(in *vm.Interp, m *Match, a []vm.Object) (vm.Object, error) { return m.groupMethod(in, a) }),
			"__getitem__": method(func(in *vm.Interp, m *Match, a []vm.Object) (vm.Object, error) { return m.getItem(in, a[0]) }),
			"groups": bound("groups", "default=None", func(_ *vm.Interp, m *Match, a []vm.Object) (vm.Object, error) {
				return vm.NewTuple(groupsOf(m.text, m.marks[2:], a[0])...), nil
			}),
			"groupdict": bound("groupdict", "default=None", func(in *vm.Interp, m *Match, a []vm.Object) (vm.Object, error) { return m.groupDict(in, a[0]) }),
			"start":     place(func(from, _ vm.Object) vm.Object { return from }),
			"end":       place(func(_, to vm.Object) vm.Object { return to }),
			"span":      place(func(from, to vm.Object) vm.Object { return vm.NewTuple(from, to) }),
			"expand": bound("expand", "template", func(in *vm.Interp, m *Match, a []vm.Object) (vm.Object, error) {
				return callRe(in, "_expand", m.p, m, a[0])
			}),
			"__copy__": same, "__deepcopy__": same,
			"__repr__": method(func(in *vm.Interp, m *Match, _ []vm.Object) (vm.Object, error) { return m.repr(in) }),
		},
		Class: map[string]vm.GoFunc{"__class_getitem__": alias},
		GetSet: []*vm.GetSet{
			attr("string", func(m *Match) vm.Object { return m.text.obj }),
			attr("re", func(m *Match) vm.Object { return m.p }),
			attr("pos", func(m *Match) vm.Object { return vm.MakeInt(int64(m.pos)) }),
			attr("endpos", func(m *Match) vm.Object { return vm.MakeInt(int64(m.end)) }),
			attr("lastindex", func(m *Match) vm.Object {
				if m.lastIndex == 0 {
					return vm.None
				}
				return vm.MakeInt(int64(m.lastIndex))
			}),
			attr("lastgroup", (*Match).lastGroup),
			attr("regs", (*Match).regs),
		}}
}

// groupIndex is the groups' names and numbers, read-only; an empty dict of the caller's own where no group has a name.
func groupIndex(p *Pattern) vm.Object {
	if p.groupIndex.Len() == 0 {
		return vm.NewDict()
	}
	return &vm.MappingProxy{M: p.groupIndex}
}
