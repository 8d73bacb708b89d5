package torch

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// What is said about a call of a torch function or method whose arguments fit none of its signatures. With one signature, or only one that takes as
// many arguments, the first argument at fault is named; else all signatures are listed.

// pythonCall is a call as its caller wrote it; a method's self is not among the arguments.
type pythonCall struct {
	t      *Torch
	name   string
	method bool
	self   vm.Object // of a method
	args   []vm.Object
	kw     []vm.KwArg
}

// numbersForTensors are the functions that take a number where they take a tensor.
var numbersForTensors = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("add sub mul div true_divide floor_divide divide multiply subtract to_dense") {
		m[n], m[n+"_"] = true, true
	}
	m["copy_"] = true
	return m
}()

// takesNothing are the methods without parameters that have no schema.
var takesNothing = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("dim ndimension numel nelement tolist element_size data_ptr storage_offset") {
		m[n] = true
	}
	return m
}()

// argumentError is the TypeError of a call; nil where all arguments seem fine, and for functions without signatures.
func (c pythonCall) argumentError() error {
	sigs := aten.Signatures(c.name, c.method)
	if len(sigs) == 0 {
		return nil
	}
	n := len(c.args) + len(c.kw)
	if len(sigs) == 1 && !aten.Deprecated(c.name) {
		if c.method && len(sigs[0].Params) == 0 {
			return c.noArguments()
		}
		if err := c.misfit(sigs[0]); err != nil {
			return err
		}
		return c.unpacked(sigs[0])
	}
	for _, s := range sigs {
		if c.misfit(s) == nil {
			if err := c.unpacked(s); err != nil {
				return err
			}
			return c.named(s)
		}
	}
	plausible := slices.DeleteFunc(slices.Clone(sigs), func(s aten.Signature) bool { return n < s.Min() || n > len(s.Params) })
	if len(plausible) == 1 {
		if err := c.misfit(plausible[0]); err != nil {
			return err
		}
	}
	return c.listed(sigs)
}

// checked makes a method that is written by hand refuse what its signature does not take; of one with several signatures, only as many
// arguments as none takes.
func (t *Torch) checked(name string, f vm.GoFunc) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		sigs := aten.Signatures(name, true)
		if len(args) == 0 || len(sigs) == 0 && !takesNothing[name] {
			return f(in, args, kw)
		}
		c := pythonCall{t, name, true, args[0], args[1:], kw}
		if takesNothing[name] {
			if len(c.args)+len(kw) > 0 {
				return nil, c.noArguments()
			}
			return f(in, args, kw)
		}
		n, takes := len(c.args)+len(kw), false
		for _, s := range sigs {
			takes = takes || n >= s.Min() && n <= len(s.Params)
		}
		for _, s := range sigs {
			if c.misfit(s) == nil {
				if err := c.named(s); err != nil {
					return nil, err
				}
				break
			}
		}
		if !takes || len(sigs) == 1 && c.misfit(sigs[0]) != nil {
			return nil, c.argumentError()
		}
		return f(in, args, kw)
	}
}

// named is the error of a dimension given by name: no tensor here has names.
func (c pythonCall) named(s aten.Signature) error {
	if !slices.ContainsFunc(s.Params, func(p aten.Param) bool { return p.Type.Base == "Dimname" }) {
		return nil
	}
	if notByName[c.name] {
		return c.t.In.Errorf(c.t.In.Exc.RuntimeError, "%s: You passed a dimname (string) to this op in place of a dimension index but it does not yet support this behavior. Please pass a dimension index to work around this.", c.name)
	}
	self := c.self
	args := c.args
	if self == nil && len(args) > 0 {
		self, args = args[0], args[1:]
	}
	x, ok := self.(*Tensor)
	if !ok {
		return nil
	}
	for _, k := range c.kw {
		args = append(slices.Clone(args), k.Value)
	}
	for _, a := range slices.Backward(args) { // as they are read in C++
		items, isList := sequence(a)
		if !isList {
			items = []vm.Object{a}
		}
		for _, o := range items {
			if name, ok := vm.AsStr(o); ok {
				none := strings.TrimSuffix(strings.Repeat("None, ", x.T.Dim()), ", ")
				return c.t.In.Errorf(c.t.In.Exc.RuntimeError, "Name '%s' not found in Tensor[%s].", name, none)
			}
		}
	}
	return nil
}

// notByName are the functions whose overloads for names are not there, in PyTorch, either.
var notByName = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields("all any argsort sort") {
		m[n] = true
	}
	return m
}()

