package vm

import "unsafe"

// Arithmetic boxes an integer or float per operation, and one allocation each is what it spends most of its time on. The
// evaluator therefore takes boxes from small blocks. A block lives as long as any of its boxes: 256 bytes at most.

const boxBlock = 32

// boxes hands out memory for numbers, block by block.
type boxes struct {
	ints   *[boxBlock]Int
	floats *[boxBlock]Float
	ni, nf int
}

// iface is how Go lays out a non-empty interface value: method table and pointer to the data.
type iface struct{ tab, data unsafe.Pointer }

func tabOf(o Object) unsafe.Pointer { return (*iface)(unsafe.Pointer(&o)).tab }

// dataOf is where the data of a value lies: keys of one address are the same key.
func dataOf(o Object) unsafe.Pointer { return (*iface)(unsafe.Pointer(&o)).data }

var intTab, floatTab = tabOf(Int(0)), tabOf(Float(0))

// boxInt is MakeInt with memory from a block. The interface value is put together by hand, as Go's own conversion would allocate.
func (b *boxes) boxInt(i int64) (o Object) {
	if uint64(i-smallMin) < smallMax-smallMin {
		return smallInts[i-smallMin]
	}
	if b.ni == 0 {
		b.ints, b.ni = new([boxBlock]Int), boxBlock
	}
	b.ni--
	p := &b.ints[b.ni]
	*p = Int(i)
	*(*iface)(unsafe.Pointer(&o)) = iface{intTab, unsafe.Pointer(p)}
	return o
}

// boxFloat makes a Float with memory from a block.
func (b *boxes) boxFloat(f float64) (o Object) {
	if b.nf == 0 {
		b.floats, b.nf = new([boxBlock]Float), boxBlock
	}
	b.nf--
	p := &b.floats[b.nf]
	*p = Float(f)
	*(*iface)(unsafe.Pointer(&o)) = iface{floatTab, unsafe.Pointer(p)}
	return o
}
