package stdlib

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strconv"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// The format of module marshal, version 4: https://docs.python.org/3.11/library/marshal.html; the letters are those of CPython's marshal.c.

const (
	marshalVersion = 4
	marshalDepth   = 2000
	marshalRef     = 0x80 // a flag: this object may be referred to
)

// marshalModule is module marshal.
func marshalModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("marshal", "")
	m.Set("version", vm.Int(marshalVersion))
	clinic.Def(m, "dumps", "value, version:int=4, /", func(c *clinic.Call) (vm.Object, error) {
		b, err := marshalDump(c.Interp, c.Args[0], c.Int(1))
		if err != nil {
			return nil, err
		}
		return vm.Bytes(b), nil
	})
	clinic.Def(m, "dump", "value, file, version:int=4, /", func(c *clinic.Call) (vm.Object, error) {
		b, err := marshalDump(c.Interp, c.Args[0], c.Int(2))
		if err != nil {
			return nil, err
		}
		return c.CallMethod(c.Args[1], "write", vm.Bytes(b))
	})
	clinic.Def(m, "loads", "bytes:bytes, /", func(c *clinic.Call) (vm.Object, error) {
		r := marshalReader{in: c.Interp, data: c.Bytes(0)}
		return r.top()
	})
	clinic.Def(m, "load", "file, /", func(c *clinic.Call) (vm.Object, error) {
		r := marshalReader{in: c.Interp, file: c.Args[0]}
		return r.top()
	})
	return m, nil
}

// marshalDump is one value, written.
func marshalDump(in *vm.Interp, o vm.Object, version int64) ([]byte, error) {
	w := marshalWriter{in: in, version: version, refs: map[vm.Object]uint32{}}
	err := w.put(o, 0)
	return w.out, err
}

// marshalWriter writes one value.
type marshalWriter struct {
	in      *vm.Interp
	version int64
	out     []byte
	refs    map[vm.Object]uint32
}

func (w *marshalWriter) long(n int) { w.out = binary.LittleEndian.AppendUint32(w.out, uint32(n)) }

func (w *marshalWriter) sized(letter byte, s string) {
	w.out = append(w.out, letter)
	w.long(len(s))
	w.out = append(w.out, s...)
}

// shared writes a reference to an object that was written before, or notes that this one may be referred to.
func (w *marshalWriter) shared(o vm.Object) (done bool, flag byte) {
	if w.version < 3 {
		return false, 0
	}
	if n, ok := w.refs[o]; ok {
		w.out = append(w.out, 'r')
		w.long(int(n))
		return true, 0
	}
	w.refs[o] = uint32(len(w.refs))
	return false, marshalRef
}

// put writes an object.
func (w *marshalWriter) put(o vm.Object, depth int) error {
	if depth > marshalDepth {
		return w.in.Errorf(w.in.Exc.ValueError, "object too deeply nested to marshal")
	}
	switch x := o.(type) {
	case *vm.NoneType:
		w.out = append(w.out, 'N')
	case *vm.EllipsisType:
		w.out = append(w.out, '.')
	case vm.Bool:
		w.out = append(w.out, map[bool]byte{true: 'T', false: 'F'}[bool(x)])
	case vm.Int, *vm.BigInt:
		w.number(o)
	case vm.Float:
		w.float('g', 'f', float64(x))
	case vm.Complex:
		w.complex(complex128(x))
	case vm.Str:
		w.text(string(x))
	case vm.Bytes:
		w.sized('s', string(x))
	case *vm.ByteArray:
		w.sized('s', string(x.B))
	case *vm.Tuple, *vm.List, *vm.Dict, *vm.Set, *vm.FrozenSet:
		return w.container(o, depth)
	case *vm.Code:
		return w.code(x, depth)
	case *vm.Type:
		if x != w.in.Exc.StopIteration {
			return w.unmarshallable()
		}
		w.out = append(w.out, 'S')
	default:
		if b, ok := vm.AsBytes(o); ok && o.Type() == vm.MemoryViewType {
			w.sized('s', string(b))
			return nil
		}
		return w.unmarshallable()
	}
	return nil
}

