package vm

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/python/code"
)

// bind puts call arguments into locals, the slots of the function's parameters: positional ones first, in the order of VarNames, then *args,
// then **kwargs. locals is unbound at first, and a nil slot means "not given" until the defaults fill it. What is wrong is found in
// CPython's order, as the first mistake is the one that is reported: keywords, then too many positional arguments, then what is missing.
func (fn *Function) bind(in *Interp, locals []Object, args []Object, kw []KwArg) error {
	if c := fn.Code; c.simple && len(kw) == 0 && len(args) == c.ArgCount {
		copy(locals, args)
		return nil
	}
	err := fn.bindAll(in, locals, args, kw)
	if err != nil && in.BindHook != nil {
		return in.BindHook(fn, slices.Clone(args), slices.Clone(kw), err)
	}
	return err
}

// bindAll is bind for any arguments.
func (fn *Function) bindAll(in *Interp, locals []Object, args []Object, kw []KwArg) error {
	c := fn.Code
	if c.broken != nil {
		return in.Errorf(in.Exc.SystemError, "%s cannot run: %v", c.Name, c.broken)
	}
	n := c.ArgCount
	total := n + c.KwOnly
	pos := min(len(args), n)
	copy(locals, args[:pos])
	varargs := c.Flags&code.VarArgs != 0
	slot := total
	if varargs {
		if len(args) > n {
			locals[slot] = NewTuple(slices.Clone(args[n:])...)
		} else {
			locals[slot] = emptyTuple
		}
		slot++
	}
	var extra *Dict // what no parameter takes
	if len(kw) > 0 {
	next:
		for j, k := range kw {
			for i := c.PosOnly; i < total; i++ {
				if c.VarNames[i] == k.Name {
					if locals[i] != nil {
						return in.Errorf(in.Exc.TypeError, "%s() got multiple values for argument '%s'", fn.Qualname, k.Name)
					}
					locals[i] = k.Value
					continue next
				}
			}
			if c.Flags&code.VarKeywords != 0 {
				if extra == nil {
					extra = newDict(len(kw) - j)
				}
				extra.SetStr(k.Name, k.Value)
				continue
			}
			var posonly []string
			for _, q := range kw {
				if i := slices.Index(c.VarNames[:c.PosOnly], q.Name); i >= 0 {
					posonly = append(posonly, q.Name)
				}
			}
			if len(posonly) > 0 {
				return in.Errorf(in.Exc.TypeError, "%s() got some positional-only arguments passed as keyword arguments: '%s'", fn.Qualname, strings.Join(posonly, ", "))
			}
			return in.Errorf(in.Exc.TypeError, "%s() got an unexpected keyword argument '%s'", fn.Qualname, k.Name)
		}
	}
	if c.Flags&code.VarKeywords != 0 {
		if extra == nil {
			extra = NewDict()
		}
		locals[slot] = extra
	}
	if len(args) > n && !varargs {
		return fn.tooMany(in, len(args), locals)
	}
	if len(args) < n {
		first := n - len(fn.Defaults)
		var missing []string
		for i := range n {
			if locals[i] == nil {
				if i >= first {
					locals[i] = fn.Defaults[i-first]
				} else {
					missing = append(missing, c.VarNames[i])
				}
			}
		}
		if len(missing) > 0 {
			return fn.missing(in, "positional", missing)
		}
	}
	if c.KwOnly > 0 {
		var missing []string
		for i := n; i < total; i++ {
			if locals[i] != nil {
				continue
			}
			if d, ok := fn.KwDefaults.GetStr(c.VarNames[i]); ok {
				locals[i] = d
			} else {
				missing = append(missing, c.VarNames[i])
			}
		}
		if len(missing) > 0 {
			return fn.missing(in, "keyword-only", missing)
		}
	}
	return nil
}

// missing is the TypeError for parameters without an argument, whose names it lists as English does.
func (fn *Function) missing(in *Interp, kind string, names []string) error {
	for i := range names {
		names[i] = "'" + names[i] + "'"
	}
	s := ""
	switch len(names) {
	case 1:
		s = names[0]
	case 2:
		s = names[0] + " and " + names[1]
	default:
		s = strings.Join(names[:len(names)-1], ", ") + ", and " + names[len(names)-1]
	}
	pl := "s"
	if len(names) == 1 {
		pl = ""
	}
	return in.Errorf(in.Exc.TypeError, "%s() missing %d required %s argument%s: %s", fn.Qualname, len(names), kind, pl, s)
}

// tooMany is the TypeError for more positional arguments than parameters. It says how many the function takes, at least and at most if there
// are defaults, and counts keyword-only arguments that were given, too.
func (fn *Function) tooMany(in *Interp, given int, locals []Object) error {
	c := fn.Code
	n := c.ArgCount
	takes := fmt.Sprint(n)
	plural := n != 1
	if d := len(fn.Defaults); d > 0 {
		takes = fmt.Sprintf("from %d to %d", n-d, n)
		plural = true
	}
	s := ""
	if plural {
		s = "s"
	}
	kwGiven := 0
	for i := n; i < n+c.KwOnly; i++ {
		if locals[i] != nil {
			kwGiven++
		}
	}
	was := "were"
	if given == 1 && kwGiven == 0 {
		was = "was"
	}
	extra := ""
	if kwGiven > 0 {
		p1, p2 := "s", "s"
		if given == 1 {
			p1 = ""
		}
		if kwGiven == 1 {
			p2 = ""
		}
		extra = fmt.Sprintf(" positional argument%s (and %d keyword-only argument%s)", p1, kwGiven, p2)
	}
	return in.Errorf(in.Exc.TypeError, "%s() takes %s positional argument%s but %d%s %s given", fn.Qualname, takes, s, given, extra, was)
}
