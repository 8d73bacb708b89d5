package pyctypes

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// code is a simple type, by the letter of its _type_: see https://docs.python.org/3.11/library/ctypes.html#fundamental-data-types; sizes are
// those of 64-bit Unix.
type code struct {
	letter byte
	size   int
	get    func(d *data, p []byte) (vm.Object, error)
	set    func(d *data, at int, p []byte, v vm.Object) error // at is the place in d that keeps alive what p refers to
}

const codeLetters = "cbBhHiIlLdfuzZqQPXOv?g"

var codes = map[byte]*code{}

func init() {
	for letter, size := range map[byte]int{'b': 1, 'h': 2, 'i': 4, 'l': 8, 'q': 8} {
		codes[letter] = &code{letter, size, getSigned, setInt}
		codes[letter&^0x20] = &code{letter &^ 0x20, size, getUnsigned, setInt}
	}
	for _, c := range []*code{
		{'c', 1, getChar, setChar}, {'u', 4, getWide, setWide}, {'?', 1, getBool, setBool}, {'v', 2, getBool, setVariantBool},
		{'f', 4, getFloat, setFloat}, {'d', 8, getFloat, setFloat}, {'g', 16, getFloat, setFloat},
		{'z', 8, getText, setText}, {'Z', 8, getWideText, setWideText}, {'P', 8, getAddress, setAddress}, {'O', 8, getObject, setObject},
	} {
		codes[c.letter] = c
	}
}

// swappable reports whether the type has a form in the other byte order.
func (c *code) swappable() bool {
	switch c.letter {
	case 'h', 'H', 'i', 'I', 'l', 'L', 'q', 'Q', 'f', 'd':
		return true
	}
	return false
}

// integral reports whether a bit field can be of the type.
func (c *code) integral() bool {
	switch c.letter {
	case 'b', 'B', 'h', 'H', 'i', 'I', 'l', 'L', 'q', 'Q', '?', 'c':
		return true
	}
	return false
}

// load and store are a number of 1, 2, 4 or 8 bytes, the lowest first.
func load(p []byte) uint64 {
	var b [8]byte
	copy(b[:], p)
	return binary.LittleEndian.Uint64(b[:])
}

func store(p []byte, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(p, b[:])
}

func getSigned(_ *data, p []byte) (vm.Object, error) {
	shift := 64 - 8*len(p)
	return vm.MakeInt(int64(load(p)<<shift) >> shift), nil
}

func getUnsigned(_ *data, p []byte) (vm.Object, error) {
	return vm.MakeBig(new(big.Int).SetUint64(load(p))), nil
}

// low64 are the low bits of an integer of any size.
func low64(b *big.Int) uint64 {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	return mask.And(mask, b).Uint64()
}

func setInt(d *data, _ int, p []byte, v vm.Object) error {
	b, err := d.in().IndexBig(v)
	if err != nil {
		return err
	}
	store(p, low64(b))
	return nil
}

func getBool(_ *data, p []byte) (vm.Object, error) { return vm.MakeBool(load(p) != 0), nil }

func setBool(d *data, _ int, p []byte, v vm.Object) error {
	t, err := d.in().Truth(v)
	if err != nil {
		return err
	}
	store(p, 0)
	if t {
		p[0] = 1
	}
	return nil
}

// A VARIANT_BOOL of Windows is -1 where it is true.
func setVariantBool(d *data, at int, p []byte, v vm.Object) error {
	if err := setBool(d, at, p, v); err != nil {
		return err
	}
	store(p, -load(p))
	return nil
}

func getChar(_ *data, p []byte) (vm.Object, error) { return vm.Bytes(p[:1]), nil }

func setChar(d *data, _ int, p []byte, v vm.Object) error {
	if b, ok := asText(v); ok && len(b) == 1 {
		p[0] = b[0]
		return nil
	}
	if n, ok := vm.AsInt(v); ok && n >= 0 && n < 256 {
		p[0] = byte(n)
		return nil
	}
	return d.in().Errorf(d.in().Exc.TypeError, "one character bytes, bytearray or integer expected")
}

// asText are the bytes of a bytes or bytearray.
func asText(v vm.Object) ([]byte, bool) {
	if t := v.Type(); !t.IsSubtype(vm.BytesType) && !t.IsSubtype(vm.ByteArrayType) {
		return nil, false
	}
	return vm.AsBytes(v)
}

// wide is text as wchar_t has it: four bytes a character.
func wide(s string) []byte {
	var out []byte
	for _, r := range wtf8.Runes(s) {
		out = binary.LittleEndian.AppendUint32(out, uint32(r))
	}
	return out
}

// narrow is the text of an array of wchar_t.
func narrow(p []byte) string {
	var out []byte
	for ; len(p) >= 4; p = p[4:] {
		out = wtf8.AppendRune(out, rune(binary.LittleEndian.Uint32(p)))
	}
	return string(out)
}

func getWide(_ *data, p []byte) (vm.Object, error) { return vm.Str(narrow(p)), nil }

func setWide(d *data, _ int, p []byte, v vm.Object) error {
	s, ok := vm.AsStr(v)
	if !ok {
		return d.in().Errorf(d.in().Exc.TypeError, "unicode string expected instead of %s instance", v.Type().Name)
	}
	if wtf8.RuneCountInString(s) != 1 {
		return d.in().Errorf(d.in().Exc.TypeError, "one character unicode string expected")
	}
	copy(p, wide(s))
	return nil
}

