package vm

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MemoryView is memoryview: a window on the bytes of another object. Unlike CPython's it does not keep a bytearray from
// changing its size, as nobody counts who still uses it; the window then stays with the bytes as they were.
type MemoryView struct {
	Identity
	obj      Object // whose bytes they are
	data     []byte
	off      int // of the first item
	format   byte
	shape    []int
	strides  []int
	readonly bool
	released bool
	holds    any // what lives as long as this view and those made of it
}

// Type implements Object.
func (*MemoryView) Type() *Type { return MemoryViewType }

var viewSizes = map[byte]int{'b': 1, 'B': 1, 'c': 1, '?': 1, 'h': 2, 'H': 2, 'i': 4, 'I': 4, 'l': 8, 'L': 8, 'q': 8, 'Q': 8, 'n': 8, 'N': 8, 'f': 4, 'd': 8, 'P': 8, 'w': 4}

func (m *MemoryView) size() int { return viewSizes[m.format] }

// count is the number of items, of all dimensions.
func (m *MemoryView) count() int {
	n := 1
	for _, d := range m.shape {
		n *= d
	}
	return n
}

// offsets gives where the items lie, in order.
func (m *MemoryView) offsets() []int {
	out := []int{m.off}
	for d, n := range m.shape {
		next := make([]int, 0, len(out)*n)
		for _, o := range out {
			for i := range n {
				next = append(next, o+i*m.strides[d])
			}
		}
		out = next
	}
	return out
}

// contiguous reports whether the items lie one behind the other.
func (m *MemoryView) contiguous() bool {
	want := m.size()
	for d := len(m.shape) - 1; d >= 0; d-- {
		if m.shape[d] != 1 && m.strides[d] != want {
			return false
		}
		want *= m.shape[d]
	}
	return true
}

// bytes gives the items' bytes in order: those of the object itself where they lie in one piece.
func (m *MemoryView) bytes() []byte {
	n := m.size()
	if m.contiguous() {
		return m.data[m.off : m.off+n*m.count()]
	}
	out := make([]byte, 0, n*m.count())
	for _, o := range m.offsets() {
		out = append(out, m.data[o:o+n]...)
	}
	return out
}

// turned is the view with its dimensions in the opposite order: its items in C order are those of m in Fortran's.
func (m *MemoryView) turned() *MemoryView {
	t := *m
	t.Identity = Identity{}
	t.shape, t.strides = slices.Clone(m.shape), slices.Clone(m.strides)
	slices.Reverse(t.shape)
	slices.Reverse(t.strides)
	return &t
}

// Buffer is implemented by embedder's Go objects whose bytes others may read and write, as memoryview and bytes() do.
type Buffer interface {
	Object
	View() *MemoryView
}

// Memory is implemented by a Buffer whose bytes can be had for a moment without a view, which would count as a use of them.
type Memory interface{ Memory() []byte }

// NewMemoryView makes a view of an object's bytes, items of a format one behind the other.
func NewMemoryView(o Object, data []byte, format byte, readonly bool) *MemoryView {
	m := &MemoryView{obj: o, data: data, format: format, readonly: readonly}
	n := m.size()
	m.shape, m.strides = []int{len(data) / n}, []int{n}
	return m
}

// NewShapedView is NewMemoryView of items that lie in C order in several dimensions.
func NewShapedView(o Object, data []byte, format byte, readonly bool, shape []int) *MemoryView {
	m := &MemoryView{obj: o, data: data, format: format, readonly: readonly, shape: slices.Clone(shape), strides: make([]int, len(shape))}
	step := m.size()
	for i := len(shape) - 1; i >= 0; i-- {
		m.strides[i] = step
		step *= shape[i]
	}
	return m
}

// Hold keeps a value as long as the view, or one made of it, is in use: by a weak reference to it, the object whose bytes they are sees that.
func (m *MemoryView) Hold(v any) { m.holds = v }

// ReadOnly reports whether the memory must not be written.
func (m *MemoryView) ReadOnly() bool { return m.readonly }

// MemoryView is memoryview(o).
func (in *Interp) MemoryView(o Object) (*MemoryView, error) { return newView(in, o) }

// Raw is a view of the same memory as bytes; false if it lies in several pieces.
func (m *MemoryView) Raw() (*MemoryView, bool) {
	c := *m
	c.Identity = Identity{}
	n := m.count() * m.size()
	c.format, c.shape, c.strides = 'B', []int{n}, []int{1}
	return &c, m.contiguous() || m.columns()
}

