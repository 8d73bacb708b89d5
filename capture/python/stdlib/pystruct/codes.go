package pystruct

import (
	"encoding/binary"
	"math"
	"math/big"

	"whittle/capture/python/vm"
)

// code is a row of the table: one letter of a format in one of the two manners, native or standard.
type code struct {
	letter byte
	size   int
	align  int // 1: anywhere
	// pack writes an item to p, of its size; unpack reads one.
	pack   func(s *state, c *code, order binary.ByteOrder, p []byte, v vm.Object) error
	unpack func(c *code, order binary.ByteOrder, p []byte) vm.Object
}

// state is what a module's functions share: the interpreter and the module's error.
type state struct {
	in  *vm.Interp
	err *vm.Type
}

func (s *state) fail(format string, args ...any) error { return s.in.Errorf(s.err, format, args...) }

// standard and native are the codes after "<>=!" and after "@".
var standard, native [128]*code

func init() {
	type row struct {
		letters        string
		standard, size int // 0: native only
		align          int
		pack           func(s *state, c *code, order binary.ByteOrder, p []byte, v vm.Object) error
		unpack         func(c *code, order binary.ByteOrder, p []byte) vm.Object
	}
	for _, r := range []row{
		{"xsp", 1, 1, 1, nil, nil},
		{"c", 1, 1, 1, packChar, unpackChar},
		{"?", 1, 1, 1, packBool, unpackBool},
		{"bB", 1, 1, 1, packInt, unpackInt},
		{"hH", 2, 2, 2, packInt, unpackInt},
		{"iI", 4, 4, 4, packInt, unpackInt},
		{"lL", 4, 8, 8, packInt, unpackInt},
		{"qQ", 8, 8, 8, packInt, unpackInt},
		{"nN", 0, 8, 8, packInt, unpackInt},
		{"P", 0, 8, 8, packPointer, unpackInt},
		{"e", 2, 2, 2, packHalf, unpackHalf},
		{"f", 4, 4, 4, packFloat, unpackFloat},
		{"d", 8, 8, 8, packDouble, unpackDouble},
	} {
		for _, l := range []byte(r.letters) {
			native[l] = &code{l, r.size, r.align, r.pack, r.unpack}
			if r.standard > 0 {
				standard[l] = &code{l, r.standard, 1, r.pack, r.unpack}
			}
		}
	}
}

func (c *code) signed() bool { return c.letter >= 'a' }

// put and get are an item's bits.
func put(order binary.ByteOrder, p []byte, bits uint64) {
	switch len(p) {
	case 1:
		p[0] = byte(bits)
	case 2:
		order.PutUint16(p, uint16(bits))
	case 4:
		order.PutUint32(p, uint32(bits))
	case 8:
		order.PutUint64(p, bits)
	}
}

func get(order binary.ByteOrder, p []byte) uint64 {
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(order.Uint16(p))
	case 4:
		return uint64(order.Uint32(p))
	}
	return order.Uint64(p)
}

func packChar(s *state, _ *code, _ binary.ByteOrder, p []byte, v vm.Object) error {
	b, ok := vm.AsBytes(v)
	if _, ours := v.(vm.Bytes); !ok || len(b) != 1 || !ours && !s.isBytes(v, false) {
		return s.fail("char format requires a bytes object of length 1")
	}
	p[0] = b[0]
	return nil
}

// isBytes reports whether a value is bytes, or perhaps a bytearray.
func (s *state) isBytes(v vm.Object, array bool) bool {
	t := v.Type()
	return t.IsSubtype(vm.BytesType) || array && t.IsSubtype(vm.ByteArrayType)
}

func unpackChar(_ *code, _ binary.ByteOrder, p []byte) vm.Object { return vm.Bytes(p[:1]) }

func packBool(s *state, _ *code, _ binary.ByteOrder, p []byte, v vm.Object) error {
	t, err := s.in.Truth(v)
	p[0] = 0
	if t {
		p[0] = 1
	}
	return err
}

func unpackBool(_ *code, _ binary.ByteOrder, p []byte) vm.Object { return vm.MakeBool(p[0] != 0) }

// integer is the number that a value is or has by __index__.
func (s *state) integer(v vm.Object) (*big.Int, error) {
	if _, ok := vm.AsBig(v); !ok && v.Type().Lookup("__index__") == nil {
		return nil, s.fail("required argument is not an integer")
	}
	return s.in.IndexBig(v)
}

// packInt packs an integer that fits. An unsigned one of four bytes or more is first a C unsigned long, all else a C long: what does not fit
// these is told in other words.
func packInt(s *state, c *code, order binary.ByteOrder, p []byte, v vm.Object) error {
	n, small := v.(vm.Int)
	if !small {
		b, err := s.integer(v)
		if err != nil {
			return err
		}
		unsigned := !c.signed() && c.size >= 4
		switch {
		case b.IsInt64():
			n = vm.Int(b.Int64())
		case unsigned && b.IsUint64() && c.size == 8:
			put(order, p, b.Uint64())
			return nil
		case unsigned && b.IsUint64():
			return s.rangeError(c)
		default:
			return s.fail("argument out of range")
		}
	}
	bits := uint(8 * c.size)
	switch {
	case c.signed():
		if n<<(64-bits)>>(64-bits) != n {
			return s.rangeError(c)
		}
	case n < 0 && c.size >= 4:
		return s.fail("argument out of range")
	case n < 0 || uint64(n)>>(bits-1)>>1 != 0:
		return s.rangeError(c)
	}
	put(order, p, uint64(n))
	return nil
}

