package pyarray

import (
	"runtime"
	"slices"
	"strings"
	"weak"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// Array is an array. An instance of a class that derives from it holds one as its Native.
type Array struct {
	vm.Identity
	types   *types
	kind    *kind
	data    []byte
	exports []weak.Pointer[export]
}

// Weakly implements vm.Mortal.
func (a *Array) Weakly() func() vm.Object { return vm.Weakly(a) }

// types are the classes of an interpreter that have to do with arrays.
type types struct{ array, iter *vm.Type }

// export is what a view of an array's memory holds: while one of them lives, the memory stays where it is.
type export struct{ _ *Array }

// Type implements vm.Object.
func (a *Array) Type() *vm.Type { return a.types.array }

// Memory implements vm.Memory.
func (a *Array) Memory() []byte { return a.data }

// View implements vm.Buffer.
func (a *Array) View() *vm.MemoryView {
	format := a.kind.code
	if a.kind.format != 0 {
		format = a.kind.format
	}
	v := vm.NewMemoryView(a, a.data, format, false)
	e := &export{a}
	v.Hold(e)
	a.exports = append(a.exports, weak.Make(e))
	return v
}

// Typecode is the code of the items, ItemAt one of them, and Len how many there are.
func (a *Array) Typecode() byte { return a.kind.code }

// Len is the number of items.
func (a *Array) Len() int { return len(a.data) / a.kind.size }

// ItemAt is item i.
func (a *Array) ItemAt(in *vm.Interp, i int) (vm.Object, error) { return a.kind.get(in, a.at(i)) }

func (a *Array) at(i int) []byte { return a.data[i*a.kind.size : (i+1)*a.kind.size] }

// like makes an empty array of the same kind.
func (a *Array) like() *Array { return &Array{types: a.types, kind: a.kind} }

// fixed raises while a view of the memory is in use.
func (a *Array) fixed(in *vm.Interp) error {
	alive := func() bool {
		a.exports = slices.DeleteFunc(a.exports, func(p weak.Pointer[export]) bool { return p.Value() == nil })
		return len(a.exports) > 0
	}
	if len(a.exports) == 0 || !alive() {
		return nil
	}
	runtime.GC() // nobody counts who refers to a view
	if !alive() {
		return nil
	}
	return in.Errorf(in.Exc.BufferError, "cannot resize an array that is exporting buffers")
}

// value is an item's bytes.
func (a *Array) value(in *vm.Interp, v vm.Object) ([]byte, error) {
	p := make([]byte, a.kind.size)
	return p, a.kind.set(in, p, v)
}

// insert puts an item before the one at i.
func (a *Array) insert(in *vm.Interp, i int, v vm.Object) error {
	p, err := a.value(in, v)
	if err == nil {
		err = a.fixed(in)
	}
	if err == nil {
		a.data = slices.Insert(a.data, i*a.kind.size, p...)
	}
	return err
}

// remove takes items out.
func (a *Array) remove(in *vm.Interp, from, to int) error {
	if err := a.fixed(in); err != nil {
		return err
	}
	a.data = slices.Delete(a.data, from*a.kind.size, to*a.kind.size)
	return nil
}

// extend adds the items of an array of the same kind, or of anything else.
func (a *Array) extend(in *vm.Interp, o vm.Object) error {
	if b, ok := arrayOf(o); ok {
		if a.kind != b.kind {
			return in.Errorf(in.Exc.TypeError, "can only extend with array of same kind")
		}
		return a.addBytes(in, b.data)
	}
	it, err := in.Iter(o)
	if err != nil {
		return err
	}
	for {
		v, err := in.Next(it)
		if v == nil || err != nil {
			return err
		}
		if err := a.insert(in, a.Len(), v); err != nil {
			return err
		}
	}
}

// addBytes adds items as they lie in memory.
func (a *Array) addBytes(in *vm.Interp, p []byte) error {
	if len(p)%a.kind.size != 0 {
		return in.Errorf(in.Exc.ValueError, "bytes length not a multiple of item size")
	}
	if len(p) == 0 {
		return nil
	}
	if err := a.fixed(in); err != nil {
		return err
	}
	a.data = append(a.data, p...)
	return nil
}

// addText adds characters.
func (a *Array) addText(in *vm.Interp, s string) error {
	var p []byte
	for _, r := range wtf8.All(s) {
		p = order.AppendUint32(p, uint32(r))
	}
	return a.addBytes(in, p)
}

// items are the items as objects.
func (a *Array) items(in *vm.Interp) ([]vm.Object, error) {
	out := make([]vm.Object, a.Len())
	for i := range out {
		var err error
		if out[i], err = a.ItemAt(in, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// text is an array of characters as a str.
func (a *Array) text(in *vm.Interp) (string, error) {
	var sb strings.Builder
	for i := range a.Len() {
		r := order.Uint32(a.at(i))
		if r > maxRune {
			return "", in.Errorf(in.Exc.ValueError, "character U+%x is not in range [U+0000; U+10ffff]", r)
		}
		wtf8.WriteRune(&sb, rune(r))
	}
	return sb.String(), nil
}

// find is the place of an item that equals v, or -1. The array may change while Python compares.
func (a *Array) find(in *vm.Interp, v vm.Object, from, to int) (int, error) {
	for i := from; i < to && i < a.Len(); i++ {
		x, err := a.ItemAt(in, i)
		if err != nil {
			return 0, err
		}
		same, err := in.Eq(x, v)
		if err != nil {
			return 0, err
		}
		if same {
			return i, nil
		}
	}
	return -1, nil
}

// arrayOf gives the array that o is or holds.
func arrayOf(o vm.Object) (*Array, bool) {
	switch x := o.(type) {
	case *Array:
		return x, true
	case *vm.Instance:
		a, ok := x.Native.(*Array)
		return a, ok
	}
	return nil, false
}
