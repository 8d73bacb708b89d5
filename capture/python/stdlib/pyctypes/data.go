package pyctypes

import (
	"fmt"
	"strings"
	"unsafe"

	"whittle/capture/python/vm"
)

// data is the memory of an instance, whose Native it is: of its own, or a part of another's.
type data struct {
	self   *vm.Instance
	lib    *lib
	layout *layout
	mem    []byte
	root   *data // whose memory it is: itself, or the one of which it is a part
	base   *data // of which it is a part directly
	index  int   // and which
	awaits *data // whose the memory is, if it is not the root's
	buffer any   // what keeps memory that is not of ctypes

	// Of a root: what its memory refers to, by place, as programs see it in _objects, and what that needs.
	objects vm.Object
	kept    map[string]any

	prototype *prototype // of a function, once it is asked for
}

// Type implements vm.Object.
func (d *data) Type() *vm.Type { return d.self.Type() }

// Memory implements vm.Memory.
func (d *data) Memory() []byte { return d.mem }

// View implements vm.Buffer: the items of arrays in all their dimensions, of whatever is not a number the bytes.
func (d *data) View() *vm.MemoryView {
	shape, l := []int{}, d.layout
	for ; l.kind == arrayKind; l = l.item {
		shape = append(shape, l.length)
	}
	format := byte('B')
	if c := l.letter(); strings.IndexByte("cbBhHiIlLqQfd?P", c) >= 0 && !l.swapped {
		format = c
	} else {
		shape = []int{len(d.mem)}
	}
	v := vm.NewShapedView(d.self, d.mem, format, false, shape)
	v.Hold(d)
	return v
}

func (d *data) in() *vm.Interp { return d.lib.in }

// dataOf is the memory of an instance of ctypes.
func dataOf(o vm.Object) *data {
	i, ok := o.(*vm.Instance)
	if !ok {
		return nil
	}
	d, _ := i.Native.(*data)
	return d
}

// create makes an instance with memory of its own, which is zero.
func (c *lib) create(cls *vm.Type) (*data, error) {
	l := layoutOf(cls)
	if l == nil {
		return nil, c.in.Errorf(c.in.Exc.TypeError, "abstract class")
	}
	return c.over(l, make([]byte, l.size, max(l.size, 1))), nil
}

// over makes an instance whose memory is given. Its fields are fixed from now on.
func (c *lib) over(l *layout, mem []byte) *data {
	l.final = true
	d := &data{lib: c, layout: l, mem: mem}
	d.root = d
	d.self = vm.NewInstance(l.class, d)
	return d
}

// part is the instance for a piece of another's memory.
func (d *data) part(l *layout, index, off int) *data {
	p := d.lib.over(l, d.mem[off:off+l.size:off+l.size])
	p.root, p.base, p.index, p.awaits = d.root, d, index, d.awaits
	return p
}

// read is what stands in a piece of the memory, as a value of Python's where the type is a simple one.
func (d *data) read(l *layout, index, off int) (vm.Object, error) {
	if l.plain(d.lib) {
		return l.get(d, d.mem[off:off+l.size])
	}
	return d.part(l, index, off).self, nil
}

// get is the value of a simple type, in the type's own byte order.
func (l *layout) get(d *data, p []byte) (vm.Object, error) {
	if l.swapped {
		p = reversed(p)
	}
	return l.code.get(d, p)
}

func (l *layout) set(d *data, at int, p []byte, v vm.Object) error {
	if !l.swapped {
		return l.code.set(d, at, p, v)
	}
	b := make([]byte, len(p))
	if err := l.code.set(d, at, b, v); err != nil {
		return err
	}
	copy(p, reversed(b))
	return nil
}

func reversed(p []byte) []byte {
	b := make([]byte, len(p))
	for i := range p {
		b[len(p)-1-i] = p[i]
	}
	return b
}