// numpyNames gives keywords in numpy's spelling their names here: axis is dim.
func (c pythonCall) numpyNames() {
	sigs := aten.Signatures(c.name, c.method)
	has := func(name string) bool {
		return slices.ContainsFunc(sigs, func(s aten.Signature) bool {
			return slices.ContainsFunc(s.Params, func(p aten.Param) bool { return p.Name == name })
		})
	}
	for i, k := range c.kw {
		for _, pair := range [][2]string{{"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "input"}, {"x1", "input"}, {"x2", "other"}} {
			if k.Name == pair[0] && !has(pair[0]) && has(pair[1]) {
				c.kw[i].Name = pair[1]
			}
		}
	}
}

func (c pythonCall) fail(format string, a ...any) error {
	return c.t.In.Errorf(c.t.In.Exc.TypeError, "%s() "+format, append([]any{c.name}, a...)...)
}

// noArguments is said of a method without parameters, by Python rather than by torch.
func (c pythonCall) noArguments() error {
	if len(c.kw) > 0 {
		return c.t.In.Errorf(c.t.In.Exc.TypeError, "TensorBase.%s() takes no keyword arguments", c.name)
	}
	return c.t.In.Errorf(c.t.In.Exc.TypeError, "TensorBase.%s() takes no arguments (%d given)", c.name, len(c.args))
}

// misfit names what does not fit a signature; nil if all does.
func (c pythonCall) misfit(s aten.Signature) error {
	args, most := c.args, s.Positional()
	// x.view(2, 3): the arguments are the list.
	spread := most == 1 && len(s.Params) > 0 && s.Params[0].Type.List && strings.HasSuffix(s.Params[0].Type.Base, "nt") && !s.Params[0].Type.ElemOpt
	if len(args) > most && !spread {
		return c.tooMany(s, most)
	}
	at, used := 0, 0
	for i, p := range s.Params {
		var o vm.Object
		named := false
		switch {
		case !p.KwOnly && at < len(args):
			o = args[at]
		default:
			for _, k := range c.kw {
				if k.Name == p.Name {
					o, named = k.Value, true
					used++
				}
			}
		}
		if o == nil {
			if p.Required() {
				return c.missing(s, i)
			}
			continue
		}
		place := at
		if !named {
			at++
		}
		if o == vm.None && (p.Type.Optional || p.Default == "None") {
			continue
		}
		bad, ok := c.fits(p, o)
		if ok && !(spread && i == 0 && !named && len(args) > 1) {
			continue
		}
		if spread && i == 0 && !named {
			if _, isList := sequence(o); !isList || len(args) > 1 {
				at = len(args)
				if bad, ok = c.fits(p, vm.NewTuple(args...)); ok {
					continue
				}
				o = vm.NewTuple(args...)
			}
		}
		if named {
			return c.t.In.Errorf(c.t.In.Exc.TypeError, "%s(): argument '%s' must be %s, not %s", c.name, p.Name, p.TypeName(), typeName(o))
		}
		head := fmt.Sprintf("%s(): argument '%s' (position %d) must be %s", c.name, p.Name, place+1, p.TypeName())
		if items, isList := sequence(o); isList && bad >= 0 {
			if c.t.IsFace(items[bad]) { // a number of numpy, which only a run knows
				return &DataDependent{Op: "aten._local_scalar_dense.default"}
			}
			return c.t.In.Errorf(c.t.In.Exc.TypeError, "%s, but found element of type %s at pos %d", head, typeName(items[bad]), bad)
		}
		return c.t.In.Errorf(c.t.In.Exc.TypeError, "%s, not %s", head, typeName(o))
	}
	if used < len(c.kw) {
		return c.unexpected(s, at)
	}
	return nil
}

func (c pythonCall) tooMany(s aten.Signature, most int) error {
	were := "were"
	if len(c.args) == 1 {
		were = "was"
	}
	// What must be given by name counts, too.
	least := s.Min()
	if least != most {
		return c.fail("takes from %d to %d positional arguments but %d were given", least, most, len(c.args))
	}
	plural := "s"
	if most == 1 {
		plural = ""
	}
	return c.fail("takes %d positional argument%s but %d %s given", most, plural, len(c.args), were)
}

func (c pythonCall) missing(s aten.Signature, from int) error {
	var names []string
	for i, p := range s.Params[from:] {
		if p.Required() && from+i >= len(c.args) {
			names = append(names, `"`+p.Name+`"`)
		}
	}
	plural := ""
	if len(names) == 1 { // PyTorch has it the other way round
		plural = "s"
	}
	return c.fail("missing %d required positional argument%s: %s", len(names), plural, strings.Join(names, ", "))
}

// unexpected is said of keywords that no parameter took; positional is how many parameters took other arguments.
func (c pythonCall) unexpected(s aten.Signature, positional int) error {
	for _, k := range c.kw {
		i := slices.IndexFunc(s.Params, func(p aten.Param) bool { return p.Name == k.Name })
		if i < 0 {
			return c.fail("got an unexpected keyword argument '%s'", k.Name)
		}
		if i < positional {
			return c.fail("got multiple values for argument '%s'", k.Name)
		}
	}
	return c.fail("invalid keyword arguments")
}

// fits says whether a parameter takes a value; of a list, bad is the first item that it does not take, -1 if it is no list.
func (c pythonCall) fits(p aten.Param, o vm.Object) (bad int, ok bool) {
	if !p.Type.List {
		return -1, c.fitsOne(p.Type.Base, o)
	}
	items, isList := sequence(o)
	if !isList {
		base := p.Type.Base
		if base == "SymInt" {
			base = "int" // one number for all is none of a tensor with dimensions
		}
		return -1, p.Type.Size > 0 && base != "Tensor" && c.fitsOne(base, o)
	}
	for i, x := range items {
		if i > 0 && strings.HasSuffix(p.Type.Base, "nt") || p.Type.Base == "Tensor" {
			break // the rest is looked at when it is taken out: see unpacked
		}
		if !c.fitsItem(p.Type.Base, x) && !(x == vm.None && p.Type.ElemOpt) {
			return i, false
		}
	}
	return -1, true
}

// unpacked is the error of a list of integers or tensors that begins with one, and goes on with something else.
func (c pythonCall) unpacked(s aten.Signature) error {
	at := 0
	for n, p := range s.Params {
		var o vm.Object
		if !p.KwOnly && at < len(c.args) {
			o = c.args[at]
			at++
		}
		for _, k := range c.kw {
			if k.Name == p.Name {
				o = k.Value
			}
		}
		ofTensors := p.Type.Base == "Tensor"
		if o == nil || !p.Type.List || !strings.HasSuffix(p.Type.Base, "nt") && !ofTensors {
			continue
		}
		items, ok := sequence(o)
		if !ok {
			if _, fits := c.fits(p, o); fits {
				continue // one number for all
			}
			items = c.args
		}
		for i, x := range items {
			if ofTensors && !c.fitsOne("Tensor", x) && !(x == vm.None && p.Type.ElemOpt) {
				return c.t.In.Errorf(c.t.In.Exc.TypeError, "expected Tensor as element %d in argument %d, but got %s", i, n, typeName(x))
			}
			if !ofTensors && !c.fitsItem(p.Type.Base, x) {
				return c.t.In.Errorf(c.t.In.Exc.TypeError, "%s(): argument '%s' failed to unpack the object at pos %d with error \"type must be tuple of ints,but got %s\"", c.name, p.Name, i+1, typeName(x))
			}
		}
	}
	return nil
}

func sequence(o vm.Object) ([]vm.Object, bool) {
	if tup, ok := vm.AsTuple(o); ok {
		return tup.Items, true
	}
	if l, ok := vm.AsList(o); ok {
		return l.Items, true
	}
	return nil, false
}

// fitsItem says whether a list takes an item; lists of integers read them as sizes are read.
func (c pythonCall) fitsItem(base string, o vm.Object) bool {
	if base == "int" {
		base = "SymInt"
	}
	return c.fitsOne(base, o)
}

// fitsOne says whether a parameter that is no list takes a value.
func (c pythonCall) fitsOne(base string, o vm.Object) bool {
	v, ok := c.t.Value(o)
	if !ok {
		i, isObject := o.(*vm.Instance)
		return base == "Tensor" && isObject && !c.t.plainClass(i.Class)
	}
	if s, is := v.(SymbolicNumber); is {
		v = s.Hint()
	}
	x, isT := v.(*tensor.Tensor)
	single := isT && x.Dim() == 0
	switch base {
	case "Tensor":
		switch v.(type) {
		case int64, float64, bool, complex128:
			return numbersForTensors[c.name]
		}
		return isT
	case "Scalar":
		switch v.(type) {
		case int64, float64, bool, complex128:
			return true
		}
		return single
	case "int", "SymInt":
		_, ok := v.(int64)
		return ok || (single || base == "SymInt" && isT && x.Numel() == 1) && x.DType.IsInt()
	case "float":
		switch v.(type) {
		case int64, float64:
			return true
		}
		return single
	case "bool":
		_, ok = v.(bool)
	case "str", "Dimname":
		_, ok = v.(string)
	case "ScalarType":
		_, ok = v.(tensor.DType)
	case "Layout":
		_, ok = v.(tensor.Layout)
	case "Device":
		switch v.(type) {
		case tensor.Device, string, int64:
		default:
			ok = false
		}
	case "MemoryFormat":
		_, ok = v.(tensor.MemoryFormat)
	case "Generator":
		_, ok = v.(*tensor.Generator)
	}
	return ok
}

func typeName(o vm.Object) string { return o.Type().Name }

// listed says that no signature fits, with all of them.
func (c pythonCall) listed(sigs []aten.Signature) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s() received an invalid combination of arguments - ", c.name)
	if len(sigs) == 1 {
		if bad := c.unmatched(sigs[0]); len(bad) > 0 {
			b.WriteString("got unrecognized keyword arguments: " + strings.Join(bad, ", "))
		} else {
			got := c.got()
			if c.countFits(sigs[0]) {
				got = c.marked(sigs[0])
			}
			b.WriteString("got " + got + ", but expected " + sigs[0].String())
		}
		return c.t.In.Errorf(c.t.In.Exc.TypeError, "%s", b.String())
	}
	b.WriteString("got " + c.got() + ", but expected one of:\n")
	for _, s := range sigs {
		b.WriteString(" * " + s.String() + "\n")
		if !c.countFits(s) {
			continue
		}
		if bad := c.unmatched(s); len(bad) > 0 {
			b.WriteString("      didn't match because some of the keywords were incorrect: " + strings.Join(bad, ", ") + "\n")
		} else {
			b.WriteString("      didn't match because some of the arguments have invalid types: " + c.marked(s) + "\n")
		}
	}
	return c.t.In.Errorf(c.t.In.Exc.TypeError, "%s", b.String())
}

