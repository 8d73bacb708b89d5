package pypickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// pickler is what a Pickler holds.
type pickler struct {
	output
	*module
	in         *vm.Interp
	ready      bool // __init__ was called
	proto      int
	bin        bool
	fast       bool
	fixImports bool
	persistent vm.Object // persistent_id, nil for none
	dispatch   vm.Object // dispatch_table, nil for copyreg's
	override   vm.Object // reducer_override while dump runs
	callback   vm.Object // buffer_callback
	memo       map[vm.Object]int
	nesting    int
	fastSeen   map[vm.Object]bool
	flags      map[string]int64 // bin and fast as they were set
}

// dump writes one pickle.
func (p *pickler) dump(o vm.Object) error {
	p.buf, p.frame = nil, -1
	p.framing = false
	if p.proto >= 2 {
		p.emit(opProto, byte(p.proto))
		p.framing = p.proto >= 4
	}
	err := p.save(o)
	if err == nil {
		p.emit(opStop)
		p.endFrame()
	}
	p.framing = false
	return err
}

// op writes an instruction and ends its frame if that is full.
func (p *pickler) op(b ...byte) error {
	p.emit(b...)
	return p.boundary(p.in)
}

func (p *pickler) save(o vm.Object) error {
	return p.in.GuardIn(" while pickling an object", func() error { return p.saveAny(o, false) })
}

// saveAny saves an object. The id that persistent_id gave is not asked for another one.
func (p *pickler) saveAny(o vm.Object, isID bool) error {
	if !isID && p.persistent != nil {
		if done, err := p.savePersistent(o); done || err != nil {
			return err
		}
	}
	if done, err := p.saveAtom(o); done {
		return err
	}
	if i, ok := p.memo[o]; ok {
		return p.fetch(i)
	}
	if done, err := p.saveBuiltin(o); done {
		return err
	}
	return p.saveObject(o)
}

// saveAtom saves what has no identity.
func (p *pickler) saveAtom(o vm.Object) (done bool, err error) {
	switch x := o.(type) {
	case *vm.NoneType:
		return true, p.op(opNone)
	case vm.Bool:
		switch {
		case p.proto >= 2 && bool(x):
			return true, p.op(opNewTrue)
		case p.proto >= 2:
			return true, p.op(opNewFalse)
		case bool(x):
			return true, p.op([]byte("I01\n")...)
		}
		return true, p.op([]byte("I00\n")...)
	case vm.Int:
		return true, p.saveInt(int64(x))
	case *vm.BigInt:
		return true, p.saveBig(x.V)
	case vm.Float:
		if p.bin {
			return true, p.op(binary.BigEndian.AppendUint64([]byte{opBinFloat}, math.Float64bits(float64(x)))...)
		}
		s, err := p.in.Repr(x)
		if err != nil {
			return true, err
		}
		return true, p.op([]byte("F" + s + "\n")...)
	}
	return false, nil
}

