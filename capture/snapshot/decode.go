package snapshot

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// Decoder makes the values of a snapshot in an interpreter.
type Decoder struct{ d *decoder }

// decoder makes each object once. made has what is there, by number; begun what was asked for: an object that is begun and not made contains
// itself in a way that only objects of shell may.
type decoder struct {
	in       *Snapshot
	vm       *vm.Interp
	t        *torch.Torch
	made     []vm.Object
	begun    []bool
	storages map[int]*tensor.Storage
	sources  []*code.Source
	later    []func() error // what needs all objects to be there: dicts and sets, whose keys are hashed
}

// NewDecoder begins to make the values of s.
func NewDecoder(s *Snapshot, in *vm.Interp, t *torch.Torch) *Decoder {
	d := &decoder{in: s, vm: in, t: t, made: make([]vm.Object, len(s.Nodes)), begun: make([]bool, len(s.Nodes)), storages: map[int]*tensor.Storage{}}
	for _, text := range s.Sources {
		d.sources = append(d.sources, &code.Source{Text: text})
	}
	return &Decoder{d}
}

// Get makes the value of number i with all that it refers to; nil for -1.
func (x *Decoder) Get(i int) (vm.Object, error) {
	v, err := x.d.get(i)
	for err == nil && len(x.d.later) > 0 {
		f := x.d.later[0]
		x.d.later = x.d.later[1:]
		err = f()
	}
	return v, err
}

// get makes the value of number i, once. An object of shell is in made before its parts are, so that they may refer to it.
func (d *decoder) get(i int) (vm.Object, error) {
	if i == -1 {
		return nil, nil
	}
	if i < 0 || i >= len(d.made) {
		return nil, fmt.Errorf("there is no object %d in the snapshot", i)
	}
	if d.made[i] != nil {
		return d.made[i], nil
	}
	if d.begun[i] {
		return nil, fmt.Errorf("object %d of the snapshot, a %s, contains itself", i, d.in.Nodes[i].Kind)
	}
	d.begun[i] = true
	v, err := d.make(i, &d.in.Nodes[i])
	if err != nil {
		return nil, err
	}
	d.made[i] = v
	return v, nil
}

