package vm

// Exception groups, and what except* does with them.

// groupMembers are the exceptions in a group.
func groupMembers(e *Exception) []Object {
	if t, ok := e.Field("exceptions").(*Tuple); ok {
		return t.Items
	}
	return nil
}

// groupNew is BaseExceptionGroup.__new__(message, exceptions).
func groupNew(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
	if len(kw) > 0 && cls == in.Exc.BaseExceptionGroup {
		return nil, in.Errorf(in.Exc.TypeError, "BaseExceptionGroup() takes no keyword arguments")
	}
	if len(args) != 2 {
		return nil, in.Errorf(in.Exc.TypeError, "BaseExceptionGroup.__new__() takes exactly 2 arguments (%d given)", len(args))
	}
	if _, ok := AsStr(args[0]); !ok {
		return nil, in.Errorf(in.Exc.TypeError, "BaseExceptionGroup.__new__() argument 1 must be str, not %s", ArgName(args[0]))
	}
	if t := args[1].Type(); t.Lookup("__getitem__") == nil || unwrapDict(args[1]) {
		return nil, in.Errorf(in.Exc.TypeError, "second argument (exceptions) must be a sequence")
	}
	items, err := in.IterAll(args[1])
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, in.Errorf(in.Exc.ValueError, "second argument (exceptions) must be a non-empty sequence")
	}
	base := false
	for i, it := range items {
		e, ok := it.(*Exception)
		if !ok {
			return nil, in.Errorf(in.Exc.ValueError, "Item %d of second argument (exceptions) is not an exception", i)
		}
		base = base || !e.Class.IsSubtype(in.Exc.Exception)
	}
	switch {
	case cls == in.Exc.BaseExceptionGroup && !base:
		cls = in.Exc.ExceptionGroup
	case cls == in.Exc.ExceptionGroup && base:
		return nil, in.Errorf(in.Exc.TypeError, "Cannot nest BaseExceptions in an ExceptionGroup")
	case base && cls.IsSubtype(in.Exc.Exception):
		return nil, in.Errorf(in.Exc.TypeError, "Cannot nest BaseExceptions in '%s'", cls.Name)
	}
	e := &Exception{Class: cls, Args: NewTuple(args[0], args[1])}
	e.SetField("message", args[0])
	e.SetField("exceptions", NewTuple(append([]Object(nil), items...)...))
	return e, nil
}

func unwrapDict(o Object) bool {
	_, ok := unwrap(o).(*Dict)
	return ok
}

// newGroup makes a group of exceptions as the class BaseExceptionGroup would.
func newGroup(in *Interp, message Object, members []Object) (*Exception, error) {
	o, err := groupNew(in, in.Exc.BaseExceptionGroup, []Object{message, NewList(members...)}, nil)
	if err != nil {
		return nil, err
	}
	return o.(*Exception), nil
}

// derive makes a group of some members of e, by its class's derive, which stands where e stands.
func (e *Exception) derive(in *Interp, members []Object) (*Exception, error) {
	o, err := in.CallMethod(e, "derive", NewList(members...))
	if err != nil {
		return nil, err
	}
	g, ok := o.(*Exception)
	if !ok || !g.Class.IsSubtype(in.Exc.BaseExceptionGroup) {
		return nil, in.Errorf(in.Exc.TypeError, "derive must return an instance of BaseExceptionGroup")
	}
	g.Traceback, g.Context, g.Cause, g.Suppress = e.Traceback, e.Context, e.Cause, e.Suppress
	if n, ok := e.Dict.GetStr("__notes__"); ok && n.Type().Lookup("__getitem__") != nil && !unwrapDict(n) {
		notes, err := in.IterAll(n)
		if err != nil {
			return nil, err
		}
		g.AttrDict(true).SetStr("__notes__", NewList(append([]Object(nil), notes...)...))
	}
	return g, nil
}

