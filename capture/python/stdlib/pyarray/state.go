package pyarray

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// machine is a way in which items lie in a pickle's bytes; its place in the list of all is what the pickle says.
type machine struct {
	size  int
	class class
	order binary.ByteOrder
}

var machines = func() (out []machine) {
	both := func(size int, classes ...class) {
		for _, c := range classes {
			out = append(out, machine{size, c, binary.LittleEndian}, machine{size, c, binary.BigEndian})
		}
	}
	out = append(out, machine{1, unsigned, binary.LittleEndian}, machine{1, signed, binary.LittleEndian})
	for _, size := range []int{2, 4, 8} {
		both(size, unsigned, signed)
	}
	both(4, float)
	both(8, float)
	both(2, text)
	both(4, text)
	return out
}()

// machineOf is how a kind's items lie here.
func machineOf(k *kind) int {
	return slices.Index(machines, machine{k.size, k.class, binary.LittleEndian})
}

// reduce is __reduce_ex__: before protocol 3 there were no bytes, so that the items are a list.
func (a *Array) reduce(in *vm.Interp, self vm.Object, protocol int64, maker vm.Object) (vm.Object, error) {
	dict := vm.None
	if i, ok := self.(*vm.Instance); ok && i.Dict != nil {
		dict = i.Dict
	}
	code := vm.Str(string(a.kind.code))
	if protocol < 3 {
		items, err := a.items(in)
		return vm.NewTuple(self.Type(), vm.NewTuple(code, vm.NewList(items...)), dict), err
	}
	return vm.NewTuple(maker, vm.NewTuple(self.Type(), code, vm.MakeInt(int64(machineOf(a.kind))), vm.Bytes(a.data)), dict), nil
}

// reconstructor is _array_reconstructor(arraytype, typecode, mformat_code, items).
func (t *types) reconstructor(c *clinic.Call) (vm.Object, error) {
	cls, ok := c.Args[0].(*vm.Type)
	if !ok {
		return nil, c.Errorf(c.Exc.TypeError, "first argument must be a type object, not %s", vm.TypeName(c.Args[0]))
	}
	if !cls.IsSubtype(t.array) {
		return nil, c.Errorf(c.Exc.TypeError, "%s is not a subtype of array.array", cls.Name)
	}
	k := kindOf(code(c.Args[1]))
	if k == nil {
		return nil, c.Errorf(c.Exc.ValueError, "second argument must be a valid type code")
	}
	if c.Int(2) < 0 || c.Int(2) >= int64(len(machines)) {
		return nil, c.Errorf(c.Exc.ValueError, "third argument must be a valid machine format code.")
	}
	if !c.Args[3].Type().IsSubtype(vm.BytesType) {
		return nil, c.Errorf(c.Exc.TypeError, "fourth argument should be bytes, not %s", vm.TypeName(c.Args[3]))
	}
	p, _ := vm.AsBytes(c.Args[3])
	if int(c.Int(2)) == machineOf(k) {
		a := &Array{types: t, kind: k}
		return wrap(cls, a), a.addBytes(c.Interp, p)
	}
	m := machines[c.Int(2)]
	whole := m.size
	if m.class == text {
		whole *= 2 // as CPython counts it
	}
	if len(p)%whole != 0 {
		return nil, c.Errorf(c.Exc.ValueError, "string length not a multiple of item size")
	}
	return t.convert(c.Interp, cls, k, m, p)
}

// convert makes an array of items that lie as on another machine. Integers get a kind of their size.
func (t *types) convert(in *vm.Interp, cls *vm.Type, k *kind, m machine, p []byte) (vm.Object, error) {
	if m.class == signed || m.class == unsigned {
		for _, x := range kinds {
			if x.size == m.size && x.class == m.class {
				k = x
			}
		}
	}
	a := &Array{types: t, kind: k}
	for ; len(p) > 0; p = p[m.size:] {
		v := m.item(&p)
		if err := a.insert(in, a.Len(), v); err != nil {
			return nil, err
		}
	}
	return wrap(cls, a), nil
}

// item reads an item. Of two surrogates in UTF-16 it takes both.
func (m machine) item(p *[]byte) vm.Object {
	var bits uint64
	for i := range m.size {
		at := i
		if m.order == binary.ByteOrder(binary.LittleEndian) {
			at = m.size - 1 - i
		}
		bits = bits<<8 | uint64((*p)[at])
	}
	shift := uint(64 - 8*m.size)
	switch {
	case m.class == signed:
		return vm.MakeInt(int64(bits<<shift) >> shift)
	case m.class == unsigned:
		return vm.MakeBig(new(big.Int).SetUint64(bits))
	case m.class == text && m.size == 2 && bits&0xfc00 == 0xd800 && len(*p) >= 4:
		if low := m.order.Uint16((*p)[2:]); low&0xfc00 == 0xdc00 {
			*p = (*p)[2:]
			return vm.Str(wtf8.Char(0x10000 + rune(bits&0x3ff)<<10 + rune(low&0x3ff)))
		}
	case m.class == float && m.size == 4:
		return vm.Float(math.Float32frombits(uint32(bits)))
	case m.class == float:
		return vm.Float(math.Float64frombits(bits))
	}
	return vm.Str(wtf8.Char(rune(bits)))
}

// wrap is an array as an instance of a class.
func wrap(cls *vm.Type, a *Array) vm.Object {
	if cls == a.types.array {
		return a
	}
	return vm.NewInstance(cls, a)
}
