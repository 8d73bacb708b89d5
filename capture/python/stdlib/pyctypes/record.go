package pyctypes

import (
	"bytes"
	"fmt"

	"whittle/capture/python/vm"
)

// field is what a descriptor of a structure's or union's field, an instance of CField, has as its Native.
type field struct {
	name   string
	of     *layout
	index  int
	offset int
	bits   int // of a bit field: how many
	shift  int // of a bit field: how far from the lowest

	anonymous bool // its own fields are the record's, too
}

// fieldOf is the field that a descriptor stands for; nil for other objects.
func fieldOf(o vm.Object) *field {
	i, ok := o.(*vm.Instance)
	if !ok {
		return nil
	}
	f, _ := i.Native.(*field)
	return f
}

// newRecord makes a class of structures or unions.
func (c *lib) newRecord(in *vm.Interp, meta *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	cls, l, err := c.newClass(meta, args, kw)
	if err != nil || cls == nil {
		return nil, err
	}
	if cls.MRO[1] == c.cdata { // Structure and Union themselves
		return cls, nil
	}
	if abstract := cls.Dict; abstract != nil {
		if _, ok := abstract.GetStr("_abstract_"); ok {
			return cls, nil
		}
	}
	if l == nil {
		l = &layout{class: cls, kind: recordKind, align: 1}
		cls.Native = l
	} else {
		l.final = false
		layoutOf(cls.Bases[0]).final = true
	}
	if fields, ok := cls.Dict.GetStr("_fields_"); ok {
		return cls, in.SetAttr(cls, "_fields_", fields) // a metaclass of Python's may change them on the way
	}
	return cls, nil
}

// setFields lays the fields out, after those of the base: https://docs.python.org/3.11/library/ctypes.html#structure-union-alignment-and-byte-order.
// Bit fields are packed as GCC does.
func (c *lib) setFields(l *layout, fields vm.Object) error {
	if l.final {
		return c.in.Errorf(c.in.Exc.AttributeError, "_fields_ is final")
	}
	pairs, err := c.in.IterAll(fields)
	if err != nil {
		return c.in.Errorf(c.in.Exc.TypeError, "'_fields_' must be a sequence of pairs")
	}
	union := l.class.IsSubtype(c.union)
	p := placer{lib: c, union: union, pack: 0, align: 1}
	if pack, err := c.in.GetAttrOpt(l.class, "_pack_"); err != nil {
		return err
	} else if pack != nil {
		n, ok := vm.AsInt(pack)
		if !ok || n < 0 {
			return c.in.Errorf(c.in.Exc.ValueError, "_pack_ must be a non-negative integer")
		}
		p.pack = int(n)
	}
	swapped, err := c.in.GetAttrOpt(l.class, "_swappedbytes_")
	if err != nil {
		return err
	}
	p.swapped = swapped != nil
	l.fields, l.count = nil, 0
	if base := inherit(l.class); base != nil {
		p.size, p.end, p.align, l.count, l.pointers = base.size, base.size, max(base.align, 1), base.count, base.pointers
	}
	for i, pair := range pairs {
		t, ok := vm.AsTuple(pair)
		if !ok || len(t.Items) < 2 || len(t.Items) > 3 {
			return c.in.Errorf(c.in.Exc.TypeError, "_fields_ must be a sequence of (name, C type) pairs")
		}
		name, ok := vm.AsStr(t.Items[0])
		if !ok {
			return c.in.Errorf(c.in.Exc.TypeError, "_fields_ must be a sequence of (name, C type) pairs")
		}
		of := layoutOf(t.Items[1])
		if of == nil {
			return c.in.Errorf(c.in.Exc.TypeError, "second item in _fields_ tuple (index %d) must be a C type", i)
		}
		of.final = true
		l.pointers = l.pointers || of.pointers
		f := &field{name: name, of: of, index: l.count}
		if len(t.Items) == 3 {
			if of.kind != simpleKind || !of.code.integral() {
				return c.in.Errorf(c.in.Exc.TypeError, "bit fields not allowed for type %s", of.class.Name)
			}
			n, err := c.in.Index(t.Items[2])
			if err != nil {
				return err
			}
			if n <= 0 || n > int64(8*of.size) {
				return c.in.Errorf(c.in.Exc.ValueError, "number of bits invalid for bit field")
			}
			f.bits = int(n)
		}
		p.place(f)
		l.class.SetAttr(name, vm.NewInstance(c.field, f))
		l.fields = append(l.fields, f)
		l.count++
	}
	l.size, l.align = (p.size+p.align-1)/p.align*p.align, p.align
	l.final = true
	return c.anonymous(l)
}

// placer says where each next field of a record lies.
type placer struct {
	lib       *lib
	union     bool
	swapped   bool
	pack      int // the greatest alignment; 0: any
	size, end int // of the record so far, and where the next field may begin
	align     int
	open      int // bits of the unit that bit fields are being put into; 0: none
	used      int // bits of it that are taken
}

