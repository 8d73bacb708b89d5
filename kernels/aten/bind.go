package aten

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// Bind puts args and kwargs into schema order, fills defaults, and converts as
// PyTorch does: an int for a list of known size is repeated, ints become floats where
// floats are wanted, 0-dim tensors become numbers, numbers may stand for tensors.
func Bind(op *Op, args []Value, kwargs map[string]Value) ([]Value, error) {
	return bind(op, args, kwargs, 2)
}

// bind's level: 0 exact types only, 1 numbers may stand for tensors, 2 also 0-dim tensors for numbers.
func bind(op *Op, args []Value, kwargs map[string]Value, level int) ([]Value, error) {
	return match(op, args, kwargs, level, true)
}

// errNoMatch stands for the reason why arguments do not fit, where nobody reads it.
var errNoMatch = errors.New("aten: the arguments do not fit")

// match is bind; without explain its errors do not say why, which is what costs.
func match(op *Op, args []Value, kwargs map[string]Value, level int, explain bool) ([]Value, error) {
	s := op.Sig()
	fail := func(k Kind, arg, format string, a ...any) error {
		return &Error{Op: op.Name(), Arg: arg, Kind: k, Msg: fmt.Sprintf(format, a...)}
	}
	plain := s.Namespace + "::" + s.Name
	positional := 0
	for i := range s.Args {
		if !s.Args[i].KwOnly {
			positional++
		}
	}
	if len(args) > positional {
		if !explain {
			return nil, errNoMatch
		}
		return nil, fail(RuntimeError, "", "%s() takes %d positional argument(s) but %d was/were given.  Declaration: %s", plain, positional, len(args), s)
	}
	out := make([]Value, len(s.Args))
	used := 0
	var missing []string
	for i := range s.Args {
		a := &s.Args[i]
		var v, kv Value
		inKw := false
		if len(kwargs) > 0 {
			if kv, inKw = kwargs[a.Name]; !inKw && a.Name == "self" {
				kv, inKw = kwargs["input"]
			}
		}
		switch {
		case i < len(args) && inKw:
			if !explain {
				return nil, errNoMatch
			}
			return nil, fail(RuntimeError, a.Name, "Argument '%s' specified both as positional and keyword argument. Schema: %s", a.Name, s)
		case i < len(args):
			v = args[i]
		case inKw:
			v = kv
			used++
		case a.HasDefault:
			d := a.Default
			if n, ok := d.(int64); ok && a.Type.List {
				d = repeat(n, a.Type.Size)
			}
			out[i] = d
			continue
		default:
			missing = append(missing, a.Name)
			continue
		}
		if t, is := v.(*tensor.Tensor); is && t != nil && a.Type.Base == "Tensor" && !a.Type.List {
			out[i] = v // as convert has it
			continue
		}
		cv, ok := convert(a.Type, v, level)
		if a.KwOnly && a.Write() && !tensors(v) {
			ok = false // nothing else can be written to
		}
		if !ok {
			if !explain {
				return nil, errNoMatch
			}
			return nil, fail(RuntimeError, a.Name, "%s() Expected a value of type '%s' for argument '%s' but instead found type '%s'.\nPosition: %d\nValue: %s\nDeclaration: %s\nCast error details: %s",
				plain, jitType(a.Type), a.Name, typeName(v), i, valueText(v), s, castDetails(a.Type, v))
		}
		out[i] = cv
	}
	if len(missing) > 0 {
		if !explain {
			return nil, errNoMatch
		}
		return nil, fail(RuntimeError, missing[0], "%s() is missing value for argument '%s'. Declaration: %s", plain, missing[0], s)
	}
	if used < len(kwargs) {
		for k := range kwargs {
			if s.Arg(k) < 0 && !(k == "input" && s.Arg("self") >= 0) {
				if !explain {
					return nil, errNoMatch
				}
				return nil, fail(RuntimeError, k, "Unknown keyword argument '%s' for operator '%s'. Schema: %s", k, plain, s)
			}
		}
	}
	return out, nil
}

// castDetails says why a value could not become what a schema wants.
func castDetails(t Type, v Value) string {
	switch {
	case !t.List && t.Base == "Tensor":
		return "Unable to cast " + bareText(v) + " to Tensor"
	case !t.List && (t.Base == "Scalar" || t.Base == "number"):
		return "Cannot cast " + bareText(v) + " to number"
	}
	class := typeName(v)
	if class == "Tensor" {
		class = "torch.Tensor"
	}
	return fmt.Sprintf("Unable to cast Python instance of type <class '%s'> to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)", class)
}

// bareText is str(v), where valueText is repr(v).
func bareText(v Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	return valueText(v)
}