// write puts a value into memory: a piece of the object's, or of what it points to. It keeps what the value refers to.
func (d *data) write(l *layout, index int, p []byte, v vm.Object) error {
	src := dataOf(v)
	switch {
	case src == nil && l.kind == simpleKind:
		return l.set(d, index, p, v)
	case src == nil:
		if t, ok := vm.AsTuple(v); ok && l.kind != pointerKind {
			made, err := d.in().Call(l.class, t.Items, nil)
			if err != nil {
				return d.asRuntimeError(err)
			}
			return d.write(l, index, p, made)
		}
		if v == vm.None && l.kind == pointerKind {
			clear(p)
			return nil
		}
		return d.in().Errorf(d.in().Exc.TypeError, "expected %s instance, got %s", l.class.Name, v.Type().Name)
	case src.Type().IsSubtype(l.class):
		copy(p, src.mem)
		d.hold(index, src.root.container(), src)
	case l.kind == pointerKind && src.layout.kind == arrayKind:
		if l.item == nil || !src.layout.item.class.IsSubtype(l.item.class) {
			return d.in().Errorf(d.in().Exc.TypeError, "incompatible types, %s instance instead of %s instance", v.Type().Name, l.class.Name)
		}
		store(p, d.lib.address(src))
		// The array itself has to live, not only what it refers to.
		d.hold(index, vm.NewTuple(orNone(src.root.container()), v), src)
	case l.kind == simpleKind && l.plain(d.lib):
		return l.set(d, index, p, v)
	default:
		return d.in().Errorf(d.in().Exc.TypeError, "incompatible types, %s instance instead of %s instance", v.Type().Name, l.class.Name)
	}
	return nil
}

// asRuntimeError is what a failure to make a value of a tuple becomes.
func (d *data) asRuntimeError(err error) error {
	r, ok := err.(*vm.Raised)
	if !ok {
		return err
	}
	text, err := d.in().Call(vm.StrType, []vm.Object{r.Exc}, nil)
	if err != nil {
		return err
	}
	s, _ := vm.AsStr(text)
	return d.in().Errorf(d.in().Exc.RuntimeError, "(%s) %s: %s", d.layout.class.Name, r.Exc.Type().Name, s)
}

func orNone(o vm.Object) vm.Object {
	if o == nil {
		return vm.None
	}
	return o
}

// place is the key of a part in _objects: its index, and those of the parts that it lies in, in hexadecimal.
func (d *data) place(index int) string {
	s := fmt.Sprintf("%x", index)
	for ; d.base != nil; d = d.base {
		s += fmt.Sprintf(":%x", d.index)
	}
	return s
}

// container is what a root refers to, for another that refers to it from now on: both see what is added later.
func (d *data) container() vm.Object {
	if d.objects == nil && (d.layout.kind == arrayKind && d.layout.length > 0 || d.layout.kind == recordKind && d.layout.count > 0) {
		d.objects = vm.NewDict()
	}
	return d.objects
}

// hold keeps what a part of the memory refers to: shown is what programs see in _objects, and back what has to live.
func (d *data) hold(index int, shown vm.Object, back any) {
	place := d.place(index)
	if d.root.kept == nil {
		d.root.kept = map[string]any{}
	}
	d.root.kept[place] = back
	if shown == nil || shown == vm.None {
		return
	}
	if d.root.layout.kind == simpleKind {
		d.root.objects = shown
		return
	}
	d.root.objectsDict().SetStr(place, shown)
}

// objectsDict is _objects as a dict.
func (d *data) objectsDict() *vm.Dict {
	dict, ok := d.objects.(*vm.Dict)
	if !ok {
		dict = vm.NewDict()
		d.objects = dict
	}
	return dict
}

// keepText makes memory for text that ends with a zero, and gives its address.
func (d *data) keepText(index int, v vm.Object, text []byte) uint64 {
	block := &data{lib: d.lib, mem: text}
	block.root = block
	d.hold(index, v, block)
	return d.lib.address(block)
}

// address is where the memory of an object lies. From now on it can be followed.
func (c *lib) address(d *data) uint64 {
	c.know(d.root)
	return addressOf(d.mem)
}

func addressOf(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }
