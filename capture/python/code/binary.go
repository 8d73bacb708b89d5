package code

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/big"
	"unsafe"
)

// The form in which compiled code is kept between runs. It is read at every start, and so is made for reading: each text once, numbers of
// varying length, positions as differences.
//
//	file   = magic sum(4 bytes, of what follows) texts code
//	texts  = count { length bytes }
//	code   = name qualname filename line argcount posonly kwonly flags stack depth consts names locals cells frees instrs handlers
//	consts = count { kind value }; names and the like = count { number of a text }
//	instr  = op arg line-difference column end-line-difference end-column
//
// Whoever changes Code or the compiler has to change nothing here but the fields: the folder of the files is another for another build.
const magic = "wcode1\x00\n"

// ErrDamaged says that bytes are not what Marshal wrote.
var ErrDamaged = errors.New("code: damaged")

// Kinds of constants.
const (
	kindNone = iota
	kindFalse
	kindTrue
	kindInt
	kindBig
	kindFloat
	kindComplex
	kindText
	kindBytes
	kindEllipsis
	kindTuple
	kindFrozenSet
	kindCode
)

// Marshal writes a code object and those among its constants; ok is false if it has a constant that the compiler does not make.
func Marshal(c *Code) (data []byte, ok bool) {
	w := &binaryWriter{numbers: map[string]uint64{}}
	w.code(c)
	if w.strange {
		return nil, false
	}
	body := binary.AppendUvarint(nil, uint64(len(w.texts)))
	for _, s := range w.texts {
		body = binary.AppendUvarint(body, uint64(len(s)))
		body = append(body, s...)
	}
	body = append(body, w.out...)
	data = append(data, magic...)
	data = binary.LittleEndian.AppendUint32(data, crc32.ChecksumIEEE(body))
	return append(data, body...), true
}

// binaryWriter collects a file.
type binaryWriter struct {
	out     []byte
	texts   []string
	numbers map[string]uint64
	strange bool // a constant is of no kind
}

func (w *binaryWriter) num(n int64) { w.out = binary.AppendVarint(w.out, n) }

func (w *binaryWriter) count(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *binaryWriter) text(s string) {
	n, ok := w.numbers[s]
	if !ok {
		n = uint64(len(w.texts))
		w.numbers[s] = n
		w.texts = append(w.texts, s)
	}
	w.out = binary.AppendUvarint(w.out, n)
}

func (w *binaryWriter) code(c *Code) {
	w.text(c.Name)
	w.text(c.QualName)
	w.text(c.Filename)
	for _, n := range []int{c.FirstLine, c.ArgCount, c.PosOnly, c.KwOnly, int(c.Flags), c.StackSize, c.Depth} {
		w.num(int64(n))
	}
	w.consts(c.Consts)
	for _, list := range [][]string{c.Names, c.VarNames, c.CellVars, c.FreeVars} {
		w.count(len(list))
		for _, s := range list {
			w.text(s)
		}
	}
	w.count(len(c.Instrs))
	line := int32(0)
	for _, in := range c.Instrs {
		w.out = append(w.out, byte(in.Op))
		w.num(int64(in.Arg))
		w.num(int64(in.Line - line))
		w.num(int64(in.Col))
		w.num(int64(in.EndLine - in.Line))
		w.num(int64(in.EndCol))
		line = in.Line
	}
	w.count(len(c.ExcTable))
	for _, h := range c.ExcTable {
		lasti := int32(0)
		if h.Lasti {
			lasti = 1
		}
		for _, n := range []int32{h.Start, h.End, h.Target, h.Depth, lasti} {
			w.num(int64(n))
		}
	}
}

func (w *binaryWriter) consts(list []any) {
	w.count(len(list))
	for _, k := range list {
		w.constant(k)
	}
}

func (w *binaryWriter) constant(k any) {
	kind := func(b byte) { w.out = append(w.out, b) }
	float := func(f float64) { w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(f)) }
	switch k := k.(type) {
	case nil:
		kind(kindNone)
	case bool:
		if k {
			kind(kindTrue)
		} else {
			kind(kindFalse)
		}
	case int64:
		kind(kindInt)
		w.num(k)
	case *big.Int:
		kind(kindBig)
		w.text(k.Text(62))
	case float64:
		kind(kindFloat)
		float(k)
	case complex128:
		kind(kindComplex)
		float(real(k))
		float(imag(k))
	case string:
		kind(kindText)
		w.text(k)
	case Bytes:
		kind(kindBytes)
		w.text(string(k))
	case Ellipsis:
		kind(kindEllipsis)
	case Tuple:
		kind(kindTuple)
		w.consts(k)
	case FrozenSet:
		kind(kindFrozenSet)
		w.consts(k)
	case *Code:
		kind(kindCode)
		w.code(k)
	default:
		w.strange = true
	}
}

// Unmarshal reads what Marshal wrote. The code has no Source: who wants the text reads the file. Its texts are parts of data, which is not to be changed
// any more.
func Unmarshal(data []byte) (c *Code, err error) {
	head := len(magic) + 4
	if len(data) < head || string(data[:len(magic)]) != magic || crc32.ChecksumIEEE(data[head:]) != binary.LittleEndian.Uint32(data[len(magic):]) {
		return nil, ErrDamaged
	}
	r := &binaryReader{in: data[head:]}
	n := r.count()
	r.texts = make([]string, n)
	all := unsafe.String(unsafe.SliceData(r.in), len(r.in))
	for i := range r.texts {
		n := r.count()
		if r.bad || n > len(r.in)-r.at {
			return nil, ErrDamaged
		}
		r.texts[i] = all[r.at : r.at+n]
		r.at += n
	}
	c = r.code(0)
	if r.bad || r.at != len(r.in) {
		return nil, ErrDamaged
	}
	return c, nil
}

// binaryReader reads a file; bad says that it ended too soon, or names what is not there.
type binaryReader struct {
	in    []byte
	at    int
	texts []string
	bad   bool
}

func (r *binaryReader) uvarint() uint64 {
	if r.at < len(r.in) && r.in[r.at] < 0x80 {
		r.at++
		return uint64(r.in[r.at-1])
	}
	v, n := binary.Uvarint(r.in[r.at:])
	if n <= 0 {
		r.bad, r.at = true, len(r.in)
		return 0
	}
	r.at += n
	return v
}

func (r *binaryReader) num() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// count is how many parts follow, of at least a byte each.
func (r *binaryReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.in)-r.at) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *binaryReader) text() string {
	n := r.uvarint()
	if n >= uint64(len(r.texts)) {
		r.bad = true
		return ""
	}
	return r.texts[n]
}

func (r *binaryReader) byte() byte {
	if r.at >= len(r.in) {
		r.bad = true
		return 0
	}
	r.at++
	return r.in[r.at-1]
}

func (r *binaryReader) float() float64 {
	if len(r.in)-r.at < 8 {
		r.bad = true
		return 0
	}
	r.at += 8
	return math.Float64frombits(binary.LittleEndian.Uint64(r.in[r.at-8:]))
}

const deepest = 200 // code objects and tuples inside each other

func (r *binaryReader) code(depth int) *Code {
	if depth > deepest {
		r.bad = true
		return nil
	}
	c := &Code{Name: r.text(), QualName: r.text(), Filename: r.text()}
	flags := 0
	for _, n := range []*int{&c.FirstLine, &c.ArgCount, &c.PosOnly, &c.KwOnly, &flags, &c.StackSize, &c.Depth} {
		*n = int(r.num())
	}
	c.Flags = Flags(flags)
	c.Consts = r.consts(depth + 1)
	for _, list := range []*[]string{&c.Names, &c.VarNames, &c.CellVars, &c.FreeVars} {
		n := r.count()
		if n == 0 {
			continue
		}
		*list = make([]string, n)
		for i := range *list {
			(*list)[i] = r.text()
		}
	}
	c.Instrs = make([]Instr, r.count())
	line := int32(0)
	for i := range c.Instrs {
		if r.bad {
			return nil
		}
		in := &c.Instrs[i]
		in.Op = Op(r.byte())
		in.Arg = int32(r.num())
		line += int32(r.num())
		in.Line = line
		in.Col = int32(r.num())
		in.EndLine = line + int32(r.num())
		in.EndCol = int32(r.num())
		if in.Op >= NumOps {
			r.bad = true
		}
	}
	if n := r.count(); n > 0 {
		c.ExcTable = make([]Handler, n)
	}
	for i := range c.ExcTable {
		h := &c.ExcTable[i]
		h.Start, h.End, h.Target, h.Depth, h.Lasti = int32(r.num()), int32(r.num()), int32(r.num()), int32(r.num()), r.num() != 0
	}
	return c
}

func (r *binaryReader) consts(depth int) []any {
	n := r.count()
	if depth > deepest {
		r.bad = true
	}
	list := make([]any, n)
	for i := range list {
		if r.bad {
			return nil
		}
		list[i] = r.constant(depth)
	}
	return list
}

func (r *binaryReader) constant(depth int) any {
	switch r.byte() {
	case kindNone:
		return nil
	case kindFalse:
		return false
	case kindTrue:
		return true
	case kindInt:
		return r.num()
	case kindBig:
		if n, ok := new(big.Int).SetString(r.text(), 62); ok {
			return n
		}
	case kindFloat:
		return r.float()
	case kindComplex:
		re := r.float()
		return complex(re, r.float())
	case kindText:
		return r.text()
	case kindBytes:
		return Bytes(r.text())
	case kindEllipsis:
		return Ellipsis{}
	case kindTuple:
		return Tuple(r.consts(depth + 1))
	case kindFrozenSet:
		return FrozenSet(r.consts(depth + 1))
	case kindCode:
		return r.code(depth + 1)
	}
	r.bad = true
	return nil
}