// tensors says whether v is a tensor or a list of tensors.
func tensors(v Value) bool {
	if l, ok := v.([]Value); ok {
		return !slices.ContainsFunc(l, func(x Value) bool { return !tensors(x) })
	}
	t, ok := v.(*tensor.Tensor)
	return ok && t != nil
}

func repeat(n int64, size int) Value {
	out := make([]Value, max(size, 1))
	for i := range out {
		out[i] = n
	}
	return out
}

func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, int:
		return "int"
	case float64:
		return "float"
	case complex128:
		return "complex"
	case string:
		return "str"
	case *tensor.Tensor:
		return "Tensor"
	case tensor.DType:
		return "dtype"
	case tensor.Device:
		return "device"
	case tensor.Layout:
		return "layout"
	case tensor.MemoryFormat:
		return "memory_format"
	case *tensor.Generator:
		return "Generator"
	case []Value:
		return "list"
	default:
		return fmt.Sprintf("%T", v)
	}
}

func valueText(v Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		return "'" + v + "'"
	case []Value:
		p := make([]string, len(v))
		for i, x := range v {
			p[i] = valueText(x)
		}
		return "[" + strings.Join(p, ", ") + "]"
	}
	return fmt.Sprint(v)
}

func jitType(t Type) string {
	b := t.Base
	switch b {
	case "SymInt":
		b = "int"
	case "Scalar":
		b = "number"
	}
	if t.List {
		if t.ElemOpt {
			b = "Optional[" + b + "]"
		}
		b = "List[" + b + "]"
	}
	if t.Optional {
		b = "Optional[" + b + "]"
	}
	return b
}

// convert fits v to a schema type.
func convert(t Type, v Value, level int) (Value, bool) {
	if v == nil {
		return nil, t.Optional
	}
	if n, ok := v.(int); ok {
		v = int64(n)
	}
	if !t.List {
		return convertElem(t.Base, v, level)
	}
	elem := func(x Value) (Value, bool) {
		if x == nil {
			return nil, t.ElemOpt
		}
		if _, ok := x.(*tensor.Tensor); t.Base == "Tensor" && !ok {
			return nil, false // numbers pass for tensors one by one only
		}
		if t.Base == "int" {
			return convertElem("SymInt", x, level) // an item of a list is read as one
		}
		return convertElem(t.Base, x, level)
	}
	l, ok := v.([]Value)
	if !ok {
		if x, isT := v.(*tensor.Tensor); t.Size == 0 || t.Base != "Tensor" && isT && x != nil && len(x.Shape) != 0 {
			return nil, false
		}
		x, ok := elem(v)
		if !ok {
			return nil, false
		}
		out := make([]Value, t.Size)
		for i := range out {
			out[i] = x
		}
		return out, true
	}
	out := make([]Value, len(l))
	for i, x := range l {
		if out[i], ok = elem(x); !ok {
			return nil, false
		}
	}
	return out, true
}

// Symbolic is a number that a tracer also knows by an expression. Binding takes it wherever its hint fits;
// the dispatcher of the trace puts the hint in its place before a kernel sees it.
type Symbolic interface {
	// Hint is the number: int64, float64 or bool.
	Hint() Value
}

// convertElem makes v the value of a parameter of the given base type; ok is false where it does not fit. Higher levels take more: see bind.
func convertElem(base string, v Value, level int) (Value, bool) {
	if s, ok := v.(Symbolic); ok {
		if _, ok := convertElem(base, s.Hint(), level); !ok {
			return nil, false
		}
		return s, true
	}
	if n, ok := v.(int); ok {
		v = int64(n)
	}
	if t, ok := v.(*tensor.Tensor); ok && base != "Tensor" {
		if v, ok = itemFor(base, t, level); !ok {
			return nil, false
		}
	}
	switch base {
	case "Tensor":
		switch v := v.(type) {
		case *tensor.Tensor:
			return v, v != nil
		case bool, int64, float64, complex128:
			return v, level >= 1
		}
		return nil, false
	case "int", "SymInt", "float", "SymFloat", "bool", "SymBool", "Scalar", "number":
		return convertNumber(base, v, level)
	case "Device":
		return convertDevice(v)
	case "str":
		return fits[string](v)
	case "ScalarType":
		return fits[tensor.DType](v)
	case "Layout":
		return fits[tensor.Layout](v)
	case "MemoryFormat":
		return fits[tensor.MemoryFormat](v)
	case "Generator":
		return fits[*tensor.Generator](v)
	}
	return v, true
}

// fits gives a value of type T as it is; of another type, the zero value.
func fits[T any](v Value) (Value, bool) {
	t, ok := v.(T)
	return t, ok
}