// columns reports whether the items lie one behind the other with the first index running fastest.
func (m *MemoryView) columns() bool {
	want := m.size()
	for d := range m.shape {
		if m.shape[d] != 1 && m.strides[d] != want {
			return false
		}
		want *= m.shape[d]
	}
	return true
}

// newView makes a view of a bytes-like object; a view of a view shows what that one shows.
func newView(in *Interp, o Object) (*MemoryView, error) {
	m := &MemoryView{obj: o, format: 'B', strides: []int{1}}
	switch x := unwrap(o).(type) {
	case *MemoryView:
		if x.released {
			return nil, viewReleased(in)
		}
		c := *x
		c.Identity = Identity{}
		return &c, nil
	case Bytes:
		m.data, m.readonly = []byte(x), true
	case *ByteArray:
		m.data = x.B
	case Buffer:
		v := x.View()
		if v == nil {
			return nil, in.Errorf(in.Exc.ValueError, "operation forbidden on released %s object", o.Type().Name)
		}
		c := *v
		c.Identity = Identity{}
		return &c, nil
	default:
		return nil, in.Errorf(in.Exc.TypeError, "memoryview: a bytes-like object is required, not '%s'", TypeName(o))
	}
	m.shape = []int{len(m.data)}
	return m, nil
}

func viewReleased(in *Interp) error {
	return in.Errorf(in.Exc.ValueError, "operation forbidden on released memoryview object")
}

// item is the value at an offset, as the view's format reads it.
func (m *MemoryView) item(in *Interp, off int) (Object, error) {
	if m.format == 'w' {
		return nil, m.unknown(in)
	}
	if off+m.size() > len(m.data) { // an __index__ has released the view meanwhile
		return nil, viewReleased(in)
	}
	return m.known(in, off), nil
}

// unknown is the error for items that only their owner can read.
func (m *MemoryView) unknown(in *Interp) error {
	return in.Errorf(in.Exc.NotImplementedError, "memoryview: format %c not supported", m.format)
}

// known is item of a format that views can read.
func (m *MemoryView) known(in *Interp, off int) Object {
	b := m.data[off:]
	le := binary.LittleEndian
	switch m.format {
	case 'b':
		return MakeInt(int64(int8(b[0])))
	case 'c':
		return Bytes(b[:1])
	case '?':
		return MakeBool(b[0] != 0)
	case 'h':
		return MakeInt(int64(int16(le.Uint16(b))))
	case 'H':
		return MakeInt(int64(le.Uint16(b)))
	case 'i':
		return MakeInt(int64(int32(le.Uint32(b))))
	case 'I':
		return MakeInt(int64(le.Uint32(b)))
	case 'l', 'q', 'n':
		return MakeInt(int64(le.Uint64(b)))
	case 'L', 'Q', 'N', 'P':
		u := MakeInt(int64(le.Uint64(b) >> 1))
		v, err := in.BinaryOp("+", u, u)
		if err == nil {
			v, err = in.BinaryOp("+", v, MakeInt(int64(le.Uint64(b)&1)))
		}
		if err != nil {
			return None
		}
		return v
	case 'f':
		return Float(math.Float32frombits(le.Uint32(b)))
	case 'd':
		return Float(math.Float64frombits(le.Uint64(b)))
	}
	return MakeInt(int64(b[0]))
}

// setItem stores a value as the view's format has it.
func (m *MemoryView) setItem(in *Interp, off int, v Object) error {
	if off+m.size() > len(m.data) {
		return viewReleased(in)
	}
	b := m.data[off:]
	le := binary.LittleEndian
	wrong := func() error {
		return in.Errorf(in.Exc.TypeError, "memoryview: invalid type for format '%c'", m.format)
	}
	switch m.format {
	case 'w':
		return m.unknown(in)
	case 'c':
		s, ok := bytesOf(v)
		if !ok {
			return wrong()
		}
		if len(s) != 1 {
			return in.Errorf(in.Exc.ValueError, "memoryview: invalid value for format 'c'")
		}
		b[0] = s[0]
		return nil
	case '?':
		t, err := in.Truth(v)
		b[0] = 0
		if t {
			b[0] = 1
		}
		return err
	case 'f', 'd':
		f, ok := AsFloat(v)
		if !ok {
			return wrong()
		}
		if m.format == 'f' {
			le.PutUint32(b, math.Float32bits(float32(f)))
		} else {
			le.PutUint64(b, math.Float64bits(f))
		}
		return nil
	}
	if _, ok := unwrap(v).(Float); ok || v.Type().Lookup("__index__") == nil {
		return wrong()
	}
	big, err := in.IndexBig(v)
	if err != nil {
		return err
	}
	n := m.size()
	bits := uint(8 * n)
	signed := strings.IndexByte("bhilqn", m.format) >= 0
	fits := big.IsUint64() && big.Uint64()>>(bits-1)>>1 == 0
	if signed {
		fits = big.IsInt64() && big.Int64() >= -1<<(bits-1) && big.Int64() <= 1<<(bits-1)-1
	}
	if !fits {
		return in.Errorf(in.Exc.ValueError, "memoryview: invalid value for format '%c'", m.format)
	}
	u := big.Uint64()
	if signed {
		u = uint64(big.Int64())
	}
	var raw [8]byte
	le.PutUint64(raw[:], u)
	copy(b, raw[:n])
	return nil
}

