package numpy

import (
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// options are the print options, with how this interpreter writes objects and texts.
func (np *NumPy) options() ndarray.PrintOptions {
	o := np.Print
	o.Object = func(v any) (string, error) {
		x := np.Python(v)
		s, err := np.In.Repr(x)
		if _, isList := x.(*vm.List); isList { // which would look like an axis
			s = "list(" + s + ")"
		}
		return s, err
	}
	return o
}

// str is str(array).
func (np *NumPy) str(a *ndarray.Array) (string, error) {
	if a.NDim() == 0 {
		v := a.Get(a.Offset)
		if it, ok := v.(ndarray.Item); ok {
			return np.In.Str(object(it))
		}
		return np.In.Str(np.Scalar(v, a.DType))
	}
	o := np.options()
	s, err := ndarray.Format(np.padded(a), o)
	return s, err
}

// padded is an array whose elements are written with repr: texts and objects get one width.
func (np *NumPy) padded(a *ndarray.Array) *ndarray.Array { return a }

// implied are the dtypes that array() gives the numbers of Python, which repr therefore leaves out.
func implied(a *ndarray.Array) bool {
	switch a.DType.Num {
	case ndarray.Bool, ndarray.Int64, ndarray.Float64, ndarray.Complex128:
		return a.Len() > 0
	case ndarray.Unicode, ndarray.String:
		return false
	}
	return false
}

// repr is repr(array).
func (np *NumPy) repr(x *Array) (string, error) {
	a := x.A
	name := "array"
	if x.class != np.ArrayType {
		name = x.class.Name
	}
	prefix := name + "("
	o := np.options()
	skip := implied(a)
	var body string
	var err error
	switch {
	case a.Len() > 0 || slicesEqual(a.Shape, []int{0}):
		o.Prefix, o.Separator, o.Suffix = prefix, ", ", ")"
		if !skip {
			o.Suffix = ","
		}
		if a.NDim() == 0 {
			o.LineWidth = 1 << 30
		}
		body, err = np.formatted(a, o)
	default:
		body = "[], shape=" + ndarray.ShapeText(a.Shape)
	}
	if err != nil {
		return "", err
	}
	if ndarray.Short(a, o) && a.Len() > 0 {
		body += ", shape=" + ndarray.ShapeText(a.Shape)
	}
	if skip {
		return prefix + body + ")", nil
	}
	dt := np.dtypeShort(a.DType)
	text := prefix + body + ","
	last := text[strings.LastIndexByte(text, '\n')+1:]
	gap := " "
	if len(last)+len("dtype="+dt)+1 > np.Print.LineWidth+0 {
		gap = "\n" + strings.Repeat(" ", len(prefix))
	}
	return text + gap + "dtype=" + dt + ")", nil
}

func slicesEqual(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// formatted is Format, with a width less what stands before and behind.
func (np *NumPy) formatted(a *ndarray.Array, o ndarray.PrintOptions) (string, error) {
	o.LineWidth -= len(o.Suffix)
	return ndarray.Format(a, o)
}

// dtypeShort is how a repr names a dtype.
func (np *NumPy) dtypeShort(d *ndarray.DType) string {
	switch {
	case d.Num == ndarray.Object:
		return "object"
	case d.Swapped:
		return "'" + d.Str() + "'"
	case d.Flexible():
		return "'" + d.Str() + "'"
	}
	return d.Name()
}

// texts defines printing for our own Python.
func (np *NumPy) texts(m *vm.Module) {
	clinic.Def(m, "_array2string", "a, options, prefix:str, separator:str, suffix:str", func(c *clinic.Call) (vm.Object, error) {
		a, err := np.FromObject(c.Args[0], nil, false)
		if err != nil {
			return nil, err
		}
		saved := np.Print
		defer func() { np.Print = saved }()
		if err := np.setOptions(c.Args[1]); err != nil {
			return nil, err
		}
		o := np.options()
		o.Prefix, o.Separator, o.Suffix = c.Str(2), c.Str(3), c.Str(4)
		s, err := np.formatted(a, o)
		return vm.Str(s), np.err(err)
	})
	clinic.Def(m, "_set_options", "options", func(c *clinic.Call) (vm.Object, error) { return vm.None, np.setOptions(c.Args[0]) })
	clinic.Def(m, "_float_text", "x, precision:int, unique:bool, exp:bool, min_digits:int, sign:bool", func(c *clinic.Call) (vm.Object, error) {
		v, d, _, ok := np.element(c.Args[0])
		if !ok {
			a, err := np.FromObject(c.Args[0], nil, false)
			if err != nil {
				return nil, err
			}
			v, d = a.Get(a.Offset), a.DType
		}
		return vm.Str(ndarray.FloatDigits(ndarray.AsFloat(v), d, int(c.Int(1)), c.Bool(2), c.Bool(3), int(c.Int(4)), c.Bool(5))), nil
	})
}

// setOptions takes the options of a dict.
func (np *NumPy) setOptions(o vm.Object) error {
	d, ok := vm.AsDict(o)
	if !ok {
		return np.In.Errorf(np.In.Exc.TypeError, "options must be a dict")
	}
	p := &np.Print
	ints := map[string]*int{"precision": &p.Precision, "threshold": &p.Threshold, "edgeitems": &p.EdgeItems, "linewidth": &p.LineWidth}
	texts := map[string]*string{"nanstr": &p.NaN, "infstr": &p.Inf, "floatmode": &p.FloatMode}
	p.Formatter = nil
	var err error
	d.Each(func(k, v vm.Object) bool {
		name, _ := vm.AsStr(k)
		if v == vm.None {
			return true
		}
		switch {
		case ints[name] != nil:
			f, ok := vm.AsFloat(v)
			if !ok || f > 1<<40 {
				f = 1 << 40
			}
			*ints[name] = int(f)
		case texts[name] != nil:
			*texts[name], _ = vm.AsStr(v)
		case name == "suppress":
			p.Suppress, err = np.In.Truth(v)
		case name == "sign":
			if s, _ := vm.AsStr(v); s != "" {
				p.Sign = s[0]
			}
		case name == "formatter":
			p.Formatter = np.formatters(v)
		}
		return err == nil
	})
	return err
}

// formatters are functions of the program's that write elements, by kinds.
func (np *NumPy) formatters(o vm.Object) func(a *ndarray.Array) func(v any) string {
	d, ok := vm.AsDict(o)
	if !ok {
		return nil
	}
	return func(a *ndarray.Array) func(v any) string {
		keys := map[byte][]string{'b': {"bool"}, 'i': {"int", "int_kind"}, 'u': {"int", "int_kind"}, 'f': {"float", "float_kind"}, 'c': {"complexfloat", "complex_kind"}, 'U': {"numpystr", "str_kind"}, 'S': {"numpystr", "str_kind"}, 'O': {"object"}}[a.DType.Kind]
		for _, k := range append([]string{"all"}, keys...) {
			if f, ok := d.GetStr(k); ok && f != vm.None {
				return func(v any) string {
					r, err := np.In.Call(f, []vm.Object{np.Scalar(v, a.DType)}, nil)
					if err != nil {
						return ""
					}
					s, _ := vm.AsStr(r)
					return s
				}
			}
		}
		return nil
	}
}