// itemFor is the number in a tensor without dimensions, where a parameter takes such; a size is read from any tensor of one element.
func itemFor(base string, t *tensor.Tensor, level int) (Value, bool) {
	if t == nil || level < 2 || len(t.Shape) != 0 && (base != "SymInt" || t.Numel() != 1) || t.Fake {
		return nil, false
	}
	switch base {
	case "int", "SymInt":
		if !t.DType.IsInt() {
			return nil, false
		}
	case "float", "Scalar", "number", "SymFloat":
	case "bool":
		if t.DType != tensor.Bool {
			return nil, false
		}
	default:
		return nil, false
	}
	return t.Item(), true
}

// convertNumber is convertElem for numbers. An int is a float; a bool is either at level 2 alone.
func convertNumber(base string, v Value, level int) (Value, bool) {
	switch base {
	case "int", "SymInt":
		switch v := v.(type) {
		case int64, tensor.DType:
			return v, true
		case bool:
			if level >= 2 {
				return toInt(v), true
			}
		}
	case "float", "SymFloat":
		switch v := v.(type) {
		case float64:
			return v, true
		case int64:
			return float64(v), true
		case bool:
			if level >= 2 {
				return toFloat(v), true
			}
		}
	case "bool", "SymBool":
		switch v := v.(type) {
		case bool:
			return v, true
		case int64:
			return v != 0, level >= 2
		}
	case "Scalar", "number":
		switch v.(type) {
		case bool, int64, float64, complex128:
			return v, true
		}
	}
	return nil, false
}

// convertDevice reads "cuda:1", too.
func convertDevice(v Value) (Value, bool) {
	switch v := v.(type) {
	case tensor.Device:
		return v, true
	case int64:
		return tensor.Device{Type: Accelerator, Index: int(v)}, true
	case string:
		typ, idx, found := strings.Cut(v, ":")
		n := -1
		if found {
			if _, err := fmt.Sscanf(idx, "%d", &n); err != nil {
				return nil, false
			}
		}
		return tensor.Device{Type: typ, Index: n}, true
	}
	return nil, false
}

// hiddenScalar lists operators whose Scalar overload Python never reaches: torch.add(x, 2) runs add.Tensor.
var hiddenScalar = map[string]bool{
	"add": true, "sub": true, "mul": true, "div": true, "floor_divide": true,
	"add_": true, "sub_": true, "mul_": true, "div_": true, "floor_divide_": true,
	"true_divide": true, "divide": true, "multiply": true, "subtract": true,
	"true_divide_": true, "divide_": true, "multiply_": true, "subtract_": true,
}

// numberForTensor reports whether a number is bound where op takes a tensor.
func numberForTensor(op *Op, bound []Value) bool {
	s := op.Sig()
	for i := range s.Args {
		a := &s.Args[i]
		if a.Type.Base != "Tensor" || a.Type.List || bound[i] == nil {
			continue
		}
		if _, ok := bound[i].(*tensor.Tensor); !ok {
			return true
		}
	}
	return false
}

// ResolveOverload picks the overload of packet that the arguments fit, preferring
// exact types, and binds them to it.
func ResolveOverload(packet []*Op, args []Value, kwargs map[string]Value) (*Op, []Value, error) {
	if len(packet) == 0 {
		return nil, nil, kindf(NotImplementedError, "no such operator")
	}
	hidden := len(packet) > 1 && hiddenScalar[packet[0].Sig().Name]
	fitting := func(level int, numbers bool) (*Op, []Value) {
		for _, op := range packet {
			if hidden && level < 2 && strings.HasPrefix(op.Sig().Overload, "Scalar") {
				continue
			}
			if bound, err := match(op, args, kwargs, level, false); err == nil && (numbers || !numberForTensor(op, bound)) {
				return op, bound
			}
		}
		return nil, nil
	}
	for level := 0; level <= 2; level++ {
		if op, bound := fitting(level, true); op != nil && (level == 0 || hidden || !numberForTensor(op, bound)) {
			return op, bound, nil
		} else if op != nil { // clamp(x, 0, tensor): the tensor is a number before the number is a tensor
			if other, with := fitting(2, false); other != nil {
				return other, with, nil
			}
			return op, bound, nil
		}
	}
	if len(packet) == 1 {
		_, err := bind(packet[0], args, kwargs, 2)
		return nil, nil, err
	}
	var b strings.Builder
	s := packet[0].Sig()
	fmt.Fprintf(&b, "Overloaded torch operator invoked from Python failed to match any schema:\n")
	for _, op := range packet {
		if _, err := bind(op, args, kwargs, 2); err != nil {
			b.WriteString(err.Error() + "\n\n")
		}
	}
	return nil, nil, &Error{Op: s.Namespace + "." + s.Name, Kind: RuntimeError, Msg: b.String()}
}
