package capture

import (
	"fmt"
	"strconv"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// mismatch is the break at a call of a function that its arguments do not fit. PyTorch binds the arguments of what it looks into by
// inspect.Signature.bind, whose words the reason has; plain Python makes the call again and raises its own error, which is wrong.
func (tr *tracer) mismatch(f *vm.Function, args []vm.Object, kw []vm.KwArg, wrong error) error {
	why := unbound(f, len(args), kw)
	if why == "" || tr.d.IsLibrary(f.Code.Filename) {
		return wrong
	}
	classes := make([]string, len(args))
	for i, a := range args {
		classes[i] = pythonType(a)
	}
	return argsMismatch(why, f, classes, tr.keywordNames(kw))
}

// argsMismatch is the break at a call whose arguments, of these classes, do not fit a function.
func argsMismatch(why string, f *vm.Function, classes []string, keywords string) error {
	return unsupported(breaks.ArgsMismatch, why, f.Name, f.Code.Filename, strconv.Itoa(int(f.Code.FirstLine)), strings.Join(classes, ", "), keywords)
}

// pythonType is the class of an argument as a list of classes shows it.
func pythonType(o vm.Object) string {
	t := o.Type()
	if p, ok := o.(*torch.Tensor); ok && p.Type().Name == "Parameter" {
		return "<class 'torch.nn.parameter.Parameter'>"
	}
	return "<class '" + strings.TrimPrefix(t.FullName(), "builtins.") + "'>"
}

// unbound says in the words of inspect.Signature.bind why a function cannot be called with n arguments by position and kw by name; "" where it can.
// The first parameter that is wrong is named, in the order of the signature: those by position first.
func unbound(f *vm.Function, n int, kw []vm.KwArg) string {
	c := f.Code
	byName := map[string]bool{}
	for _, k := range kw {
		byName[k.Name] = true
	}
	varargs, varkw := c.Flags&code.VarArgs != 0, c.Flags&code.VarKeywords != 0
	if n > c.ArgCount && !varargs {
		for i := c.PosOnly; i < c.ArgCount; i++ {
			if byName[c.VarNames[i]] {
				return fmt.Sprintf("multiple values for argument '%s'", c.VarNames[i])
			}
		}
		return "too many positional arguments"
	}
	for i := range c.ArgCount {
		name := c.VarNames[i]
		switch {
		case i < n && i >= c.PosOnly && byName[name]:
			return fmt.Sprintf("multiple values for argument '%s'", name)
		case i < n:
		case i >= c.PosOnly && byName[name]:
			delete(byName, name)
		case i < c.ArgCount-len(f.Defaults):
			kind := ""
			if i < c.PosOnly && byName[name] {
				kind = " positional-only"
			}
			return fmt.Sprintf("missing a required%s argument: '%s'", kind, name)
		}
	}
	for _, name := range c.VarNames[c.ArgCount : c.ArgCount+c.KwOnly] {
		set := false
		if f.KwDefaults != nil {
			_, set = f.KwDefaults.GetStr(name)
		}
		if !byName[name] && !set {
			return fmt.Sprintf("missing a required keyword-only argument: '%s'", name)
		}
		delete(byName, name)
	}
	for _, k := range kw {
		if byName[k.Name] && !varkw {
			return fmt.Sprintf("got an unexpected keyword argument '%s'", k.Name)
		}
	}
	return ""
}