// at finds what a key names: one item, or a part of the view.
func (m *MemoryView) at(in *Interp, key Object) (off int, part *MemoryView, err error) {
	if sl, ok := key.(*Slice); ok {
		if len(m.shape) != 1 { // CPython refuses this, and views of fewer dimensions, in these words
			return 0, nil, in.Errorf(in.Exc.NotImplementedError, "multi-dimensional slicing is not implemented")
		}
		start, _, step, n, err := sl.indices(in, m.shape[0])
		if err != nil {
			return 0, nil, err
		}
		c := *m
		c.Identity = Identity{}
		c.off, c.shape, c.strides = m.off+start*m.strides[0], []int{n}, []int{m.strides[0] * step}
		return 0, &c, nil
	}
	keys := []Object{key}
	if t, ok := AsTuple(key); ok {
		keys = t.Items
	} else if key.Type().Lookup("__index__") == nil {
		return 0, nil, in.Errorf(in.Exc.TypeError, "memoryview: invalid slice key")
	}
	if len(keys) < len(m.shape) {
		return 0, nil, in.Errorf(in.Exc.NotImplementedError, "multi-dimensional sub-views are not implemented")
	}
	if len(keys) > len(m.shape) {
		return 0, nil, in.Errorf(in.Exc.TypeError, "cannot index %d-dimension view with %d-element tuple", len(m.shape), len(keys))
	}
	off = m.off
	for d, k := range keys {
		i, err := in.Index(k)
		if err != nil {
			if in.Matches(err, in.Exc.OverflowError) {
				err = in.Errorf(in.Exc.IndexError, "cannot fit '%s' into an index-sized integer", TypeName(k))
			}
			return 0, nil, err
		}
		if i < 0 {
			i += int64(m.shape[d])
		}
		if i < 0 || int(i) >= m.shape[d] {
			return 0, nil, in.Errorf(in.Exc.IndexError, "index out of bounds on dimension %d", d+1)
		}
		off += int(i) * m.strides[d]
	}
	return off, nil, nil
}