func (p *placer) place(f *field) {
	if p.union {
		p.end, p.open, p.used = 0, 0, 0
	}
	size, align := f.of.size, max(f.of.align, 1)
	if p.pack > 0 {
		align = min(align, p.pack)
	}
	switch {
	case f.bits > 0 && p.open > 0 && 8*size <= p.open && p.used+f.bits <= p.open: // there is room in the unit
		f.offset = p.end - size
	case f.bits > 0 && p.open > 0 && 8*size >= p.open && p.used+f.bits <= 8*size: // there is if the unit grows
		grown := size - p.open/8
		p.end += grown
		p.open = 8 * size
		f.offset = p.end - size
	default:
		p.open, p.used = 0, 0
		if f.bits > 0 {
			p.open = 8 * size
		}
		p.end = (p.end + align - 1) / align * align
		f.offset = p.end
		p.end += size
		p.align = max(p.align, align)
	}
	if f.bits > 0 {
		f.shift = p.used
		if p.swapped {
			f.shift = p.open - p.used - f.bits
		}
		p.used += f.bits
	}
	p.size = max(p.size, p.end)
}

// anonymous gives a record the fields of its anonymous parts.
func (c *lib) anonymous(l *layout) error {
	names, ok := l.class.Dict.GetStr("_anonymous_")
	if !ok {
		return nil
	}
	list, err := c.in.IterAll(names)
	if err != nil {
		return c.in.Errorf(c.in.Exc.TypeError, "_anonymous_ must be a sequence")
	}
	for _, n := range list {
		name, _ := vm.AsStr(n)
		v, err := c.in.GetAttr(l.class, name)
		if err != nil {
			return err
		}
		part := fieldOf(v)
		if part == nil {
			return c.in.Errorf(c.in.Exc.AttributeError, "'%s' is specified in _anonymous_ but not in _fields_", name)
		}
		part.anonymous = true
		c.lift(l, part, part.offset, part.index)
	}
	return nil
}

// lift gives a record the fields of a part, and of the anonymous parts of that.
func (c *lib) lift(l *layout, part *field, offset, index int) {
	for _, f := range part.of.fields {
		if f.anonymous {
			c.lift(l, f, offset+f.offset, index+f.index)
			continue
		}
		if own, ok := l.class.Dict.GetStr(f.name); ok && fieldOf(own) != nil {
			continue
		}
		inner := *f
		inner.offset, inner.index = offset+f.offset, index+f.index
		l.class.SetAttr(f.name, vm.NewInstance(c.field, &inner))
	}
}

// textWidth is how wide the characters of a field of text are, an array of c_char or c_wchar, which reads as bytes or a str; 0 for others.
func (f *field) textWidth(c *lib) int {
	if f.of.kind != arrayKind || f.of.item.kind != simpleKind || !f.of.item.plain(c) {
		return 0
	}
	return map[byte]int{'c': 1, 'u': 4}[f.of.item.letter()]
}

// writeText sets a field of text; what it leaves over it closes with a zero.
func (f *field) writeText(d *data, p []byte, v vm.Object, width int) error {
	in := d.in()
	var text []byte
	if width == 1 {
		b, ok := vm.AsBytes(v)
		if !ok || !v.Type().IsSubtype(vm.BytesType) {
			return in.Errorf(in.Exc.TypeError, "expected bytes, %s found", v.Type().Name)
		}
		if text = upToZero(b, 1); len(text) > len(p) {
			return in.Errorf(in.Exc.ValueError, "bytes too long (%d, maximum length %d)", len(text), len(p))
		}
	} else {
		s, ok := vm.AsStr(v)
		if !ok {
			return in.Errorf(in.Exc.TypeError, "unicode string expected instead of %s instance", v.Type().Name)
		}
		if text = wide(s); len(text) > len(p) {
			return in.Errorf(in.Exc.ValueError, "string too long (%d, maximum length %d)", len(text)/4, len(p)/4)
		}
	}
	if n := copy(p, text); n < len(p) {
		clear(p[n : n+width])
	}
	return nil
}

// read is a field's value.
func (f *field) read(d *data) (vm.Object, error) {
	if width := f.textWidth(d.lib); width > 0 {
		text := upToZero(d.mem[f.offset:f.offset+f.of.size], width)
		if width == 4 {
			return vm.Str(narrow(text)), nil
		}
		return vm.Bytes(bytes.Clone(text)), nil
	}
	if f.bits == 0 {
		return d.read(f.of, f.index, f.offset)
	}
	v := f.unit(d) >> f.shift & (1<<f.bits - 1)
	if f.bits == 64 {
		v = f.unit(d)
	}
	b := make([]byte, f.of.size)
	switch letter := f.of.code.letter; {
	case letter >= 'a' && letter != 'c': // the highest bit is the sign
		store(b, uint64(int64(v<<(64-f.bits))>>(64-f.bits)))
	default:
		store(b, v)
	}
	return f.of.code.get(d, b)
}

