package aten

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// How Python sees operators: which overloads torch.X and Tensor.X take, in the order in which they are tried, and with which names, types and
// defaults error messages print them. All of it follows from the schemas and from where each is bound: f and m in schemas.tsv. Overloads that
// only Python has are in pythononly.tsv: those that name dimensions, for messages alone, as no tensor here has named dimensions, and a few that
// PyTorch binds by hand.
//
//go:embed pythononly.tsv
var pythonOnlyTSV string

// A Param is one argument of a function in Python.
type Param struct {
	Name    string
	Type    Type
	Default string // as messages print it; "" for none
	KwOnly  bool
	Outs    int // results that out= takes; 0 for other arguments
}

// Required says whether a call must give the argument.
func (p Param) Required() bool { return p.Default == "" }

// typeNames are the Python names of schema types.
var typeNames = map[string]string{"Scalar": "Number", "SymInt": "int", "ScalarType": "torch.dtype", "Layout": "torch.layout", "Device": "torch.device",
	"MemoryFormat": "torch.memory_format", "Generator": "torch.Generator", "Dimname": "name", "Storage": "torch.Storage", "Stream": "torch.Stream"}

// TypeName is the type as messages print it: Tensor, Number, tuple of ints.
func (p Param) TypeName() string {
	n := p.Type.Base
	if p.Type.List {
		if n == "Scalar" {
			return "tuple of Scalars"
		}
		if s := typeNames[n]; s != "" {
			n = s
		}
		return "tuple of " + n + "s"
	}
	if s := typeNames[n]; s != "" {
		return s
	}
	return n
}

// A Signature is one way to call a function from Python.
type Signature struct {
	Params []Param
	order  string // what the order of signatures begins with
	types  []string
}

// String is the signature as messages print it: (Tensor input, *, Tensor out = None).
func (s Signature) String() string { return "(" + strings.Join(s.Items(), ", ") + ")" }

// Items are the parts of String between its commas.
func (s Signature) Items() []string {
	var out []string
	star := false
	for _, p := range s.Params {
		if p.KwOnly && !star {
			out, star = append(out, "*"), true
		}
		t := p.TypeName() + " " + p.Name
		if p.Default != "" {
			t += " = " + p.Default
		}
		out = append(out, t)
	}
	return out
}

// Positional is how many arguments may be given without a name.
func (s Signature) Positional() int {
	n := 0
	for _, p := range s.Params {
		if !p.KwOnly {
			n++
		}
	}
	return n
}

// Min is how many arguments must be given.
func (s Signature) Min() int {
	n := 0
	for _, p := range s.Params {
		if p.Required() {
			n++
		}
	}
	return n
}

// Deprecated says whether a function also takes a deprecated order of arguments, as in add(input, alpha, other). Messages do not list it.
func Deprecated(name string) bool { return deprecated[strings.TrimSuffix(name, "_")] }

var deprecated = map[string]bool{"add": true, "addbmm": true, "addcdiv": true, "addcmul": true, "addmm": true, "sspaddmm": true, "addmv": true, "addr": true, "baddbmm": true, "sub": true}

// bound is a schema and where it is bound.
type bound struct {
	s                *Schema
	function, method bool
}

// boundSchemas are the schemas of aten by name, those with named dimensions included.
var boundSchemas = sync.OnceValue(func() map[string][]bound {
	out, built := map[string][]bound{}, theRegistry().read
	for _, l := range strings.Split(schemasTSV+"\n"+pythonOnlyTSV, "\n") {
		flags, text, ok := strings.Cut(l, "\t")
		if !ok || !strings.HasPrefix(text, "aten::") {
			continue
		}
		b := bound{function: strings.ContainsRune(flags, 'f'), method: strings.ContainsRune(flags, 'm')}
		name, _, _ := strings.Cut(text, "(")
		if base, over, _ := strings.Cut(name, "."); strings.HasSuffix(base, "_copy") && strings.HasSuffix(over, "out") {
			b.function = true
		}
		if !b.function && !b.method {
			continue
		}
		s, err := built[text], error(nil)
		if s == nil {
			s, err = ParseSchema(text)
		}
		if err != nil {
			continue // a test demands none
		}
		b.s = s
		out[s.Name] = append(out[s.Name], b)
	}
	return out
})

// Signatures are the ways to call torch.NAME, or with method Tensor.NAME, in the order in which PyTorch tries them; none where the operator
// is not bound there.
func Signatures(name string, method bool) []Signature {
	all := boundSchemas()[name]
	var sigs []Signature
	for _, b := range all {
		s := b.s
		if hasOut(s) || method && !b.method || !method && !b.function || s.Overload == "Scalar" && arithmetic[strings.TrimSuffix(s.Name, "_")] {
			continue
		}
		outs := 0
		if !method {
			outs = outsOf(all, s)
		}
		sigs = append(sigs, signature(s, method, outs))
	}
	slices.SortStableFunc(sigs, func(a, b Signature) int { return strings.Compare(a.order, b.order) })
	return generalFirst(sigs)
}

// arithmetic operators take a number where they take a tensor, and need no overload for it.
var arithmetic = map[string]bool{"add": true, "sub": true, "mul": true, "div": true}

func hasOut(s *Schema) bool {
	return slices.ContainsFunc(s.Args, func(a Arg) bool { return a.Write() && a.KwOnly })
}