// all makes several values.
func (d *decoder) all(refs []int) ([]vm.Object, error) {
	out := make([]vm.Object, len(refs))
	for k, i := range refs {
		v, err := d.get(i)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

// as is get for a value of a known type; the zero value for -1.
func as[T any](d *decoder, i int) (v T, err error) {
	o, err := d.get(i)
	if err != nil || o == nil {
		return v, err
	}
	v, ok := o.(T)
	if !ok {
		return v, fmt.Errorf("object %d of the snapshot is a %s, no %T", i, o.Type().FullName(), v)
	}
	return v, nil
}

// arity is how many references an object of a kind has.
var arity = map[string]int{"slice": 3, "cell": 1, "method": 2, "property": 4, "classmethod": 1, "staticmethod": 1, "mappingproxy": 1, "alias": 2, "script module": 1,
	"function": 10, "instance": 4, "instance of items": 4, "exception": 3, "tensor": 4, "generator": 2, "file": 3, "operator": 1}

// make makes the value of node i. Three switches share the kinds: values without parts, values that are made of their parts, and, in
// shell, objects that are there before their parts.
func (d *decoder) make(i int, n *node) (vm.Object, error) {
	if len(n.Refs) < arity[n.Kind] || n.Kind == "class" && len(n.Refs) < 4 {
		return nil, fmt.Errorf("object %d of the snapshot, a %s, lacks parts", i, n.Kind)
	}
	if v, ok, err := d.plain(n); ok {
		return v, err
	}
	switch n.Kind {
	case "script module":
		return d.scriptModule(n)
	case "generator":
		return d.generator(n)
	case "file":
		return d.file(n)
	case "operator":
		return d.operator(n)
	case "code":
		c, err := d.code(n.Code)
		if err != nil {
			return nil, err
		}
		return vm.NewCode(c), nil
	case "tuple":
		return d.tuple(i, n)
	case "frozenset":
		return d.frozenset(n)
	case "slice":
		p, err := d.all(n.Refs)
		if err != nil {
			return nil, err
		}
		return &vm.Slice{Start: p[0], Stop: p[1], Step: p[2]}, nil
	case "alias":
		o, err := d.get(n.Refs[0])
		if err != nil {
			return nil, err
		}
		a, err := as[*vm.Tuple](d, n.Refs[1])
		return &vm.GenericAlias{Origin: o, Args: a}, err
	case "iterator":
		items, err := d.all(n.Refs)
		if err != nil {
			return nil, err
		}
		return d.vm.Iter(vm.NewList(items...))
	case "tensor":
		return d.tensor(n)
	case "class":
		return d.class(i, n)
	}
	return d.shell(i, n)
}

// plain makes what has no parts but its text: numbers, strings, names of what is there in any interpreter.
func (d *decoder) plain(n *node) (v vm.Object, ok bool, err error) {
	switch n.Kind {
	case "none":
		v = vm.None
	case "ellipsis":
		v = vm.Ellipsis
	case "notimplemented":
		v = vm.NotImplemented
	case "bool":
		v = vm.MakeBool(n.Text == "true")
	case "int":
		var x int64
		x, err = strconv.ParseInt(n.Text, 10, 64)
		v = vm.MakeInt(x)
	case "big":
		b, ok := new(big.Int).SetString(n.Text, 10)
		if !ok {
			return nil, true, fmt.Errorf("no integer: %.40q", n.Text)
		}
		v = vm.MakeBig(b)
	case "float":
		var x float64
		x, err = parseFloat(n.Text)
		v = vm.Float(x)
	case "complex":
		v, err = parseComplex(n.Text)
	case "str", "bytes", "bytearray":
		var b []byte
		b, err = base64.StdEncoding.DecodeString(n.Text)
		v = map[string]vm.Object{"str": vm.Str(b), "bytes": vm.Bytes(b), "bytearray": &vm.ByteArray{B: b}}[n.Kind]
	case "range":
		r := &vm.Range{}
		_, err = fmt.Sscan(n.Text, &r.Start, &r.Stop, &r.Step)
		v = r
	case "device":
		v, err = d.call("torch:device", vm.Str(n.Text))
	case "lib":
		v, err = d.path(n.Text)
	case "module", "module globals":
		m, err := d.vm.Import(n.Text)
		if err != nil {
			return nil, true, err
		}
		if n.Kind == "module globals" {
			return m.Dict, true, nil
		}
		return m, true, nil
	case "opaque":
		c, err := d.vm.MakeClass(vm.TypeType, n.Text, nil, vm.NewDict())
		return &vm.Instance{Class: c}, true, err
	default:
		return nil, false, nil
	}
	return v, true, err
}

// parseComplex reads the two parts of a complex number.
func parseComplex(text string) (vm.Object, error) {
	a, b, _ := strings.Cut(text, " ")
	re, err := parseFloat(a)
	if err != nil {
		return nil, err
	}
	im, err := parseFloat(b)
	return vm.Complex(complex(re, im)), err
}

// scriptModule gives a module of the script. Making its globals has put it among the modules.
func (d *decoder) scriptModule(n *node) (vm.Object, error) {
	g, err := as[*vm.Dict](d, n.Refs[0])
	if err != nil {
		return nil, err
	}
	if m, ok := d.vm.Modules.GetStr(n.Text); ok {
		if mod, ok := m.(*vm.Module); ok && mod.Dict == g {
			return m, nil
		}
	}
	return nil, fmt.Errorf("module %s of the script is not there", n.Text)
}

// frozenset makes a frozen set, whose members are hashed and so must be there.
func (d *decoder) frozenset(n *node) (vm.Object, error) {
	f := &vm.FrozenSet{}
	items, err := d.all(n.Refs)
	for _, x := range items {
		if err == nil {
			err = f.Add(d.vm, x)
		}
	}
	return f, err
}

// tuple takes its place before its items are made: a class may be in it that has it in turn.
func (d *decoder) tuple(i int, n *node) (vm.Object, error) {
	if len(n.Refs) == 0 {
		return vm.NewTuple(), nil
	}
	t := vm.NewTuple(make([]vm.Object, len(n.Refs))...)
	d.made[i] = t
	for k, r := range n.Refs {
		v, err := d.get(r)
		if err != nil {
			return nil, err
		}
		t.Items[k] = v
	}
	return t, nil
}

// shell makes an object that may contain itself: first the object, then its parts.
func (d *decoder) shell(i int, n *node) (vm.Object, error) {
	one := func(set func(v vm.Object)) error {
		v, err := d.get(n.Refs[0])
		if err == nil {
			set(v)
		}
		return err
	}
	switch n.Kind {
	case "list":
		l := vm.NewList()
		d.made[i] = l
		items, err := d.all(n.Refs)
		l.Items = items
		return l, err
	case "set":
		s := &vm.Set{}
		d.made[i] = s
		items, err := d.all(n.Refs)
		d.later = append(d.later, func() error {
			for _, x := range items {
				if err := s.Add(d.vm, x); err != nil {
					return err
				}
			}
			return nil
		})
		return s, err
	case "dict":
		x := vm.NewDict()
		d.made[i] = x
		return x, d.fillDict(x, n.Refs)
	case "script globals":
		m := d.vm.NewModule(n.Text, "")
		m.Dict.SetStr("__builtins__", d.vm.Builtins)
		d.vm.Modules.SetStr(n.Text, m)
		d.made[i] = m.Dict
		return m.Dict, d.fillDict(m.Dict, n.Refs)
	case "cell":
		c := &vm.Cell{}
		d.made[i] = c
		return c, one(func(v vm.Object) { c.V = v })
	case "method":
		m := &vm.BoundMethod{}
		d.made[i] = m
		p, err := d.all(n.Refs)
		if err == nil {
			m.Func, m.Self = p[0], p[1]
		}
		return m, err
	case "property":
		p, err := d.all(n.Refs)
		if err != nil {
			return nil, err
		}
		return &vm.Property{Get: p[0], Set: p[1], Del: p[2], Doc: p[3]}, nil
	case "classmethod":
		c := &vm.ClassMethod{}
		d.made[i] = c
		return c, one(func(v vm.Object) { c.Func = v })
	case "staticmethod":
		c := &vm.StaticMethod{}
		d.made[i] = c
		return c, one(func(v vm.Object) { c.Func = v })
	case "mappingproxy":
		m := &vm.MappingProxy{}
		d.made[i] = m
		return m, one(func(v vm.Object) { m.M = v })
	case "function":
		return d.function(i, n)
	case "instance", "instance of items":
		return d.instance(i, n)
	case "exception":
		c, err := as[*vm.Type](d, n.Refs[0])
		if err != nil {
			return nil, err
		}
		x := &vm.Exception{Class: c}
		d.made[i] = x
		if x.Args, err = as[*vm.Tuple](d, n.Refs[1]); err == nil {
			x.Dict, err = as[*vm.Dict](d, n.Refs[2])
		}
		return x, err
	}
	return nil, fmt.Errorf("object %d of the snapshot is of unknown kind %q", i, n.Kind)
}

// fillDict gives a dict its items: at once if all keys are strings, else later, as keys may be objects that are still being made.
func (d *decoder) fillDict(x *vm.Dict, refs []int) error {
	if len(refs)%2 != 0 {
		return fmt.Errorf("a dict of the snapshot has a key without a value")
	}
	parts, err := d.all(refs)
	if err != nil {
		return err
	}
	set := func() error {
		for k := 0; k+1 < len(parts); k += 2 {
			if err := x.Set(d.vm, parts[k], parts[k+1]); err != nil {
				return err
			}
		}
		return nil
	}
	for k := 0; k < len(parts); k += 2 {
		if _, ok := parts[k].(vm.Str); !ok {
			d.later = append(d.later, set)
			return nil
		}
	}
	return set()
}

// function makes a function before its closure, which may hold the function itself.
func (d *decoder) function(i int, n *node) (vm.Object, error) {
	f := &vm.Function{Name: n.Text}
	d.made[i] = f
	r := n.Refs
	c, err := as[*vm.Code](d, r[0])
	if err != nil {
		return nil, err
	}
	f.Code = c
	if f.Globals, err = as[*vm.Dict](d, r[1]); err != nil {
		return nil, err
	}
	defaults, err := as[*vm.Tuple](d, r[2])
	if err != nil {
		return nil, err
	}
	if defaults != nil && len(defaults.Items) > 0 {
		f.Defaults = defaults.Items
	}
	if f.KwDefaults, err = as[*vm.Dict](d, r[3]); err != nil {
		return nil, err
	}
	cells, err := as[*vm.Tuple](d, r[4])
	if err != nil {
		return nil, err
	}
	if cells != nil {
		for _, c := range cells.Items {
			cell, ok := c.(*vm.Cell)
			if !ok {
				return nil, fmt.Errorf("a closure of the snapshot holds no cell")
			}
			f.Closure = append(f.Closure, cell)
		}
	}
	q, err := as[vm.Str](d, r[5])
	if err != nil {
		return nil, err
	}
	f.Qualname = string(q)
	for k, to := range []*vm.Object{&f.Module, &f.Doc, &f.Annots} {
		if *to, err = d.get(r[6+k]); err != nil {
			return nil, err
		}
	}
	f.Dict, err = as[*vm.Dict](d, r[9])
	f.Builtins = d.vm.Builtins.Dict
	return f, err
}

// instance makes an object of a class without calling it.
func (d *decoder) instance(i int, n *node) (vm.Object, error) {
	c, err := as[*vm.Type](d, n.Refs[0])
	if err != nil || c == nil {
		return nil, fmt.Errorf("an instance of the snapshot has no class: %w", err)
	}
	x := &vm.Instance{Class: c}
	d.made[i] = x
	if x.Dict, err = as[*vm.Dict](d, n.Refs[1]); err != nil {
		return nil, err
	}
	native, err := d.get(n.Refs[2])
	if err != nil {
		return nil, err
	}
	if items, ok := native.(*vm.Tuple); ok && n.Kind == "instance of items" {
		x.Native = items.Items
	} else if native != nil {
		x.Native = native
	}
	slots, err := as[*vm.Tuple](d, n.Refs[3])
	if slots != nil && len(slots.Items) > 0 {
		x.Slots = append([]vm.Object(nil), slots.Items...)
	}
	return x, err
}

// class makes a class from its metaclass, bases and namespace, without running code of the script.
func (d *decoder) class(i int, n *node) (vm.Object, error) {
	meta, err := as[*vm.Type](d, n.Refs[0])
	if err != nil {
		return nil, err
	}
	if meta == nil {
		meta = vm.TypeType
	}
	tuple, err := as[*vm.Tuple](d, n.Refs[1])
	if err != nil {
		return nil, err
	}
	var bases []*vm.Type
	for _, b := range tuple.Items {
		t, ok := b.(*vm.Type)
		if !ok {
			return nil, fmt.Errorf("a base of class %s is no class", n.Text)
		}
		bases = append(bases, t)
	}
	qualname, err := as[vm.Str](d, n.Refs[2])
	if err != nil {
		return nil, err
	}
	module, err := as[vm.Str](d, n.Refs[3])
	if err != nil {
		return nil, err
	}
	// The names of __slots__ shape the class, so they come before it; all else may speak of it.
	dict := vm.NewDict()
	attrs := n.Refs[4:]
	for k := 0; k+1 < len(attrs); k += 2 {
		if name, err := as[vm.Str](d, attrs[k]); err == nil && name == "__slots__" {
			v, err := d.get(attrs[k+1])
			if err != nil {
				return nil, err
			}
			dict.SetStr("__slots__", v)
		}
	}
	dict.SetStr("__qualname__", qualname)
	dict.SetStr("__module__", module)
	t, err := d.vm.MakeClass(meta, n.Text, bases, dict)
	if err != nil {
		return nil, err
	}
	d.made[i] = t
	return t, d.fillDict(t.Dict, attrs)
}

// tensor makes a tensor on its storage, which others may share.
func (d *decoder) tensor(n *node) (vm.Object, error) {
	dt, ok := tensor.ParseDType(n.Text)
	if !ok {
		return nil, fmt.Errorf("unknown dtype %q", n.Text)
	}
	at := n.Refs[0]
	if at < 0 || at >= len(d.in.Nodes) || d.in.Nodes[at].Kind != "storage" {
		return nil, fmt.Errorf("a tensor of the snapshot has no storage")
	}
	st := d.storages[at]
	if st == nil {
		b, err := base64.StdEncoding.DecodeString(d.in.Nodes[at].Text)
		if err != nil {
			return nil, err
		}
		st = tensor.NewStorage(int64(len(b)))
		copy(st.Data, b)
		d.storages[at] = st
	}
	x := &tensor.Tensor{Storage: st, DType: dt, Shape: append([]int64{}, n.Shape...), Stride: append([]int64{}, n.Stride...), Offset: n.Offset}
	if err := inside(x); err != nil {
		return nil, err
	}
	cls, err := as[*vm.Type](d, n.Refs[1])
	if err != nil {
		return nil, err
	}
	dict, err := as[*vm.Dict](d, n.Refs[2])
	if err != nil {
		return nil, err
	}
	if len(n.Refs) > 4 {
		base, err := as[*torch.Tensor](d, n.Refs[4])
		if err != nil {
			return nil, err
		}
		if base != nil && base.T.Storage == x.Storage {
			x.Base = base.T
		}
	}
	switch {
	case n.Grad && n.Made != "" && x.Base == nil:
		// The result of an operator: it is no leaf, and where its gradient went is not known any more.
		leaf := tensor.FakeLike(x)
		if err := d.t.Grad.SetRequiresGrad(leaf, true); err != nil {
			return nil, err
		}
		d.t.Grad.Record(n.Made, []*tensor.Tensor{leaf}, []*tensor.Tensor{x}, func(grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
			return make([]*tensor.Tensor, 1), nil
		})
	case n.Grad:
		if err := d.t.Grad.SetRequiresGrad(x, true); err != nil {
			return nil, err
		}
	}
	p := d.t.WrapAs(x, cls)
	g, err := as[*torch.Tensor](d, n.Refs[3])
	if err != nil {
		return nil, err
	}
	if g != nil {
		d.t.Grad.SetGrad(x, g.T)
	}
	if dict != nil {
		own := p.AttrDict(true)
		dict.Each(func(k, v vm.Object) bool { err = own.Set(d.vm, k, v); return err == nil })
	}
	return p, err
}

// inside refuses a tensor that reaches out of its storage.
func inside(x *tensor.Tensor) error {
	first, last := x.Offset, x.Offset
	if len(x.Shape) != len(x.Stride) {
		return fmt.Errorf("a tensor of the snapshot has %d sizes and %d strides", len(x.Shape), len(x.Stride))
	}
	for k, n := range x.Shape {
		switch {
		case n < 0:
			return fmt.Errorf("a tensor of the snapshot has size %d", n)
		case n == 0:
			return nil
		}
		if step := (n - 1) * x.Stride[k]; step > 0 {
			last += step
		} else {
			first += step
		}
	}
	if first < 0 || (last+1)*int64(x.DType.Size()) > x.Storage.NBytes {
		return fmt.Errorf("a tensor of the snapshot reaches out of its storage of %d bytes", x.Storage.NBytes)
	}
	return nil
}

// path finds what a library defines by the name of its module and those below.
func (d *decoder) path(p string) (vm.Object, error) {
	parts := strings.Split(p, ":")
	m, err := d.vm.Import(parts[0])
	if err != nil {
		return nil, err
	}
	dict := m.Dict
	var v vm.Object
	var ok bool
	for _, name := range parts[1:] {
		if dict == nil {
			return nil, fmt.Errorf("there is no %s", strings.ReplaceAll(p, ":", "."))
		}
		if v, ok = dict.GetStr(name); !ok && dict == m.Dict {
			v, _ = d.vm.GetAttr(m, name) // made when it is asked for
		}
		if v == nil {
			return nil, fmt.Errorf("there is no %s", strings.ReplaceAll(p, ":", "."))
		}
		dict = nil
		if t, ok := v.(*vm.Type); ok {
			dict = t.Dict
		}
	}
	return v, nil
}

// call calls what a path names in a library.
func (d *decoder) call(path string, args ...vm.Object) (vm.Object, error) {
	f, err := d.path(path)
	if err != nil {
		return nil, err
	}
	return d.vm.Call(f, args, nil)
}
