package pyjson

import (
	"math"
	"strings"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// encoder writes values without indentation, as an encoder of json has it.
type encoder struct {
	markers                  vm.Object // the containers that are being written, by identity; None if nobody looks for cycles
	fallback, encode, indent vm.Object
	keySep, itemSep          vm.Object
	sortKeys, skipKeys, nan  bool
	fast                     func(s string) string // encode, where it is this module's
}

// writing is one call of an encoder.
type writing struct {
	*encoder
	in *vm.Interp
	sb strings.Builder
}

func (w *writing) value(o vm.Object) error {
	switch o {
	case vm.None:
		w.sb.WriteString("null")
		return nil
	case vm.True:
		w.sb.WriteString("true")
		return nil
	case vm.False:
		w.sb.WriteString("false")
		return nil
	}
	if _, ok := vm.AsStr(o); ok {
		return w.str(o)
	}
	if o.Type().IsSubtype(vm.IntType) || o.Type().IsSubtype(vm.FloatType) {
		s, err := w.number(o)
		w.sb.WriteString(s)
		return err
	}
	if l, ok := vm.AsList(o); ok {
		return w.marked(o, func() error { return w.list(func() []vm.Object { return l.Items }) })
	}
	if t, ok := vm.AsTuple(o); ok {
		return w.marked(o, func() error { return w.list(func() []vm.Object { return t.Items }) })
	}
	if d, ok := vm.AsDict(o); ok {
		return w.marked(o, func() error { return w.dict(o, d) })
	}
	return w.marked(o, func() error {
		v, err := w.in.Call(w.fallback, []vm.Object{o}, nil)
		if err != nil {
			return err
		}
		return w.value(v)
	})
}

// marked writes a value that may hold itself.
func (w *writing) marked(o vm.Object, write func() error) error {
	id := vm.MakeInt(w.in.ID(o))
	d, look := vm.AsDict(w.markers)
	if look {
		_, seen, err := d.Get(w.in, id)
		if err != nil {
			return err
		}
		if seen {
			return w.in.Errorf(w.in.Exc.ValueError, "Circular reference detected")
		}
		if err := d.Set(w.in, id, o); err != nil {
			return err
		}
	}
	err := w.in.GuardIn(" while encoding a JSON object", write)
	if err == nil && look {
		_, err = d.Del(w.in, id)
	}
	return err
}

// str writes a string.
func (w *writing) str(o vm.Object) error {
	s, _ := vm.AsStr(o)
	if w.fast != nil {
		w.sb.WriteString(w.fast(s))
		return nil
	}
	v, err := w.in.Call(w.encode, []vm.Object{o}, nil)
	if err != nil {
		return err
	}
	t, ok := vm.AsStr(v)
	if !ok {
		return w.in.Errorf(w.in.Exc.TypeError, "encoder() must return a string, not %s", vm.TypeName(v))
	}
	w.sb.WriteString(t)
	return nil
}

// number is an int or float as int.__repr__ and float.__repr__ have it, whatever a derived class says.
func (w *writing) number(o vm.Object) (string, error) {
	base := vm.IntType
	if f, ok := vm.AsFloat(o); ok && o.Type().IsSubtype(vm.FloatType) {
		base = vm.FloatType
		if math.IsNaN(f) || math.IsInf(f, 0) {
			if !w.nan {
				return "", w.in.Errorf(w.in.Exc.ValueError, "Out of range float values are not JSON compliant")
			}
			return map[bool]string{true: "NaN", false: map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]}[math.IsNaN(f)], nil
		}
	}
	v, err := w.in.Call(base.Lookup("__repr__"), []vm.Object{o}, nil)
	if err != nil {
		return "", err
	}
	s, _ := vm.AsStr(v)
	return s, nil
}

func (w *writing) list(items func() []vm.Object) error {
	if len(items()) == 0 {
		w.sb.WriteString("[]")
		return nil
	}
	sep, _ := vm.AsStr(w.itemSep)
	w.sb.WriteByte('[')
	for i := 0; i < len(items()); i++ {
		if i > 0 {
			w.sb.WriteString(sep)
		}
		if err := w.value(items()[i]); err != nil {
			return err
		}
	}
	w.sb.WriteByte(']')
	return nil
}

