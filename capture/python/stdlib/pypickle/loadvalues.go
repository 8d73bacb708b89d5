package pypickle

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"

	"whittle/capture/python/vm"
)

// loaders are what the instructions do. STOP has none.
var loaders [256]func(u *unpickler) error

func init() {
	constants := map[byte]vm.Object{opNone: vm.None, opNewTrue: vm.True, opNewFalse: vm.False}
	for code, v := range constants {
		loaders[code] = func(u *unpickler) error { u.push(v); return nil }
	}
	for code, n := range map[byte]int{opBinInt1: 1, opBinInt2: 2} {
		loaders[code] = value(func(u *unpickler) (vm.Object, error) {
			v, err := u.number(n)
			return vm.MakeInt(int64(v)), err
		})
	}
	loaders[opBinInt] = value(func(u *unpickler) (vm.Object, error) {
		v, err := u.number(4)
		return vm.MakeInt(int64(int32(v))), err
	})
	loaders[opInt] = value((*unpickler).decimal)
	loaders[opLong] = value((*unpickler).longDecimal)
	loaders[opLong1] = value(func(u *unpickler) (vm.Object, error) { return u.long(1) })
	loaders[opLong4] = value(func(u *unpickler) (vm.Object, error) { return u.long(4) })
	loaders[opFloat] = value((*unpickler).float)
	loaders[opBinFloat] = value(func(u *unpickler) (vm.Object, error) {
		b, err := u.take(8)
		if err != nil {
			return nil, err
		}
		return vm.Float(math.Float64frombits(binary.BigEndian.Uint64(b))), nil
	})
	loaders[opString] = value((*unpickler).quoted)
	loaders[opBinString] = value(func(u *unpickler) (vm.Object, error) { return u.oldText(4) })
	loaders[opShortBinString] = value(func(u *unpickler) (vm.Object, error) { return u.oldText(1) })
	loaders[opUnicode] = value(func(u *unpickler) (vm.Object, error) {
		b, err := u.line()
		if err != nil {
			return nil, err
		}
		s, err := u.in.Decode(b[:len(b)-1], "raw_unicode_escape", "strict")
		return vm.Str(s), err
	})
	for code, n := range map[byte]int{opShortBinUnicode: 1, opBinUnicode: 4, opBinUnicode8: 8} {
		loaders[code] = value(func(u *unpickler) (vm.Object, error) {
			b, err := u.sized(n, "BINUNICODE")
			if err != nil {
				return nil, err
			}
			s, err := u.in.Decode(b, "utf-8", "surrogatepass")
			return vm.Str(s), err
		})
	}
	for code, n := range map[byte]int{opShortBinBytes: 1, opBinBytes: 4, opBinBytes8: 8} {
		loaders[code] = value(func(u *unpickler) (vm.Object, error) {
			b, err := u.sized(n, "BINBYTES")
			return vm.Bytes(b), err
		})
	}
	loaders[opByteArray8] = value(func(u *unpickler) (vm.Object, error) {
		b, err := u.sized(8, "BYTEARRAY8")
		return &vm.ByteArray{B: slices.Clone(b)}, err
	})
	loaders[opNextBuffer] = value((*unpickler).nextBuffer)
	loaders[opReadonlyBuffer] = (*unpickler).readonlyBuffer
}

// value is an instruction that pushes what a function gives.
func value(f func(u *unpickler) (vm.Object, error)) func(u *unpickler) error {
	return func(u *unpickler) error {
		v, err := f(u)
		if err == nil {
			u.push(v)
		}
		return err
	}
}

// decimal reads an integer in digits; 00 and 01 are the truth values of protocols 0 and 1.
func (u *unpickler) decimal() (vm.Object, error) {
	b, err := u.line()
	if err != nil {
		return nil, err
	}
	if len(b) < 2 {
		return nil, u.truncated()
	}
	s := strings.TrimSpace(string(b))
	switch string(b) {
	case "00\n":
		return vm.False, nil
	case "01\n":
		return vm.True, nil
	}
	n, ok := new(big.Int).SetString(s, 0)
	if !ok {
		return nil, u.in.Errorf(u.in.Exc.ValueError, "could not convert string to int")
	}
	return vm.MakeBig(n), nil
}

// longDecimal reads an integer in digits with an L behind.
func (u *unpickler) longDecimal() (vm.Object, error) {
	b, err := u.line()
	if err != nil {
		return nil, err
	}
	if len(b) < 2 {
		return nil, u.truncated()
	}
	if b[len(b)-2] == 'L' {
		b = b[:len(b)-2]
	}
	return u.in.Call(vm.IntType, []vm.Object{vm.Str(b)}, nil)
}

// long reads an integer in two's complement after its length.
func (u *unpickler) long(n int) (vm.Object, error) {
	size, err := u.number(n)
	if err != nil {
		return nil, err
	}
	if n == 4 && int32(size) < 0 {
		return nil, u.fail("LONG pickle has negative byte count")
	}
	b, err := u.take(int(size))
	if err != nil || len(b) == 0 {
		return vm.MakeInt(0), err
	}
	negative := b[len(b)-1] >= 0x80
	b = slices.Clone(b)
	slices.Reverse(b)
	v := new(big.Int).SetBytes(b)
	if negative {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return vm.MakeBig(v), nil
}

func (u *unpickler) float() (vm.Object, error) {
	b, err := u.line()
	if err != nil {
		return nil, err
	}
	if len(b) < 2 {
		return nil, u.truncated()
	}
	v, err := u.in.Call(vm.FloatType, []vm.Object{vm.Str(b[:len(b)-1])}, nil)
	if err != nil && u.in.Matches(err, u.in.Exc.ValueError) {
		err = u.in.Errorf(u.in.Exc.ValueError, "could not convert string to float: '%s'", b)
	}
	return v, err
}

// quoted reads a string of Python 2 as its repr.
func (u *unpickler) quoted() (vm.Object, error) {
	b, err := u.line()
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	n := len(b)
	if n < 2 || b[0] != b[n-1] || b[0] != '\'' && b[0] != '"' {
		return nil, u.fail("the STRING opcode argument must be quoted")
	}
	codecs, err := u.in.Import("_codecs")
	if err != nil {
		return nil, err
	}
	v, err := u.in.CallMethod(codecs, "escape_decode", vm.Bytes(b[1:n-1]))
	if err != nil {
		return nil, err
	}
	t, _ := vm.AsTuple(v)
	raw, _ := vm.AsBytes(t.Items[0])
	return u.text(raw)
}

// oldText reads a string of Python 2 after its length.
func (u *unpickler) oldText(n int) (vm.Object, error) {
	size, err := u.number(n)
	if err != nil {
		return nil, err
	}
	b, err := u.take(int(size))
	if err != nil {
		return nil, err
	}
	return u.text(b)
}

func (u *unpickler) nextBuffer() (vm.Object, error) {
	if u.buffers == nil {
		return nil, u.fail("pickle stream refers to out-of-band data but no *buffers* argument was given")
	}
	v, err := u.in.Next(u.buffers)
	if err == nil && v == nil {
		err = u.fail("not enough out-of-band buffers")
	}
	return v, err
}

// readonlyBuffer has the last buffer not written to.
func (u *unpickler) readonlyBuffer() error {
	v, err := u.top()
	if err != nil {
		return err
	}
	view, err := u.in.MemoryView(v)
	if err != nil {
		return err
	}
	if _, writable := vm.WritableBytes(view); writable {
		u.stack[len(u.stack)-1], err = u.in.CallMethod(view, "toreadonly")
	}
	return err
}