// list is tolist of dimensions d and later, from an offset.
func (m *MemoryView) list(in *Interp, d, off int) (_ Object, err error) {
	if d == len(m.shape) {
		return m.item(in, off)
	}
	l := &List{make([]Object, m.shape[d])}
	for i := range l.Items {
		if l.Items[i], err = m.list(in, d+1, off+i*m.strides[d]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// cast is memoryview.cast.
func (m *MemoryView) cast(in *Interp, format string, shape Object) (Object, error) {
	f := strings.TrimPrefix(format, "@")
	if len(f) != 1 || viewSizes[f[0]] == 0 || f[0] == 'w' {
		return nil, in.Errorf(in.Exc.ValueError, "memoryview: destination format must be a native single character format prefixed with an optional '@'")
	}
	if !m.contiguous() {
		return nil, in.Errorf(in.Exc.TypeError, "memoryview: casts are restricted to C-contiguous views")
	}
	flat := func(c byte) bool { return c == 'b' || c == 'B' || c == 'c' }
	if f[0] != m.format && !flat(m.format) && !flat(f[0]) {
		return nil, in.Errorf(in.Exc.TypeError, "memoryview: cannot cast between two non-byte formats")
	}
	c := *m
	c.Identity = Identity{}
	c.format = f[0]
	n, size := m.count()*m.size(), c.size()
	if n%size != 0 {
		return nil, in.Errorf(in.Exc.TypeError, "memoryview: length is not a multiple of itemsize")
	}
	c.shape, c.strides = []int{n / size}, []int{size}
	if shape != None {
		dims, err := in.IterAll(shape)
		if err != nil {
			return nil, err
		}
		c.shape, c.strides = make([]int, len(dims)), make([]int, len(dims))
		for i := len(dims) - 1; i >= 0; i-- {
			k, err := in.Index(dims[i])
			if err != nil {
				return nil, err
			}
			if k <= 0 {
				return nil, in.Errorf(in.Exc.ValueError, "memoryview.cast(): elements of shape must be integers > 0")
			}
			c.shape[i], c.strides[i] = int(k), size
			size *= int(k)
		}
		if size != n {
			return nil, in.Errorf(in.Exc.TypeError, "memoryview: product(shape) * itemsize != buffer size")
		}
	}
	return &c, nil
}

// equal compares item by item.
func (m *MemoryView) equal(in *Interp, other Object) (Object, error) {
	b, err := newView(in, other)
	if err != nil {
		return NotImplemented, nil
	}
	if m.released {
		return MakeBool(m == other), nil
	}
	if !slices.Equal(m.shape, b.shape) {
		return False, nil
	}
	x, y := m.offsets(), b.offsets()
	for i := range x {
		v, errV := m.item(in, x[i])
		w, errW := b.item(in, y[i])
		if errV != nil || errW != nil {
			return False, nil // what cannot be read is equal to nothing
		}
		same, err := in.Eq(v, w)
		if err != nil || !same {
			return False, err
		}
	}
	return True, nil
}

// initMemoryView gives memory views their methods.
func initMemoryView() {
	t := MemoryViewType
	t.New = func(in *Interp, _ *Type, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("memoryview", args, kw, "object")
		if err != nil {
			return nil, err
		}
		return newView(in, a[0])
	}
	addNew(t)
	self := func(in *Interp, o Object) (*MemoryView, error) {
		m, ok := o.(*MemoryView)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor requires a 'memoryview' object but received a '%s'", TypeName(o))
		}
		if m.released {
			return nil, viewReleased(in)
		}
		return m, nil
	}
	method := func(name string, lo, hi int, fn func(in *Interp, m *MemoryView, args []Object) (Object, error)) {
		addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			m, err := self(in, args[0])
			if err != nil {
				return nil, err
			}
			return fn(in, m, args[1:])
		})
	}
	method("__len__", 0, 0, func(_ *Interp, m *MemoryView, _ []Object) (Object, error) {
		if len(m.shape) == 0 {
			return MakeInt(1), nil
		}
		return MakeInt(int64(m.shape[0])), nil
	})
	method("__getitem__", 1, 1, func(in *Interp, m *MemoryView, args []Object) (Object, error) {
		off, part, err := m.at(in, args[0])
		if err != nil || part != nil {
			return part, err
		}
		return m.item(in, off)
	})
	method("__setitem__", 2, 2, func(in *Interp, m *MemoryView, args []Object) (Object, error) {
		if m.readonly {
			return nil, in.Errorf(in.Exc.TypeError, "cannot modify read-only memory")
		}
		off, part, err := m.at(in, args[0])
		if err != nil {
			return nil, err
		}
		if part == nil {
			return None, m.setItem(in, off, args[1])
		}
		src, err := newView(in, args[1])
		if err != nil {
			return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", TypeName(args[1]))
		}
		if src.format != part.format || !slices.Equal(src.shape, part.shape) {
			return nil, in.Errorf(in.Exc.ValueError, "memoryview assignment: lvalue and rvalue have different structures")
		}
		from, n := slices.Clone(src.bytes()), part.size()
		for i, o := range part.offsets() {
			copy(m.data[o:o+n], from[i*n:])
		}
		return None, nil
	})
	method("__delitem__", 1, 1, func(in *Interp, m *MemoryView, _ []Object) (Object, error) {
		if m.readonly {
			return nil, in.Errorf(in.Exc.TypeError, "cannot modify read-only memory")
		}
		return nil, in.Errorf(in.Exc.TypeError, "cannot delete memory")
	})
	method("__iter__", 0, 0, func(in *Interp, m *MemoryView, _ []Object) (Object, error) {
		if len(m.shape) != 1 {
			return nil, in.Errorf(in.Exc.NotImplementedError, "multi-dimensional sub-views are not implemented")
		}
		i := 0
		return &GoIter{T: MemoryIterType, NextFn: func(in *Interp) (Object, error) {
			if m.released {
				return nil, viewReleased(in)
			}
			if i >= m.shape[0] {
				return nil, nil
			}
			i++
			return m.item(in, m.off+(i-1)*m.strides[0])
		}}, nil
	})
	addMethod(t, "__eq__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		m := args[0].(*MemoryView)
		other, isView := args[1].(*MemoryView)
		if m.released || isView && other.released {
			return MakeBool(isView && m == other), nil
		}
		return m.equal(in, args[1])
	})
	method("__hash__", 0, 0, func(in *Interp, m *MemoryView, _ []Object) (Object, error) {
		if !m.readonly {
			return nil, in.Errorf(in.Exc.ValueError, "cannot hash writable memoryview object")
		}
		h, err := in.Hash(Bytes(m.bytes()))
		return MakeInt(int64(h)), err
	})
	addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		m, ok := args[0].(*MemoryView)
		word := "memory"
		if ok && m.released {
			word = "released memory"
		}
		return Str(fmt.Sprintf("<%s at 0x%x>", word, in.ID(args[0]))), nil
	})
	addKw(t, "tobytes", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		m, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		a, err := in.ParseArgs("tobytes", args[1:], kw, "order='C'")
		if err != nil {
			return nil, err
		}
		order, ok := AsStr(a[0])
		switch {
		case a[0] == None:
			order = "C"
		case !ok:
			return nil, in.Errorf(in.Exc.TypeError, "tobytes() argument 'order' must be str or None, not %s", TypeName(a[0]))
		case order != "C" && order != "F" && order != "A":
			return nil, in.Errorf(in.Exc.ValueError, "order must be 'C', 'F' or 'A'")
		}
		if turned := m.turned(); order == "F" || order == "A" && !m.contiguous() && turned.contiguous() {
			m = turned
		}
		return Bytes(m.bytes()), nil
	})
	method("tolist", 0, 0, func(in *Interp, m *MemoryView, _ []Object) (Object, error) { return m.list(in, 0, m.off) })
	method("hex", 0, 2, func(in *Interp, m *MemoryView, args []Object) (Object, error) {
		if len(args) == 0 {
			return Str(hex.EncodeToString(m.bytes())), nil
		}
		return in.CallMethod(Bytes(m.bytes()), "hex", args...)
	})
	method("toreadonly", 0, 0, func(_ *Interp, m *MemoryView, _ []Object) (Object, error) {
		c := *m
		c.Identity, c.readonly = Identity{}, true
		return &c, nil
	})
	addKw(t, "cast", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		m, err := self(in, args[0])
		if err != nil {
			return nil, err
		}
		a, err := in.ParseArgs("cast", args[1:], kw, "format, shape=None")
		if err != nil {
			return nil, err
		}
		f, ok := AsStr(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "cast() argument 'format' must be str, not %s", ArgName(a[0]))
		}
		return m.cast(in, f, a[1])
	})
	release := func(_ *Interp, args []Object, _ []KwArg) (Object, error) {
		if m, ok := args[0].(*MemoryView); ok {
			m.released, m.data, m.obj, m.holds = true, nil, nil, nil
		}
		return None, nil
	}
	addMethod(t, "release", 0, 0, release)
	addMethod(t, "__exit__", 0, 3, release)
	method("__enter__", 0, 0, func(_ *Interp, m *MemoryView, _ []Object) (Object, error) { return m, nil })
	get := func(name string, fn func(m *MemoryView) Object) {
		addGetSet(t, name, func(in *Interp, o Object) (Object, error) {
			m, err := self(in, o)
			if err != nil {
				return nil, err
			}
			return fn(m), nil
		}, nil)
	}
	ints := func(ns []int) Object {
		l := newItems(len(ns))
		for i, n := range ns {
			l.Items[i] = MakeInt(int64(n))
		}
		return l
	}
	get("format", func(m *MemoryView) Object { return Str(m.format) })
	get("itemsize", func(m *MemoryView) Object { return MakeInt(int64(m.size())) })
	get("nbytes", func(m *MemoryView) Object { return MakeInt(int64(m.size() * m.count())) })
	get("ndim", func(m *MemoryView) Object { return MakeInt(int64(len(m.shape))) })
	get("shape", func(m *MemoryView) Object { return ints(m.shape) })
	get("strides", func(m *MemoryView) Object { return ints(m.strides) })
	get("suboffsets", func(*MemoryView) Object { return emptyTuple })
	get("readonly", func(m *MemoryView) Object { return MakeBool(m.readonly) })
	get("obj", func(m *MemoryView) Object { return m.obj })
	for _, n := range []string{"contiguous", "c_contiguous"} {
		get(n, func(m *MemoryView) Object { return MakeBool(m.contiguous()) })
	}
	get("f_contiguous", func(m *MemoryView) Object { return MakeBool(len(m.shape) <= 1 && m.contiguous()) })
}