// outsOf is how many tensors the out= form of s takes, 0 where there is none.
func outsOf(all []bound, s *Schema) int {
	options := isFactory(s)
	same := func(a, b Arg) bool { return a.Name == b.Name && a.Type == b.Type }
	drop := func(args []Arg) []Arg {
		return slices.DeleteFunc(slices.Clone(args), func(a Arg) bool { return a.Write() && a.KwOnly || options && optionNames[a.Name] })
	}
	for _, b := range all {
		if hasOut(b.s) && b.function && slices.EqualFunc(drop(s.Args), drop(b.s.Args), same) {
			return len(b.s.Args) - len(slices.DeleteFunc(slices.Clone(b.s.Args), func(a Arg) bool { return a.Write() && a.KwOnly }))
		}
	}
	return 0
}

// optionNames are the arguments of factories that say how to make a tensor.
var optionNames = map[string]bool{"dtype": true, "layout": true, "device": true, "pin_memory": true}

func isFactory(s *Schema) bool {
	return s.Arg("dtype") >= 0 && s.Arg("layout") >= 0 && s.Arg("pin_memory") >= 0
}

func signature(s *Schema, method bool, outs int) Signature {
	var sig Signature
	factory := isFactory(s)
	key := []string{}
	var options []Param
	for _, a := range s.Args {
		if method && a.Name == "self" {
			continue
		}
		p := Param{Name: a.Name, Type: a.Type, KwOnly: a.KwOnly, Default: pythonDefault(a)}
		if a.Name == "self" && a.Type.Base == "Tensor" {
			p.Name = "input"
		}
		if factory && optionNames[a.Name] {
			p.Default = "None"
			if a.Name == "pin_memory" {
				p.Default, p.Type.Optional = "False", false
			}
			options = append(options, p)
		}
		if a.KwOnly && !slices.Contains(key, "*") {
			key = append(key, "*")
		}
		k := cppType(a.Type) + " " + p.Name
		if p.Default != "" {
			k += "=" + p.Default
		}
		key = append(key, k)
		sig.types = append(sig.types, a.Type.String())
		if factory && optionNames[a.Name] {
			continue
		}
		sig.Params = append(sig.Params, p)
	}
	if outs > 0 {
		sig.Params = append(sig.Params, Param{Name: "out", Type: Type{Base: "Tensor", List: outs > 1, Optional: true}, Default: "None", KwOnly: true, Outs: outs})
	}
	if factory {
		sig.Params = append(sig.Params, options...)
		sig.Params = append(sig.Params, Param{Name: "requires_grad", Type: Type{Base: "bool"}, Default: "False", KwOnly: true})
	}
	sig.order = strings.Join(key, ", ") + ")"
	return sig
}

func pythonDefault(a Arg) string {
	if !a.HasDefault {
		return ""
	}
	d := a.text
	switch {
	case d == "[]" || d == "":
		return "None"
	case d[0] == '[': // [1, 1] is 1 for each, [0, 1] a list
		items := strings.Split(strings.Trim(d, "[]"), ",")
		for i := range items {
			items[i] = strings.TrimSpace(items[i])
		}
		if a.Type.Size > 0 && len(slices.Compact(slices.Clone(items))) == 1 {
			return items[0]
		}
		return "{" + strings.Join(items, ", ") + "}"
	case a.Name == "reduction" && d == "1":
		return "at::Reduction::Mean"
	case d == "1.":
		return "1"
	case strings.HasSuffix(d, "."):
		return d + "0"
	}
	return strings.ReplaceAll(d, "'", "\"")
}

// cppType is the type in the text by which signatures are sorted.
func cppType(t Type) string {
	b := map[string]string{"int": "int64_t", "float": "double", "str": "c10::string_view"}[t.Base]
	if b == "" {
		b = t.Base
	}
	if t.List {
		switch t.Base {
		case "int":
			b = "IntArrayRef"
		case "SymInt":
			b = "SymIntArrayRef"
		case "Tensor":
			b = "TensorList"
		case "Scalar":
			b = "ScalarList"
		case "Dimname":
			b = "DimnameList"
		default:
			b = "ArrayRef<" + b + ">"
		}
	}
	return b
}

// generalFirst moves a signature behind those that it would hide: numbers pass for tensors, and a single int for a list.
func generalFirst(sigs []Signature) []Signature {
	before := make([][]int, len(sigs)) // what must come before each
	for i, a := range sigs {
		for j, b := range sigs {
			if i != j && hides(a, b) {
				before[i] = append(before[i], j)
			}
		}
	}
	// Whoever waits for nobody comes first, in order; then who waited for the first of them, and so on.
	var queue []int
	for i := range sigs {
		if len(before[i]) == 0 {
			queue = append(queue, i)
		}
	}
	out := make([]Signature, 0, len(sigs))
	for k := 0; k < len(queue); k++ {
		out = append(out, sigs[queue[k]])
		for j, waits := range before {
			if n := len(waits); n > 0 {
				before[j] = slices.DeleteFunc(waits, func(i int) bool { return i == queue[k] })
				if len(before[j]) == 0 {
					queue = append(queue, j)
				}
			}
		}
	}
	return out
}

// hides says whether a must be tried after b: it has the same number of arguments, of the same or of narrower types.
func hides(a, b Signature) bool {
	if len(a.types) != len(b.types) {
		return false
	}
	some := false
	for i, t := range a.types {
		u := b.types[i]
		if t == u {
			continue
		}
		if !narrower(t, u) {
			return false
		}
		some = true
	}
	return some
}

func narrower(t, u string) bool {
	named := strings.Contains(t, "Dimname")
	switch {
	case t == "Scalar" && u == "Tensor", t == "Scalar?" && u == "Tensor?":
	case named && !strings.Contains(u, "Dimname"):
	case t == "int[]" && (u == "int" || u == "int?"):
	case t == "Tensor[]" && strings.Contains(u, "[]"):
	case t == "SymInt[]" && u == "int[]":
	case (t == "SymInt" || t == "int") && u == "Tensor":
	default:
		return false
	}
	return true
}