// rangeError says what a code can hold.
func (s *state) rangeError(c *code) error {
	names := map[byte]string{'b': "byte", 'B': "ubyte", 'h': "short", 'H': "ushort"}
	name := names[c.letter]
	if name == "" {
		name = "'" + string(c.letter) + "'"
	}
	bits := uint(8 * c.size)
	if c.signed() {
		return s.fail("%s format requires %d <= number <= %d", name, -1<<(bits-1), 1<<(bits-1)-1)
	}
	return s.fail("%s format requires 0 <= number <= %d", name, uint64(1)<<bits-1)
}

func packPointer(s *state, _ *code, order binary.ByteOrder, p []byte, v vm.Object) error {
	b, err := s.integer(v)
	switch {
	case err != nil:
		return err
	case b.IsInt64():
		put(order, p, uint64(b.Int64()))
	case b.IsUint64():
		put(order, p, b.Uint64())
	default:
		return s.fail("int too large to convert")
	}
	return nil
}

func unpackInt(c *code, order binary.ByteOrder, p []byte) vm.Object {
	bits := get(order, p)
	if c.signed() {
		shift := uint(64 - 8*c.size)
		return vm.MakeInt(int64(bits<<shift) >> shift)
	}
	if int64(bits) < 0 {
		return vm.MakeBig(new(big.Int).SetUint64(bits))
	}
	return vm.MakeInt(int64(bits))
}

// float is the number that a value is or has.
func (s *state) float(v vm.Object) (float64, error) {
	f, err := s.in.Float(v)
	if err != nil {
		return 0, s.fail("required argument is not a float")
	}
	return f, nil
}

func packHalf(s *state, _ *code, order binary.ByteOrder, p []byte, v vm.Object) error {
	f, err := s.float(v)
	if err != nil {
		return err
	}
	if math.Abs(f) >= 65520 && !math.IsInf(f, 0) {
		return s.in.Errorf(s.in.Exc.OverflowError, "float too large to pack with e format")
	}
	put(order, p, uint64(halfBits(f)))
	return nil
}

func unpackHalf(_ *code, order binary.ByteOrder, p []byte) vm.Object {
	return vm.Float(halfFloat(order.Uint16(p)))
}

// packFloat rounds to a C float. What is too large for one is an error in the standard manner; a C compiler makes an infinity of it.
func packFloat(s *state, c *code, order binary.ByteOrder, p []byte, v vm.Object) error {
	f, err := s.float(v)
	if err != nil {
		return err
	}
	g := float32(f)
	if math.IsInf(float64(g), 0) && !math.IsInf(f, 0) && c == standard['f'] {
		return s.in.Errorf(s.in.Exc.OverflowError, "float too large to pack with f format")
	}
	put(order, p, uint64(math.Float32bits(g)))
	return nil
}

func unpackFloat(_ *code, order binary.ByteOrder, p []byte) vm.Object {
	return vm.Float(math.Float32frombits(order.Uint32(p)))
}

func packDouble(s *state, _ *code, order binary.ByteOrder, p []byte, v vm.Object) error {
	f, err := s.float(v)
	if err == nil {
		put(order, p, math.Float64bits(f))
	}
	return err
}

func unpackDouble(_ *code, order binary.ByteOrder, p []byte) vm.Object {
	return vm.Float(math.Float64frombits(order.Uint64(p)))
}

// halfBits rounds a float to a 16-bit one.
func halfBits(f float64) uint16 {
	sign := uint16(0)
	if math.Signbit(f) {
		sign = 0x8000
		f = -f
	}
	switch {
	case math.IsNaN(f):
		return sign | 0x7e00
	case f >= 65520:
		return sign | 0x7c00
	case f < math.Ldexp(1, -14):
		return sign | uint16(math.RoundToEven(math.Ldexp(f, 24)))
	}
	m, e := math.Frexp(f)
	return sign | uint16(int(math.RoundToEven(math.Ldexp(m, 11)))+(e+13)<<10)
}

// halfFloat is the value of a 16-bit float.
func halfFloat(b uint16) float64 {
	e, m := int(b>>10&31), float64(b&1023)
	f := math.Ldexp(m+1024, e-25)
	switch {
	case e == 0:
		f = math.Ldexp(m, -24)
	case e == 31 && m == 0:
		f = math.Inf(1)
	case e == 31:
		f = math.Float64frombits(0x7ff8 << 48) // the NaN of C
	}
	if b&0x8000 != 0 {
		f = math.Copysign(f, -1)
	}
	return f
}
