package stdlib

import (
	"encoding/binary"
	"math"
	"math/big"
	"strings"

	"whittle/capture/python/vm"
)

type packItem struct {
	code byte
	n    int
	size int
}

func parsePack(in *vm.Interp, f string) (binary.ByteOrder, []packItem, bool, error) {
	var order binary.ByteOrder = binary.LittleEndian
	native := true
	if f != "" {
		switch f[0] {
		case '<', '=':
			native = false
			f = f[1:]
		case '>', '!':
			order, native = binary.BigEndian, false
			f = f[1:]
		case '@':
			f = f[1:]
		}
	}
	sizes := map[byte]int{'x': 1, 'c': 1, 'b': 1, 'B': 1, '?': 1, 'h': 2, 'H': 2, 'i': 4, 'I': 4, 'l': 4, 'L': 4, 'q': 8, 'Q': 8, 'f': 4, 'd': 8, 'e': 2, 's': 1, 'p': 1, 'n': 8, 'N': 8, 'P': 8}
	var out []packItem
	n, has := 0, false
	for i := 0; i < len(f); i++ {
		c := f[i]
		if strings.IndexByte(" \t\n\r\v\f", c) >= 0 {
			continue
		}
		if c >= '0' && c <= '9' {
			n, has = n*10+int(c-'0'), true
			continue
		}
		size, ok := sizes[c]
		if !ok || !native && strings.IndexByte("nNP", c) >= 0 {
			return nil, nil, false, in.Errorf(in.Exc.ValueError, "bad char in struct format")
		}
		if native && (c == 'l' || c == 'L') {
			size = 8
		}
		if !has {
			n = 1
		}
		out = append(out, packItem{c, n, size})
		n, has = 0, false
	}
	if has {
		return nil, nil, false, in.Errorf(in.Exc.ValueError, "repeat count given without format specifier")
	}
	return order, out, native, nil
}

func structModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_struct", "")
	m.FuncN("calcsize", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		_, items, native, err := parsePack(in, str(args[0]))
		n := 0
		for _, it := range items {
			if native && it.code != 's' && it.code != 'p' && it.code != 'x' {
				n = (n + it.size - 1) / it.size * it.size
			}
			n += it.n * it.size
		}
		return vm.MakeInt(int64(n)), err
	})
	m.Func("pack", func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		order, items, native, err := parsePack(in, str(args[0]))
		if err != nil {
			return nil, err
		}
		args = args[1:]
		var out []byte
		want := 0
		for _, it := range items {
			switch it.code {
			case 'x':
			case 's', 'p':
				want++
			default:
				want += it.n
			}
		}
		if want != len(args) {
			return nil, in.Errorf(in.Exc.ValueError, "pack expected %d items for packing (got %d)", want, len(args))
		}
		for _, it := range items {
			if native && it.code != 's' && it.code != 'p' && it.code != 'x' {
				for len(out)%it.size != 0 {
					out = append(out, 0)
				}
			}
			if it.code == 'x' {
				out = append(out, make([]byte, it.n)...)
				continue
			}
			if it.code == 's' || it.code == 'p' {
				b, ok := vm.AsBytes(args[0])
				if _, view := args[0].(*vm.MemoryView); !ok || view {
					return nil, in.Errorf(in.Exc.ValueError, "argument for '%c' must be a bytes object", it.code)
				}
				args = args[1:]
				buf := make([]byte, it.n)
				if it.code == 'p' && it.n > 0 {
					b = b[:min(len(b), it.n-1, 255)]
					buf[0] = byte(len(b))
					copy(buf[1:], b)
				} else {
					copy(buf, b)
				}
				out = append(out, buf...)
				continue
			}
			for range it.n {
				v := args[0]
				args = args[1:]
				var bits uint64
				switch it.code {
				case 'c':
					b, _ := vm.AsBytes(v)
					if len(b) != 1 {
						return nil, in.Errorf(in.Exc.ValueError, "char format requires a bytes object of length 1")
					}
					bits = uint64(b[0])
				case '?':
					t, err := in.Truth(v)
					if err != nil {
						return nil, err
					}
					if t {
						bits = 1
					}
				case 'f', 'd', 'e':
					f, err := in.Float(v)
					if err != nil {
						return nil, in.Errorf(in.Exc.ValueError, "required argument is not a float")
					}
					switch it.code {
					case 'f':
						if math.IsInf(float64(float32(f)), 0) && !math.IsInf(f, 0) && !native {
							return nil, in.Errorf(in.Exc.OverflowError, "float too large to pack with f format")
						}
						bits = uint64(math.Float32bits(float32(f)))
					case 'd':
						bits = math.Float64bits(f)
					default:
						if math.Abs(f) >= 65520 && !math.IsInf(f, 0) {
							return nil, in.Errorf(in.Exc.OverflowError, "float too large to pack with e format")
						}
						bits = uint64(halfBits(f))
					}
				default:
					b, ok := vm.AsBig(v)
					if !ok {
						i, err := in.Index(v)
						if err != nil {
							return nil, in.Errorf(in.Exc.ValueError, "required argument is not an integer")
						}
						b = big.NewInt(i)
					}
					lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(it.size*8))
					if it.code >= 'a' && it.code <= 'z' {
						hi.Rsh(hi, 1)
						lo.Neg(hi)
					}
					if unsigned := it.code >= 'A' && it.code <= 'Z' && it.size > 2; !b.IsInt64() && !(unsigned && b.IsUint64()) {
						return nil, in.Errorf(in.Exc.ValueError, "argument out of range")
					}
					if b.Cmp(lo) < 0 || b.Cmp(hi) >= 0 {
						name := map[byte]string{'b': "byte", 'B': "ubyte", 'h': "short", 'H': "ushort"}[it.code]
						hi.Sub(hi, big.NewInt(1))
						switch {
						case name != "":
							return nil, in.Errorf(in.Exc.ValueError, "%s format requires %v <= number <= %v", name, lo, hi)
						case it.size == 8:
							return nil, in.Errorf(in.Exc.ValueError, "argument out of range")
						}
						return nil, in.Errorf(in.Exc.ValueError, "'%c' format requires %v <= number <= %v", it.code, lo, hi)
					}
					if b.Sign() < 0 {
						bits = uint64(b.Int64())
					} else {
						bits = b.Uint64()
					}
				}
				var buf [8]byte
				switch it.size {
				case 1:
					buf[0] = byte(bits)
				case 2:
					order.PutUint16(buf[:], uint16(bits))
				case 4:
					order.PutUint32(buf[:], uint32(bits))
				case 8:
					order.PutUint64(buf[:], bits)
				}
				out = append(out, buf[:it.size]...)
			}
		}
		return vm.Bytes(out), nil
	})
	m.FuncN("unpack_from", 3, 3, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		order, items, native, err := parsePack(in, str(args[0]))
		if err != nil {
			return nil, err
		}
		b, _ := vm.AsBytes(args[1])
		off, _ := vm.AsInt(args[2])
		if off < 0 || int(off) > len(b) {
			return nil, in.Errorf(in.Exc.ValueError, "offset out of range")
		}
		b = b[off:]
		pos := 0
		var out []vm.Object
		for _, it := range items {
			if native && it.code != 's' && it.code != 'p' && it.code != 'x' {
				pos = (pos + it.size - 1) / it.size * it.size
			}
			if pos+it.n*it.size > len(b) {
				return nil, in.Errorf(in.Exc.ValueError, "unpack requires a buffer of more bytes")
			}
			if it.code == 'x' {
				pos += it.n
				continue
			}
			if it.code == 'p' {
				s := b[pos : pos+it.n]
				if it.n > 0 {
					s = s[1 : 1+min(int(s[0]), it.n-1)]
				}
				out = append(out, vm.Bytes(s))
				pos += it.n
				continue
			}
			if it.code == 's' {
				out = append(out, vm.Bytes(b[pos:pos+it.n]))
				pos += it.n
				continue
			}
			for range it.n {
				p := b[pos:]
				pos += it.size
				var bits uint64
				switch it.size {
				case 1:
					bits = uint64(p[0])
				case 2:
					bits = uint64(order.Uint16(p))
				case 4:
					bits = uint64(order.Uint32(p))
				case 8:
					bits = order.Uint64(p)
				}
				switch it.code {
				case 'c':
					out = append(out, vm.Bytes([]byte{byte(bits)}))
				case '?':
					out = append(out, vm.MakeBool(bits != 0))
				case 'f':
					out = append(out, vm.Float(math.Float32frombits(uint32(bits))))
				case 'd':
					out = append(out, vm.Float(math.Float64frombits(bits)))
				case 'e':
					out = append(out, vm.Float(halfFloat(uint16(bits))))
				default:
					if it.code >= 'a' && it.code <= 'z' {
						shift := uint(64 - it.size*8)
						out = append(out, vm.MakeInt(int64(bits<<shift)>>shift))
					} else {
						out = append(out, vm.MakeBig(new(big.Int).SetUint64(bits)))
					}
				}
			}
		}
		return vm.NewTuple(out...), nil
	})
	return m, nil
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
		return 0x7e00
	case f >= 65520:
		return sign | 0x7c00
	case f < math.Ldexp(1, -14):
		return sign | uint16(math.RoundToEven(math.Ldexp(f, 24)))
	}
	m, e := math.Frexp(f)
	return sign | uint16(int(math.RoundToEven(math.Ldexp(m, 11)))+(e+13)<<10)
}

func halfFloat(b uint16) float64 {
	e, m := int(b>>10&31), float64(b&1023)
	var f float64
	switch e {
	case 0:
		f = math.Ldexp(m, -24)
	case 31:
		f = math.Inf(1)
		if m != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(m+1024, e-25)
	}
	if b&0x8000 != 0 {
		f = -f
	}
	return f
}