// unit is the number that a bit field is a part of.
func (f *field) unit(d *data) uint64 {
	p := d.mem[f.offset : f.offset+f.of.size]
	if f.of.swapped {
		p = reversed(p)
	}
	return load(p)
}

// write sets a field.
func (f *field) write(d *data, v vm.Object) error {
	p := d.mem[f.offset : f.offset+f.of.size]
	if width := f.textWidth(d.lib); width > 0 && dataOf(v) == nil {
		return f.writeText(d, p, v, width)
	}
	if f.bits == 0 {
		return d.write(f.of, f.index, p, v)
	}
	b := make([]byte, f.of.size)
	if src := dataOf(v); src != nil && v.Type().IsSubtype(f.of.class) {
		copy(b, src.mem)
	} else if err := f.of.code.set(d, f.index, b, v); err != nil {
		return err
	}
	mask := uint64(1)<<f.bits - 1
	if f.bits == 64 {
		mask = ^uint64(0)
	}
	store(b, f.unit(d)&^(mask<<f.shift)|load(b)&mask<<f.shift)
	if f.of.swapped {
		b = reversed(b)
	}
	copy(p, b)
	return nil
}

// fieldType is the class of fields, CField.
func (c *lib) fieldType() *vm.Type {
	number := func(name string, get func(f *field) int) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.MakeInt(int64(get(fieldOf(o)))), nil }}
	}
	owner := func(in *vm.Interp, o vm.Object) (*data, error) {
		if d := dataOf(o); d != nil {
			return d, nil
		}
		return nil, in.Errorf(in.Exc.TypeError, "not a ctype instance")
	}
	// What size says of a bit field: its bits above, where it lies below.
	size := func(f *field) int {
		if f.bits > 0 {
			return f.bits<<16 | f.shift
		}
		return f.of.size
	}
	return c.in.NewNativeType(vm.Spec{Name: "CField", Module: "_ctypes", NoDict: true, New: vm.Uncreatable,
		GetSet: []*vm.GetSet{number("offset", func(f *field) int { return f.offset }), number("size", size)},
		Methods: map[string]vm.GoFunc{
			"__get__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				if args[1] == vm.None {
					return args[0], nil
				}
				d, err := owner(in, args[1])
				if err != nil {
					return nil, err
				}
				return fieldOf(args[0]).read(d)
			},
			"__set__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d, err := owner(in, args[1])
				if err != nil {
					return nil, err
				}
				return vm.None, fieldOf(args[0]).write(d, args[2])
			},
			"__delete__": func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return nil, in.Errorf(in.Exc.TypeError, "can't delete attribute")
			},
			"__repr__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				f := fieldOf(args[0])
				if f.bits > 0 {
					return vm.Str(fmt.Sprintf("<Field type=%s, ofs=%d:%d, bits=%d>", f.of.class.Name, f.offset, f.shift, f.bits)), nil
				}
				return vm.Str(fmt.Sprintf("<Field type=%s, ofs=%d, size=%d>", f.of.class.Name, f.offset, f.of.size)), nil
			},
		}})
}

// recordType is Structure or Union.
func (c *lib) recordType(name string, meta *vm.Type) *vm.Type {
	return c.in.NewNativeType(vm.Spec{Name: name, Module: "_ctypes", Bases: []*vm.Type{c.cdata}, Meta: meta, NoDict: true, New: c.newData,
		Methods: map[string]vm.GoFunc{"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			d := dataOf(args[0])
			all := d.layout.allFields()
			given := map[string]bool{}
			for i, v := range args[1:] {
				if i == len(all) {
					return nil, in.Errorf(in.Exc.TypeError, "too many initializers")
				}
				given[all[i].name] = true
				if err := in.SetAttr(d.self, all[i].name, v); err != nil {
					return nil, err
				}
			}
			for _, k := range kw {
				if given[k.Name] {
					s, err := in.Repr(vm.Str(k.Name))
					if err != nil {
						return nil, err
					}
					return nil, in.Errorf(in.Exc.TypeError, "duplicate values for field %s", s)
				}
				if err := in.SetAttr(d.self, k.Name, k.Value); err != nil {
					return nil, err
				}
			}
			return vm.None, nil
		}}})
}

// allFields are the fields in the order in which they are initialised: those of the bases first.
func (l *layout) allFields() []*field {
	var all []*field
	for i := len(l.class.MRO) - 1; i >= 0; i-- {
		if b := layoutOf(l.class.MRO[i]); b != nil {
			if _, own := b.class.Dict.GetStr("_fields_"); own {
				all = append(all, b.fields...)
			}
		}
	}
	return all
}