// split parts e into what picks takes and what it leaves; either may be nil.
func (e *Exception) split(in *Interp, picks func(e *Exception) (bool, error)) (match, rest *Exception, err error) {
	ok, err := picks(e)
	switch {
	case err != nil:
		return nil, nil, err
	case ok:
		return e, nil, nil
	case !e.Class.IsSubtype(in.Exc.BaseExceptionGroup):
		return nil, e, nil
	}
	var yes, no []Object
	err = in.Guard(func() error {
		for _, m := range groupMembers(e) {
			sub, ok := m.(*Exception)
			if !ok {
				continue
			}
			a, b, err := sub.split(in, picks)
			if err != nil {
				return err
			}
			if a != nil {
				yes = append(yes, a)
			}
			if b != nil {
				no = append(no, b)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(yes) > 0 {
		if match, err = e.derive(in, yes); err != nil {
			return nil, nil, err
		}
	}
	if len(no) > 0 {
		rest, err = e.derive(in, no)
	}
	return match, rest, err
}

// picker is the condition of split and subgroup: classes or a function.
func picker(in *Interp, cond Object) (func(e *Exception) (bool, error), error) {
	isExc := func(o Object) bool {
		t, ok := o.(*Type)
		return ok && t.IsSubtype(in.Exc.BaseException)
	}
	byClass := isExc(cond)
	if t, ok := AsTuple(cond); ok {
		byClass = true
		for _, c := range t.Items {
			byClass = byClass && isExc(c)
		}
		cond = t
	}
	if byClass {
		return func(e *Exception) (bool, error) { return excMatches(in, e, cond) }, nil
	}
	switch cond.(type) {
	case *Function, *Builtin, *BoundMethod:
		return func(e *Exception) (bool, error) {
			v, err := in.Call(cond, []Object{e}, nil)
			if err != nil {
				return false, err
			}
			return in.Truth(v)
		}, nil
	}
	return nil, in.Errorf(in.Exc.TypeError, "expected a function, exception type or tuple of exception types")
}

// initExceptionGroups gives groups their methods.
func initExceptionGroups() {
	b := excTypes.BaseExceptionGroup
	addNew(b)
	method := func(name string, fn func(in *Interp, e *Exception, arg Object) (Object, error)) {
		addMethod(b, name, 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			e, err := excSelf(in, args[0])
			if err != nil {
				return nil, err
			}
			return fn(in, e, args[1])
		})
	}
	orNone := func(e *Exception) Object {
		if e == nil {
			return None
		}
		return e
	}
	method("derive", func(in *Interp, e *Exception, members Object) (Object, error) {
		return groupNew(in, in.Exc.BaseExceptionGroup, []Object{e.Field("message"), members}, nil)
	})
	method("split", func(in *Interp, e *Exception, cond Object) (Object, error) {
		picks, err := picker(in, cond)
		if err != nil {
			return nil, err
		}
		match, rest, err := e.split(in, picks)
		return NewTuple(orNone(match), orNone(rest)), err
	})
	method("subgroup", func(in *Interp, e *Exception, cond Object) (Object, error) {
		picks, err := picker(in, cond)
		if err != nil {
			return nil, err
		}
		match, _, err := e.split(in, picks)
		return orNone(match), err
	})
	addClass(b, "__class_getitem__", genericAlias)
}

// starMatch parts what an except* clause of a class takes from what it leaves to the next; None stands for nothing. An
// exception that is no group is handed over in one.
func starMatch(in *Interp, exc, class Object) (match, rest Object, err error) {
	classes := []Object{class}
	if t, ok := class.(*Tuple); ok {
		classes = t.Items
	}
	for _, c := range classes {
		t, ok := c.(*Type)
		if !ok || !t.IsSubtype(in.Exc.BaseException) {
			return nil, nil, in.Errorf(in.Exc.TypeError, "catching classes that do not inherit from BaseException is not allowed")
		}
		if t.IsSubtype(in.Exc.BaseExceptionGroup) {
			return nil, nil, in.Errorf(in.Exc.TypeError, "catching ExceptionGroup with except* is not allowed. Use except instead.")
		}
	}
	e, ok := exc.(*Exception)
	if !ok {
		return None, None, nil
	}
	m, r, err := e.split(in, func(e *Exception) (bool, error) { return excMatches(in, e, class) })
	if err != nil {
		return nil, nil, err
	}
	match, rest = None, None
	if m != nil {
		match = m
		if !m.Class.IsSubtype(in.Exc.BaseExceptionGroup) {
			g, err := groupNew(in, in.Exc.BaseExceptionGroup, []Object{Str(""), NewTuple(m)}, nil)
			if err != nil {
				return nil, nil, err
			}
			match = g
		}
	}
	if r != nil {
		rest = r
	}
	return match, rest, nil
}

// starRaise is what a try with except* raises in the end: what its clauses raised, together with what they raised again or
// did not take of the exception as it came. None: nothing.
func starRaise(in *Interp, orig Object, left []Object) (Object, error) {
	o := orig.(*Exception)
	var raised, again []Object
	keep := map[*Exception]bool{}
	for _, l := range left {
		e, ok := l.(*Exception)
		if !ok {
			continue
		}
		if !o.Class.IsSubtype(in.Exc.BaseExceptionGroup) {
			return e, nil // one clause at most has run
		}
		if e.Traceback == o.Traceback && e.Context == o.Context && e.Cause == o.Cause {
			again = append(again, e)
			e.leaves(keep)
		} else {
			raised = append(raised, e)
		}
	}
	if len(again) > 0 {
		m, _, err := o.split(in, func(e *Exception) (bool, error) { return keep[e], nil })
		if err != nil {
			return nil, err
		}
		if m != nil {
			if len(raised) == 0 {
				return m, nil
			}
			raised = append(raised, m)
		}
	}
	switch len(raised) {
	case 0:
		return None, nil
	case 1:
		return raised[0], nil
	}
	return newGroup(in, Str(""), raised)
}

// leaves notes the exceptions in a group that are no groups.
func (e *Exception) leaves(out map[*Exception]bool) {
	if !e.Class.IsSubtype(excTypes.BaseExceptionGroup) {
		out[e] = true
		return
	}
	for _, m := range groupMembers(e) {
		if sub, ok := m.(*Exception); ok {
			sub.leaves(out)
		}
	}
}
