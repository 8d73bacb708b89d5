package pyarray

import (
	"encoding/binary"
	"math"
	"math/big"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// kind is a row of the table of type codes.
type kind struct {
	code   byte
	size   int
	format byte // of the buffer, where it is not the code
	class  class
	get    func(in *vm.Interp, p []byte) (vm.Object, error)
	set    func(in *vm.Interp, p []byte, v vm.Object) error
}

// class is what the items are, as pickles tell it.
type class int

const (
	unsigned class = iota
	signed
	float
	text
)

var order = binary.LittleEndian

// kinds are the type codes in CPython's order.
var kinds = []*kind{
	{'b', 1, 0, signed, getInt(8, signed), setInt(8, "signed char", "signed short integer", shorts)},
	{'B', 1, 0, unsigned, getInt(8, unsigned), setInt(8, "unsigned byte integer", "", whole)},
	{'u', 4, 'w', text, getChar, setChar},
	{'h', 2, 0, signed, getInt(16, signed), setInt(16, "signed short integer", "signed short integer", shorts)},
	{'H', 2, 0, unsigned, getInt(16, unsigned), setInt(16, "unsigned short", "signed integer", ints)},
	{'i', 4, 0, signed, getInt(32, signed), setInt(32, "signed integer", "signed integer", ints)},
	{'I', 4, 0, unsigned, getInt(32, unsigned), setLong(32, unsignedLong)},
	{'l', 8, 0, signed, getInt(64, signed), setInt(64, "", "", whole)},
	{'L', 8, 0, unsigned, getInt(64, unsigned), setLong(64, unsignedLong)},
	{'q', 8, 0, signed, getInt(64, signed), setLongLong},
	{'Q', 8, 0, unsigned, getInt(64, unsigned), setLong(64, unsignedLongLong)},
	{'f', 4, 0, float, getFloat, setFloat},
	{'d', 8, 0, float, getDouble, setDouble},
}

// typecodes are all codes.
var typecodes = func() (s string) {
	for _, k := range kinds {
		s += string(k.code)
	}
	return s
}()

func kindOf(code byte) *kind {
	for _, k := range kinds {
		if k.code == code {
			return k
		}
	}
	return nil
}

// load and store are the bits of an item.
func load(p []byte) uint64 {
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

func store(p []byte, bits uint64) {
	switch len(p) {
	case 1:
		p[0] = byte(bits)
	case 2:
		order.PutUint16(p, uint16(bits))
	case 4:
		order.PutUint32(p, uint32(bits))
	default:
		order.PutUint64(p, bits)
	}
}

func getInt(bits uint, c class) func(*vm.Interp, []byte) (vm.Object, error) {
	return func(_ *vm.Interp, p []byte) (vm.Object, error) {
		u := load(p)
		if c == signed {
			return vm.MakeInt(int64(u<<(64-bits)) >> (64 - bits)), nil
		}
		if int64(u) < 0 {
			return vm.MakeBig(new(big.Int).SetUint64(u)), nil
		}
		return vm.MakeInt(int64(u)), nil
	}
}

// argument is the C type that CPython takes an item as before it looks at the item's own bounds; beyond it the error has another name.
type argument struct{ lo, hi int64 }

var (
	whole  = argument{math.MinInt64, math.MaxInt64}
	shorts = argument{math.MinInt16, math.MaxInt16}
	ints   = argument{math.MinInt32, math.MaxInt32}
)

// setInt stores an item that CPython takes as a C long at most. name is what errors call the item, wide what they call the argument.
func setInt(bits uint, name, wide string, a argument) func(*vm.Interp, []byte, vm.Object) error {
	lo, hi := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if name != "" && name[0] == 'u' {
		lo, hi = 0, 1<<bits-1
	}
	return func(in *vm.Interp, p []byte, v vm.Object) error {
		b, err := in.IndexBig(v)
		if err != nil {
			return err
		}
		if !b.IsInt64() {
			return in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C long")
		}
		n := b.Int64()
		out := func(what string, low bool) error {
			how := "greater than maximum"
			if low {
				how = "less than minimum"
			}
			return in.Errorf(in.Exc.OverflowError, "%s is %s", what, how)
		}
		switch {
		case n < a.lo || n > a.hi:
			return out(wide, n < a.lo)
		case n < lo || n > hi:
			return out(name, n < lo)
		}
		store(p, uint64(n))
		return nil
	}
}

// words are what CPython's conversions of large numbers say.
type words struct{ negative, large string }

var (
	unsignedLong     = words{"can't convert negative value to unsigned int", "Python int too large to convert to C unsigned long"}
	unsignedLongLong = words{"can't convert negative int to unsigned", "int too big to convert"}
)

func setLong(bits uint, w words) func(*vm.Interp, []byte, vm.Object) error {
	return func(in *vm.Interp, p []byte, v vm.Object) error {
		b, err := in.IndexBig(v)
		if err != nil {
			return err
		}
		switch {
		case b.Sign() < 0:
			return in.Errorf(in.Exc.OverflowError, "%s", w.negative)
		case !b.IsUint64():
			return in.Errorf(in.Exc.OverflowError, "%s", w.large)
		case bits == 32 && b.Uint64() > math.MaxUint32:
			return in.Errorf(in.Exc.OverflowError, "unsigned int is greater than maximum")
		}
		store(p, b.Uint64())
		return nil
	}
}

func setLongLong(in *vm.Interp, p []byte, v vm.Object) error {
	b, err := in.IndexBig(v)
	if err != nil {
		return err
	}
	if !b.IsInt64() {
		return in.Errorf(in.Exc.OverflowError, "int too big to convert")
	}
	store(p, uint64(b.Int64()))
	return nil
}

func getChar(in *vm.Interp, p []byte) (vm.Object, error) {
	r := order.Uint32(p)
	if r > maxRune {
		return nil, in.Errorf(in.Exc.ValueError, "chr() arg not in range(0x110000)")
	}
	return vm.Str(wtf8.Char(rune(r))), nil
}

const maxRune = 0x10ffff

func setChar(in *vm.Interp, p []byte, v vm.Object) error {
	s, ok := vm.AsStr(v)
	if r, n := wtf8.DecodeRuneInString(s); ok && n > 0 && n == len(s) {
		store(p, uint64(r))
		return nil
	}
	return in.Errorf(in.Exc.TypeError, "array item must be unicode character")
}

func getFloat(_ *vm.Interp, p []byte) (vm.Object, error) {
	return vm.Float(math.Float32frombits(order.Uint32(p))), nil
}

func setFloat(in *vm.Interp, p []byte, v vm.Object) error {
	f, err := in.Float(v)
	if err == nil {
		order.PutUint32(p, math.Float32bits(float32(f)))
	}
	return err
}

func getDouble(_ *vm.Interp, p []byte) (vm.Object, error) {
	return vm.Float(math.Float64frombits(order.Uint64(p))), nil
}

func setDouble(in *vm.Interp, p []byte, v vm.Object) error {
	f, err := in.Float(v)
	if err == nil {
		order.PutUint64(p, math.Float64bits(f))
	}
	return err
}