// got lists the types of the arguments.
func (c pythonCall) got() string {
	var b strings.Builder
	for i, a := range c.args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(typeName(a))
	}
	for _, k := range slices.Backward(c.kw) { // PyTorch keeps them in a hash table, which gives few back in this order
		if len(c.args) > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k.Name + "=" + typeName(k.Value))
		if len(c.args) == 0 {
			b.WriteString(", ") // as PyTorch leaves it
		}
	}
	return "(" + b.String() + ")"
}

// item is one piece of a printed signature as this message reads it: the words before the last are the type, the last the name. So a
// parameter with a default is called by that default, and has a type that nothing matches; PyTorch reads its own text in the same way.
func item(s string) (typ, name string) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, s
	}
	return s[:i], s[i+1:]
}

func (c pythonCall) countFits(s aten.Signature) bool {
	return max(len(s.Items()), 0) == len(c.args)+len(c.kw) || c.oneForEmpty(s)
}

// oneForEmpty: a signature without parameters counts as one.
func (c pythonCall) oneForEmpty(s aten.Signature) bool {
	return len(s.Params) == 0 && len(c.args)+len(c.kw) == 1
}

// unmatched are the keywords that a printed signature does not name.
func (c pythonCall) unmatched(s aten.Signature) []string {
	var out []string
	for _, k := range slices.Backward(c.kw) {
		if !slices.ContainsFunc(s.Items(), func(p string) bool { _, n := item(p); return n == k.Name }) {
			out = append(out, k.Name)
		}
	}
	return out
}