func (p *pickler) saveInt(n int64) error {
	switch {
	case n < math.MinInt32 || n > math.MaxInt32:
		return p.saveBig(big.NewInt(n))
	case !p.bin:
		return p.op([]byte("I" + strconv.FormatInt(n, 10) + "\n")...)
	case n >= 0 && n <= math.MaxUint8:
		return p.op(opBinInt1, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		return p.op(opBinInt2, byte(n), byte(n>>8))
	}
	return p.op(binary.LittleEndian.AppendUint32([]byte{opBinInt}, uint32(n))...)
}

func (p *pickler) saveBig(n *big.Int) error {
	if p.proto < 2 {
		s, err := p.in.Repr(vm.MakeBig(n))
		if err != nil {
			return err
		}
		return p.op([]byte("L" + s + "L\n")...)
	}
	b := twosComplement(n)
	if len(b) < 256 {
		return p.op(append([]byte{opLong1, byte(len(b))}, b...)...)
	}
	return p.op(append(binary.LittleEndian.AppendUint32([]byte{opLong4}, uint32(len(b))), b...)...)
}

// twosComplement is a number in as few bytes as it takes, the lowest first.
func twosComplement(n *big.Int) []byte {
	if n.Sign() == 0 {
		return nil
	}
	x := new(big.Int).Set(n)
	size := n.BitLen()/8 + 1
	if n.Sign() < 0 {
		size = new(big.Int).Not(n).BitLen()/8 + 1
		x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	b := x.FillBytes(make([]byte, size))
	slices.Reverse(b)
	return b
}

// saveBuiltin saves values of built-in classes, which are remembered.
func (p *pickler) saveBuiltin(o vm.Object) (done bool, err error) {
	switch x := o.(type) {
	case vm.Bytes:
		return true, p.saveBytes(x)
	case vm.Str:
		return true, p.saveText(x)
	case *vm.Dict:
		return true, p.saveDict(x)
	case *vm.Set:
		return true, p.saveSet(x)
	case *vm.FrozenSet:
		return true, p.saveFrozenSet(x)
	case *vm.List:
		return true, p.saveList(x)
	case *vm.Tuple:
		return true, p.saveTuple(x)
	case *vm.ByteArray:
		return true, p.saveByteArray(x)
	case *pickleBuffer:
		return true, p.saveBuffer(x)
	}
	return false, nil
}

// sized is a header: the instruction for data of n bytes, with the length.
func sized(short, normal, long byte, n int) []byte {
	switch {
	case short != 0 && n <= math.MaxUint8:
		return []byte{short, byte(n)}
	case n <= math.MaxUint32:
		return binary.LittleEndian.AppendUint32([]byte{normal}, uint32(n))
	}
	return binary.LittleEndian.AppendUint64([]byte{long}, uint64(n))
}

func (p *pickler) saveBytes(x vm.Bytes) error {
	if p.proto >= 3 {
		return p.bytesData(x, []byte(x), x)
	}
	// A codec makes them anew, as the old protocols know no bytes.
	args := vm.NewTuple()
	var maker vm.Object = vm.BytesType
	if len(x) > 0 {
		rs := make([]rune, len(x))
		for i := range len(x) {
			rs[i] = rune(x[i])
		}
		codecs, err := p.in.Import("_codecs")
		if err != nil {
			return err
		}
		if maker, err = p.in.GetAttr(codecs, "encode"); err != nil {
			return err
		}
		args = vm.NewTuple(vm.Str(wtf8.String(rs)), vm.Str("latin1"))
	}
	return p.saveReduce(vm.NewTuple(maker, args), x)
}

func (p *pickler) bytesData(o vm.Object, data []byte, payload vm.Object) error {
	if p.proto < 4 && len(data) > math.MaxUint32 {
		return p.in.Errorf(p.in.Exc.OverflowError, "serializing a bytes object larger than 4 GiB requires pickle protocol 4 or higher")
	}
	if err := p.emitData(p.in, sized(opShortBinBytes, opBinBytes, opBinBytes8, len(data)), data, payload); err != nil {
		return err
	}
	return p.remember(o)
}

func (p *pickler) byteArrayData(o vm.Object, data []byte, payload vm.Object) error {
	header := binary.LittleEndian.AppendUint64([]byte{opByteArray8}, uint64(len(data)))
	if err := p.emitData(p.in, header, data, payload); err != nil {
		return err
	}
	return p.remember(o)
}

func (p *pickler) saveByteArray(x *vm.ByteArray) error {
	if p.proto >= 5 {
		return p.byteArrayData(x, x.B, x)
	}
	args := vm.NewTuple()
	if len(x.B) > 0 {
		args = vm.NewTuple(vm.Bytes(x.B))
	}
	return p.saveReduce(vm.NewTuple(vm.ByteArrayType, args), x)
}

func (p *pickler) saveText(x vm.Str) error {
	if !p.bin {
		return p.saveRawText(x)
	}
	data, err := p.in.Encode(string(x), "utf-8", "surrogatepass")
	if err != nil {
		return err
	}
	var short byte
	if p.proto >= 4 {
		short = opShortBinUnicode
	} else if len(data) > math.MaxUint32 {
		return p.in.Errorf(p.in.Exc.OverflowError, "serializing a string larger than 4 GiB requires pickle protocol 4 or higher")
	}
	if err := p.emitData(p.in, sized(short, opBinUnicode, opBinUnicode8, len(data)), data, nil); err != nil {
		return err
	}
	return p.remember(x)
}

// saveRawText is a text for protocol 0: what would end the line, or is no Latin-1, is escaped.
func (p *pickler) saveRawText(x vm.Str) error {
	b := []byte{opUnicode}
	for _, r := range wtf8.All(string(x)) {
		switch {
		case r > 0xffff:
			b = fmt.Appendf(b, "\\U%08x", r)
		case r > 0xff || r == '\\' || r == 0 || r == '\n' || r == '\r' || r == 0x1a:
			b = fmt.Appendf(b, "\\u%04x", r)
		default:
			b = append(b, byte(r))
		}
	}
	if err := p.op(append(b, '\n')...); err != nil {
		return err
	}
	return p.remember(x)
}

// remember gives an object a number, by which it is fetched the next time.
func (p *pickler) remember(o vm.Object) error {
	if p.fast {
		return nil
	}
	i := len(p.memo)
	p.memo[o] = i
	switch {
	case p.proto >= 4:
		return p.op(opMemoize)
	case !p.bin:
		return p.op([]byte("p" + strconv.Itoa(i) + "\n")...)
	case i < 256:
		return p.op(opBinPut, byte(i))
	}
	return p.op(binary.LittleEndian.AppendUint32([]byte{opLongBinPut}, uint32(i))...)
}

// fetch writes how a remembered object is had again.
func (p *pickler) fetch(i int) error {
	switch {
	case !p.bin:
		return p.op([]byte("g" + strconv.Itoa(i) + "\n")...)
	case i < 256:
		return p.op(opBinGet, byte(i))
	}
	return p.op(binary.LittleEndian.AppendUint32([]byte{opLongBinGet}, uint32(i))...)
}

// savePersistent saves an object by the id that persistent_id gives it, if it gives one.
func (p *pickler) savePersistent(o vm.Object) (done bool, err error) {
	id, err := p.in.Call(p.persistent, []vm.Object{o}, nil)
	if err != nil || id == vm.None {
		return false, err
	}
	if p.bin {
		if err := p.saveAny(id, true); err != nil {
			return true, err
		}
		return true, p.op(opBinPersID)
	}
	s, err := p.in.Str(id)
	if err != nil {
		return true, err
	}
	if !ascii(s) {
		return true, p.in.Errorf(p.pickling, "persistent IDs in protocol 0 must be ASCII strings")
	}
	return true, p.op([]byte("P" + s + "\n")...)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