func (w *marshalWriter) unmarshallable() error {
	return w.in.Errorf(w.in.Exc.ValueError, "unmarshallable object")
}

// number writes an integer: four bytes, or digits of 15 bits.
func (w *marshalWriter) number(o vm.Object) {
	b, _ := vm.AsBig(o)
	if b.IsInt64() && b.Int64() == int64(int32(b.Int64())) {
		w.out = append(w.out, 'i')
		w.long(int(b.Int64()))
		return
	}
	var digits []uint16
	mask := big.NewInt(0x7fff)
	for n := new(big.Int).Abs(b); n.Sign() > 0; n.Rsh(n, 15) {
		digits = append(digits, uint16(new(big.Int).And(n, mask).Uint64()))
	}
	w.out = append(w.out, 'l')
	w.long(len(digits) * b.Sign())
	for _, d := range digits {
		w.out = binary.LittleEndian.AppendUint16(w.out, d)
	}
}

func (w *marshalWriter) float(bin, text byte, f float64) {
	if w.version > 1 {
		w.out = append(w.out, bin)
		w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(f))
		return
	}
	s := strconv.FormatFloat(f, 'g', 17, 64)
	w.out = append(w.out, text, byte(len(s)))
	w.out = append(w.out, s...)
}

func (w *marshalWriter) complex(c complex128) {
	letter := byte('x')
	if w.version > 1 {
		letter = 'y'
	}
	w.out = append(w.out, letter)
	for _, f := range []float64{real(c), imag(c)} {
		if w.version > 1 {
			w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(f))
			continue
		}
		s := strconv.FormatFloat(f, 'g', 17, 64)
		w.out = append(append(w.out, byte(len(s))), s...)
	}
}

// text writes a str; one of ASCII has shorter forms since version 4.
func (w *marshalWriter) text(s string) {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	switch {
	case w.version >= 4 && ascii && len(s) < 256:
		w.out = append(append(w.out, 'z', byte(len(s))), s...)
	case w.version >= 4 && ascii:
		w.sized('a', s)
	default:
		w.sized('u', s)
	}
}

