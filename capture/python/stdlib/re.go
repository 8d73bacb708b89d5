package stdlib

import (
	"errors"
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"whittle/capture/python/vm"
)

// compiled is a pattern ready to match; lib/re.py wraps it. Its forms for other kinds of matching are made when they are asked for.
type compiled struct {
	text   string
	opt    regexp2.RegexOptions
	groups int
	forms  [4]*regexp2.Regexp
}

// The kinds of matching: anywhere, at a place, of all the rest, anywhere but not empty at the place where the search begins.
const (
	reSearch = iota
	reMatch
	reFull
	reAdvance
)

func (c *compiled) form(mode int) (*regexp2.Regexp, error) {
	if c.forms[mode] != nil {
		return c.forms[mode], nil
	}
	text := c.text
	switch mode {
	case reMatch:
		text = `\G(?:` + text + ")"
	case reFull:
		text = `\G(?:` + text + `)\z`
	case reAdvance:
		text = "(?:" + text + `)(?!\G)`
	}
	re, err := regexp2.Compile(text, c.opt)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = 10 * time.Minute
	c.forms[mode] = re
	return re, nil
}

// reModule gives compile(pattern, flags, isbytes) -> (handle, flags, names) or (message, position), and
// search(handle, text, pos, endpos, mode) -> spans or None. Offsets are in characters.
func reModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_re", "")
	handle := in.NewNativeType(vm.Spec{Name: "handle", Module: "_re"})
	m.FuncN("compile", 3, 3, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		flags, _ := vm.AsInt(args[1])
		isBytes, err := in.Truth(args[2])
		if err != nil {
			return nil, err
		}
		text, order, all, err := parseRegexp(str(args[0]), int(flags), isBytes)
		var wrong *reError
		if errors.As(err, &wrong) {
			return vm.NewTuple(vm.Str(wrong.msg), vm.MakeInt(int64(wrong.pos))), nil
		}
		c := &compiled{text: text, groups: len(order)}
		if all&reIgnoreCase != 0 {
			c.opt |= regexp2.IgnoreCase
		}
		if _, err := c.form(reSearch); err != nil {
			return vm.NewTuple(vm.Str(strings.TrimPrefix(err.Error(), "error parsing regexp: ")), vm.MakeInt(-1)), nil
		}
		names := &vm.List{}
		for _, n := range order {
			if n == "" {
				names.Items = append(names.Items, vm.None)
			} else {
				names.Items = append(names.Items, vm.Str(n))
			}
		}
		return vm.NewTuple(vm.NewInstance(handle, c), vm.MakeInt(int64(all)), names), nil
	})
	// The text that was looked through last, as walking through its matches asks for it again and again.
	var last string
	var runes []rune
	m.FuncN("search", 5, 5, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		i, ok := args[0].(*vm.Instance)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "not a compiled pattern")
		}
		c, ok := i.Native.(*compiled)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "not a compiled pattern")
		}
		text := str(args[1])
		pos, _ := vm.AsInt(args[2])
		end, _ := vm.AsInt(args[3])
		mode, _ := vm.AsInt(args[4])
		if text != last || runes == nil {
			last, runes = text, []rune(text)
		}
		rs := runes[:max(0, min(int(end), len(runes)))]
		if int(pos) > len(rs) || mode < 0 || mode > reAdvance {
			return vm.None, nil
		}
		re, err := c.form(int(mode))
		if err != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "regular expression: %v", err)
		}
		mt, err := re.FindRunesMatchStartingAt(rs, int(max(pos, 0)))
		if err != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "regular expression: %v", err)
		}
		if mt == nil {
			return vm.None, nil
		}
		out := make([]vm.Object, 0, 2*(c.groups+1))
		out = append(out, vm.MakeInt(int64(mt.Index)), vm.MakeInt(int64(mt.Index+mt.Length)))
		for n := range c.groups {
			if g := mt.GroupByNumber(n + 1); g == nil || len(g.Captures) == 0 {
				out = append(out, vm.MakeInt(-1), vm.MakeInt(-1))
			} else {
				out = append(out, vm.MakeInt(int64(g.Index)), vm.MakeInt(int64(g.Index+g.Length)))
			}
		}
		return vm.NewTuple(out...), nil
	})
	return m, nil
}