func getFloat(_ *data, p []byte) (vm.Object, error) {
	switch len(p) {
	case 4:
		return vm.Float(math.Float32frombits(uint32(load(p)))), nil
	case 8:
		return vm.Float(math.Float64frombits(load(p))), nil
	}
	return vm.Float(fromExtended(load(p), binary.LittleEndian.Uint16(p[8:]))), nil
}

func setFloat(d *data, _ int, p []byte, v vm.Object) error {
	f, err := d.in().Float(v)
	if err != nil {
		return err
	}
	switch len(p) {
	case 4:
		store(p, uint64(math.Float32bits(float32(f))))
	case 8:
		store(p, math.Float64bits(f))
	default:
		mantissa, exponent := toExtended(f)
		binary.LittleEndian.PutUint64(p, mantissa)
		binary.LittleEndian.PutUint64(p[8:], uint64(exponent))
	}
	return nil
}

// toExtended is a number in x87's 80 bits: 64 of mantissa, the first one written, and 16 of sign and exponent (Intel's manual, volume 1, 4.2.2).
func toExtended(f float64) (mantissa uint64, exponent uint16) {
	b := math.Float64bits(f)
	sign, exp, frac := uint16(b>>63)<<15, int(b>>52&0x7ff), b&(1<<52-1)
	switch {
	case exp == 0x7ff:
		return 1<<63 | frac<<11, sign | 0x7fff
	case exp == 0 && frac == 0:
		return 0, sign
	case exp == 0:
		n := bits.LeadingZeros64(frac)
		return frac << n, sign | uint16(1-1023+16383+11-n)
	}
	return 1<<63 | frac<<11, sign | uint16(exp-1023+16383)
}

// fromExtended is the number that is nearest.
func fromExtended(mantissa uint64, exponent uint16) float64 {
	exp := int(exponent & 0x7fff)
	var f float64
	switch {
	case exp == 0x7fff && mantissa<<1 == 0:
		f = math.Inf(1)
	case exp == 0x7fff:
		f = math.NaN()
	default:
		f = math.Ldexp(float64(mantissa), exp-16383-63)
	}
	if exponent>>15 != 0 {
		f = math.Copysign(f, -1)
	}
	return f
}

func getAddress(_ *data, p []byte) (vm.Object, error) {
	if a := load(p); a != 0 {
		return vm.MakeBig(new(big.Int).SetUint64(a)), nil
	}
	return vm.None, nil
}

func setAddress(d *data, _ int, p []byte, v vm.Object) error {
	if v == vm.None {
		store(p, 0)
		return nil
	}
	b, ok := vm.AsBig(v)
	if !ok {
		return d.in().Errorf(d.in().Exc.TypeError, "cannot be converted to pointer")
	}
	store(p, low64(b))
	return nil
}

func getText(d *data, p []byte) (vm.Object, error) {
	a := load(p)
	if a == 0 {
		return vm.None, nil
	}
	b, err := d.lib.text(a, -1, 1)
	return vm.Bytes(b), err
}

func setText(d *data, at int, p []byte, v vm.Object) error {
	b, ok := vm.AsBytes(v)
	if !ok || !v.Type().IsSubtype(vm.BytesType) {
		return setNumberOr(d, p, v, "bytes or integer address expected instead of %s instance")
	}
	store(p, d.keepText(at, v, append(b[:len(b):len(b)], 0)))
	return nil
}

func getWideText(d *data, p []byte) (vm.Object, error) {
	a := load(p)
	if a == 0 {
		return vm.None, nil
	}
	b, err := d.lib.text(a, -1, 4)
	return vm.Str(narrow(b)), err
}

func setWideText(d *data, at int, p []byte, v vm.Object) error {
	s, ok := vm.AsStr(v)
	if !ok {
		return setNumberOr(d, p, v, "unicode string or integer address expected instead of %s instance")
	}
	store(p, d.keepText(at, v, append(wide(s), 0, 0, 0, 0)))
	return nil
}

// setNumberOr stores an address that was given as a number, or none.
func setNumberOr(d *data, p []byte, v vm.Object, otherwise string) error {
	if b, ok := vm.AsBig(v); ok {
		store(p, low64(b))
		return nil
	}
	if v != vm.None {
		return d.in().Errorf(d.in().Exc.TypeError, otherwise, v.Type().Name)
	}
	store(p, 0)
	return nil
}

// An object of Python's stands in memory as its id.
func getObject(d *data, p []byte) (vm.Object, error) {
	id := load(p)
	if id == 0 {
		return nil, d.in().Errorf(d.in().Exc.ValueError, "PyObject is NULL")
	}
	for r := d; r != nil; r = r.awaits {
		for _, k := range r.root.kept {
			if o, ok := k.(vm.Object); ok && d.lib.id(o) == id {
				return o, nil
			}
		}
	}
	return nil, d.lib.astray(id)
}

func setObject(d *data, at int, p []byte, v vm.Object) error {
	d.hold(at, v, v)
	store(p, d.lib.id(v))
	return nil
}