// container writes what holds other objects.
func (w *marshalWriter) container(o vm.Object, depth int) error {
	done, flag := w.shared(o)
	if done {
		return nil
	}
	var letter byte
	var items []vm.Object
	switch x := o.(type) {
	case *vm.Dict:
		w.out = append(w.out, '{'|flag)
		var err error
		x.Each(func(k, v vm.Object) bool {
			if err = w.put(k, depth+1); err == nil {
				err = w.put(v, depth+1)
			}
			return err == nil
		})
		w.out = append(w.out, '0')
		return err
	case *vm.Tuple:
		letter, items = '(', x.Items
		if w.version >= 4 && len(items) < 256 {
			w.out = append(w.out, ')'|flag, byte(len(items)))
			letter = 0
		}
	case *vm.List:
		letter, items = '[', x.Items
	case *vm.Set:
		letter, items = '<', x.Items()
	case *vm.FrozenSet:
		letter, items = '>', x.Items()
	}
	if letter == '<' || letter == '>' {
		var err error
		if items, err = w.byBytes(items); err != nil {
			return err
		}
	}
	if letter != 0 {
		w.out = append(w.out, letter|flag)
		w.long(len(items))
	}
	for _, it := range items {
		if err := w.put(it, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// byBytes are the items of a set in an order that does not hang on hashes: that of each one's own bytes.
func (w *marshalWriter) byBytes(items []vm.Object) ([]vm.Object, error) {
	type item struct {
		vm.Object
		bytes []byte
	}
	pairs := make([]item, len(items))
	for i, it := range items {
		b, err := marshalDump(w.in, it, w.version)
		if err != nil {
			return nil, err
		}
		pairs[i] = item{it, b}
	}
	slices.SortStableFunc(pairs, func(a, b item) int { return bytes.Compare(a.bytes, b.bytes) })
	sorted := make([]vm.Object, len(pairs))
	for i, p := range pairs {
		sorted[i] = p.Object
	}
	return sorted, nil
}

// marshalReader reads one value, from memory or from a file.
type marshalReader struct {
	in   *vm.Interp
	data []byte
	file vm.Object
	refs []vm.Object
}

// take reads n bytes.
func (r *marshalReader) take(n int) ([]byte, error) {
	if r.file != nil {
		v, err := r.in.CallMethod(r.file, "read", vm.MakeInt(int64(n)))
		if err != nil {
			return nil, err
		}
		b, ok := vm.AsBytes(v)
		if !ok {
			return nil, r.in.Errorf(r.in.Exc.TypeError, "file.read() returned not bytes but %s", vm.TypeName(v))
		}
		if len(b) > n {
			return nil, r.in.Errorf(r.in.Exc.ValueError, "read() returned too much data: %d bytes requested, %d returned", n, len(b))
		}
		if len(b) < n {
			return nil, r.short()
		}
		return b, nil
	}
	if n < 0 || n > len(r.data) {
		return nil, r.short()
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b, nil
}

func (r *marshalReader) short() error {
	return r.in.Errorf(r.in.Exc.EOFError, "marshal data too short")
}

func (r *marshalReader) bad(what string) error {
	return r.in.Errorf(r.in.Exc.ValueError, "bad marshal data (%s)", what)
}

func (r *marshalReader) long() (int, error) {
	b, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return int(int32(binary.LittleEndian.Uint32(b))), nil
}

// size is a length, which is not negative.
func (r *marshalReader) size(what string) (int, error) {
	n, err := r.long()
	if err == nil && n < 0 {
		err = r.bad(what + " size out of range")
	}
	return n, err
}

func (r *marshalReader) top() (vm.Object, error) {
	o, err := r.get(0)
	if err == nil && o == nil {
		return nil, r.in.Errorf(r.in.Exc.TypeError, "NULL object in marshal data for object")
	}
	return o, err
}

// get reads an object; nil for the mark at the end of a dict.
func (r *marshalReader) get(depth int) (vm.Object, error) {
	if depth > marshalDepth {
		return nil, r.in.Errorf(r.in.Exc.ValueError, "recursion limit exceeded")
	}
	b, err := r.take(1)
	if err != nil {
		if r.in.Matches(err, r.in.Exc.EOFError) {
			return nil, r.in.Errorf(r.in.Exc.EOFError, "EOF read where object expected")
		}
		return nil, err
	}
	letter, flag := b[0]&^marshalRef, b[0]&marshalRef != 0
	at := -1
	if flag {
		at = len(r.refs)
		r.refs = append(r.refs, nil)
	}
	o, err := r.read(letter, at, depth)
	if err == nil && flag {
		r.refs[at] = o
	}
	return o, err
}

// read reads what a letter says. A container that may hold itself is known under its number before its items are read.
func (r *marshalReader) read(letter byte, at, depth int) (vm.Object, error) {
	switch letter {
	case '0':
		return nil, nil
	case 'N':
		return vm.None, nil
	case 'F':
		return vm.False, nil
	case 'T':
		return vm.True, nil
	case 'S':
		return r.in.Exc.StopIteration, nil
	case '.':
		return vm.Ellipsis, nil
	case 'i':
		n, err := r.long()
		return vm.MakeInt(int64(n)), err
	case 'I':
		b, err := r.take(8)
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(binary.LittleEndian.Uint64(b))), nil
	case 'l':
		return r.digits()
	case 'g', 'f':
		f, err := r.float(letter == 'g')
		return vm.Float(f), err
	case 'y', 'x':
		re, err := r.float(letter == 'y')
		if err != nil {
			return nil, err
		}
		im, err := r.float(letter == 'y')
		return vm.Complex(complex(re, im)), err
	case 'z', 'Z', 'a', 'A', 'u', 't', 's':
		return r.chars(letter)
	case 'r':
		n, err := r.long()
		if err != nil {
			return nil, err
		}
		if n < 0 || n >= len(r.refs) || r.refs[n] == nil {
			return nil, r.bad("invalid reference")
		}
		return r.refs[n], nil
	case ')', '(', '[', '<', '>', '{':
		return r.container(letter, at, depth)
	case 'c':
		return r.code(depth)
	}
	return nil, r.bad("unknown type code")
}

// digits reads an integer of digits of 15 bits.
func (r *marshalReader) digits() (vm.Object, error) {
	n, err := r.long()
	if err != nil {
		return nil, err
	}
	size, negative := n, n < 0
	if negative {
		size = -n
	}
	if size > math.MaxInt32/2 {
		return nil, r.bad("long size out of range")
	}
	b, err := r.take(2 * size)
	if err != nil {
		return nil, err
	}
	v := new(big.Int)
	for i := size - 1; i >= 0; i-- {
		d := binary.LittleEndian.Uint16(b[2*i:])
		if d > 0x7fff {
			return nil, r.bad("digit out of range in long")
		}
		v.Or(v.Lsh(v, 15), big.NewInt(int64(d)))
	}
	if size > 0 && binary.LittleEndian.Uint16(b[2*size-2:]) == 0 {
		return nil, r.bad("unnormalized long data")
	}
	if negative {
		v.Neg(v)
	}
	return vm.MakeBig(v), nil
}

func (r *marshalReader) float(binary_ bool) (float64, error) {
	if binary_ {
		b, err := r.take(8)
		if err != nil {
			return 0, err
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	}
	n, err := r.take(1)
	if err != nil {
		return 0, err
	}
	b, err := r.take(int(n[0]))
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, r.bad("float")
	}
	return f, nil
}

// chars reads a str or bytes.
func (r *marshalReader) chars(letter byte) (vm.Object, error) {
	var n int
	var err error
	if letter == 'z' || letter == 'Z' {
		var b []byte
		if b, err = r.take(1); err == nil {
			n = int(b[0])
		}
	} else {
		n, err = r.size(map[bool]string{true: "bytes object", false: "string"}[letter == 's'])
	}
	if err != nil {
		return nil, err
	}
	b, err := r.take(n)
	if err != nil {
		return nil, err
	}
	if letter == 's' {
		return vm.Bytes(b), nil
	}
	if letter == 'u' || letter == 't' {
		s, err := r.in.Decode(b, "utf-8", "surrogatepass")
		return vm.Str(s), err
	}
	for _, c := range b {
		if c >= 0x80 { // what is not ASCII is Latin-1
			rs := make([]rune, len(b))
			for i, c := range b {
				rs[i] = rune(c)
			}
			return vm.Str(wtf8.String(rs)), nil
		}
	}
	return vm.Str(b), nil
}

// container reads what holds other objects.
func (r *marshalReader) container(letter byte, at, depth int) (vm.Object, error) {
	keep := func(o vm.Object) {
		if at >= 0 {
			r.refs[at] = o
		}
	}
	if letter == '{' {
		d := vm.NewDict()
		keep(d)
		for {
			k, err := r.get(depth + 1)
			if err != nil || k == nil {
				return d, err
			}
			v, err := r.get(depth + 1)
			if err != nil || v == nil {
				return d, err
			}
			if err := d.Set(r.in, k, v); err != nil {
				return nil, err
			}
		}
	}
	var n int
	var err error
	if letter == ')' {
		var b []byte
		if b, err = r.take(1); err == nil {
			n = int(b[0])
		}
	} else {
		n, err = r.size(map[byte]string{'(': "tuple", '[': "list", '<': "set", '>': "set"}[letter])
	}
	if err != nil {
		return nil, err
	}
	l, s := &vm.List{}, &vm.Set{}
	switch letter {
	case '[':
		keep(l)
	case '<':
		keep(s)
	}
	for range n {
		o, err := r.get(depth + 1)
		if err != nil {
			return nil, err
		}
		if o == nil {
			return nil, r.in.Errorf(r.in.Exc.TypeError, "NULL object in marshal data for %s", map[byte]string{')': "tuple", '(': "tuple", '[': "list", '<': "set", '>': "set"}[letter])
		}
		if letter == '<' || letter == '>' {
			if err := s.Add(r.in, o); err != nil {
				return nil, err
			}
			continue
		}
		l.Items = append(l.Items, o)
	}
	switch letter {
	case '[':
		return l, nil
	case '<':
		return s, nil
	case '>':
		return r.in.Call(vm.FrozenSetType, []vm.Object{s}, nil)
	}
	return vm.NewTuple(l.Items...), nil
}