// marked lists the types of the arguments, those that do not match between exclamation marks.
func (c pythonCall) marked(s aten.Signature) string {
	items := s.Items()
	var out []string
	add := func(i int, prefix string, o vm.Object) {
		want := ""
		if i < len(items) {
			want, _ = item(items[i])
		}
		text := prefix + typeName(o)
		if l, ok := sequence(o); ok {
			var names []string
			for _, x := range l {
				names = append(names, typeName(x))
			}
			list := "[" + strings.Join(names, ", ") + "]"
			if _, isTuple := vm.AsTuple(o); isTuple {
				if list = "(" + strings.Join(names, ", "); len(names) == 1 {
					list += ","
				}
				list += ")"
			}
			text += " of " + list
		}
		match := want == typeName(o) || want == "int" && typeName(o) == "int" || want == "float" && (typeName(o) == "int" || typeName(o) == "float")
		if !match {
			text = "!" + text + "!"
		}
		out = append(out, text)
	}
	for i, a := range c.args {
		add(i, "", a)
	}
	for i := len(c.args); i < len(items); i++ {
		_, name := item(items[i])
		for _, k := range c.kw {
			if k.Name == name {
				add(i, name+"=", k.Value)
			}
		}
	}
	text := strings.Join(out, ", ")
	if len(c.args) == 0 && len(out) > 0 {
		text += ", "
	}
	return "(" + text + ")"
}