func (w *writing) dict(o vm.Object, d *vm.Dict) error {
	if d.Len() == 0 {
		w.sb.WriteString("{}")
		return nil
	}
	view, err := w.in.CallMethod(o, "items")
	if err != nil {
		return err
	}
	items, err := w.in.IterAll(view)
	if err != nil {
		return err
	}
	l := vm.NewList(items...)
	if w.sortKeys {
		if _, err := w.in.CallMethod(l, "sort"); err != nil {
			return err
		}
	}
	itemSep, _ := vm.AsStr(w.itemSep)
	keySep, _ := vm.AsStr(w.keySep)
	w.sb.WriteByte('{')
	first := true
	for _, it := range l.Items {
		pair, ok := it.(*vm.Tuple)
		if !ok || len(pair.Items) != 2 {
			return w.in.Errorf(w.in.Exc.ValueError, "items must return 2-tuples")
		}
		key, err := w.key(pair.Items[0])
		if err != nil {
			return err
		}
		if key == nil {
			continue
		}
		if !first {
			w.sb.WriteString(itemSep)
		}
		first = false
		if err := w.str(key); err != nil {
			return err
		}
		w.sb.WriteString(keySep)
		if err := w.value(pair.Items[1]); err != nil {
			return err
		}
	}
	w.sb.WriteByte('}')
	return nil
}

// key is a key as a str; nil if it is left out.
func (w *writing) key(o vm.Object) (vm.Object, error) {
	if _, ok := vm.AsStr(o); ok {
		return o, nil
	}
	switch o {
	case vm.None:
		return vm.Str("null"), nil
	case vm.True:
		return vm.Str("true"), nil
	case vm.False:
		return vm.Str("false"), nil
	}
	if o.Type().IsSubtype(vm.IntType) || o.Type().IsSubtype(vm.FloatType) {
		s, err := w.number(o)
		return vm.Str(s), err
	}
	if w.skipKeys {
		return nil, nil
	}
	return nil, w.in.Errorf(w.in.Exc.TypeError, "keys must be str, int, float, bool or None, not %s", vm.TypeName(o))
}

// makeEncoder makes the class. fast are the module's own functions that write strings.
func makeEncoder(in *vm.Interp, fast map[vm.Object]func(s string) string) *vm.Type {
	of := func(o vm.Object) *encoder { return o.(*vm.Instance).Native.(*encoder) }
	params := vm.NewParams("make_encoder", "markers, default, encoder, indent, key_separator, item_separator, sort_keys, skipkeys, allow_nan")
	return in.NewNativeType(vm.Spec{Name: "Encoder", Module: "_json", NoDict: true, Strict: true, Doc: "Encoder(markers, default, encoder, indent, key_separator, item_separator, sort_keys, skipkeys, allow_nan)",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			e, err := newEncoder(in, a)
			if err != nil {
				return nil, err
			}
			e.fast = fast[e.encode]
			return vm.NewInstance(cls, e), nil
		},
		GetSet: []*vm.GetSet{
			readonly("markers", func(o vm.Object) vm.Object { return of(o).markers }),
			readonly("default", func(o vm.Object) vm.Object { return of(o).fallback }),
			readonly("encoder", func(o vm.Object) vm.Object { return of(o).encode }),
			readonly("indent", func(o vm.Object) vm.Object { return of(o).indent }),
			readonly("key_separator", func(o vm.Object) vm.Object { return of(o).keySep }),
			readonly("item_separator", func(o vm.Object) vm.Object { return of(o).itemSep }),
			readonly("sort_keys", func(o vm.Object) vm.Object { return vm.MakeBool(of(o).sortKeys) }),
			readonly("skipkeys", func(o vm.Object) vm.Object { return vm.MakeBool(of(o).skipKeys) }),
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil },
			"__call__": clinic.Method("_iterencode", "obj, _current_indent_level:int", func(c *clinic.Call) (vm.Object, error) {
				w := &writing{encoder: of(c.Self), in: c.Interp}
				if err := w.value(c.Args[0]); err != nil {
					return nil, err
				}
				return vm.NewList(vm.Str(w.sb.String())), nil
			}),
		}})
}

// newEncoder checks an encoder's arguments.
func newEncoder(in *vm.Interp, a []vm.Object) (*encoder, error) {
	if _, ok := vm.AsDict(a[0]); !ok && a[0] != vm.None {
		return nil, in.Errorf(in.Exc.TypeError, "make_encoder() argument 1 must be dict or None, not %s", vm.ArgName(a[0]))
	}
	for _, i := range []int{4, 5} {
		if _, ok := vm.AsStr(a[i]); !ok {
			return nil, in.Errorf(in.Exc.TypeError, "make_encoder() argument %d must be str, not %s", i+1, vm.ArgName(a[i]))
		}
	}
	e := &encoder{markers: a[0], fallback: a[1], encode: a[2], indent: a[3], keySep: a[4], itemSep: a[5]}
	for i, to := range []*bool{&e.sortKeys, &e.skipKeys, &e.nan} {
		var err error
		if *to, err = in.Truth(a[6+i]); err != nil {
			return nil, err
		}
	}
	return e, nil
}
