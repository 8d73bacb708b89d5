package vm

import (
	"math/big"
)

// Object is any Python value. A nil Object is CPython's NULL and never reaches a script.
type Object interface {
	Type() *Type
}

// The immutable scalars. Int holds what fits 64 bits; BigInt holds only what does not.
type (
	Int    int64
	Bool   bool
	Float  float64
	Str    string
	Bytes  string
	BigInt struct{ V *big.Int }
	// Complex is here for literals; arithmetic on it is minimal.
	Complex complex128
)

// NoneType, EllipsisType and NotImplementedType have one value each.
type (
	NoneType           struct{ _ int }
	EllipsisType       struct{ _ int }
	NotImplementedType struct{ _ int }
)

// The singletons.
var (
	None           Object = &NoneType{}
	Ellipsis       Object = &EllipsisType{}
	NotImplemented Object = &NotImplementedType{}
	True           Object = Bool(true)
	False          Object = Bool(false)
)

// ByteArray is a mutable bytes object.
type ByteArray struct{ B []byte }

// Tuple is immutable once a script can see it.
type Tuple struct{ Items []Object }

// List is a Python list.
type List struct{ Items []Object }

// Slice is the value of a:b:c.
type Slice struct{ Start, Stop, Step Object }

// Range is range() whose bounds and length fit 64 bits; see longRange for others.
type Range struct{ Start, Stop, Step int64 }

// Cell holds a variable that closures share.
type Cell struct{ V Object }

// Instance is an object of a class made by a class statement, or of a native type that embedders define.
type Instance struct {
	Identity
	Class  *Type
	Dict   *Dict    // nil until the first attribute is stored
	Slots  []Object // values of __slots__
	Native any      // embedder's payload; for a subclass of a built-in type, the built-in value (an Object)
}

// Function is a Python function.
type Function struct {
	Identity
	Code       *Code
	Globals    *Dict
	Builtins   *Dict
	Defaults   []Object
	KwDefaults *Dict
	Closure    []*Cell
	Name       string
	Qualname   string
	Module     Object
	Doc        Object
	Annots     Object // tuple of name, value pairs until asked for, then a *Dict; nil for none
	Dict       *Dict
	Native     any // embedder's payload
	// Override, if there is one, is asked with the arguments bound before the function's frame runs; done true replaces the call.
	Override func(in *Interp, f *Frame) (v Object, done bool, err error)
}

// BoundMethod is a function with its first argument.
type BoundMethod struct {
	Func Object
	Self Object
}

// KwArg is one keyword argument.
type KwArg struct {
	Name  string
	Value Object
}

// GoFunc is the Go side of a builtin. args and kw are the callee's to keep.
type GoFunc func(in *Interp, args []Object, kw []KwArg) (Object, error)

// Builtin is a function or method written in Go. A method's Fn has self as its first argument.
type Builtin struct {
	Identity
	Name    string
	Module  string
	Doc     string
	Self    Object
	Fn      GoFunc
	operand GoFunc // what an operator calls instead: NotImplemented where Fn, called by its name, raises; or nil
	Method  bool   // binds to an instance when looked up through it
	Owner   *Type  // the type whose method it is
	Min     int    // number of positional arguments without self; checked when NoKw
	Max     int    // -1: any
	NoKw    bool
	Native  any // embedder's payload
	Dict    *Dict
	strict  bool // a method of a native type that gets none but instances of it as self
	bounded bool // without keywords it takes Min to Max arguments
	ofClass bool // its first argument is the class that it was looked up on
	slot    bool // of the methods that CPython keeps in slots
	parsed  bool // errors about the number of arguments are those of PyArg_ParseTuple
	shared  bool // Fn does not keep args: they may be the caller's stack

	Fresh bool // Fn says by Interp.Made whether somebody else has its result
}

// Module is a Python module.
type Module struct {
	Identity
	Name string
	Dict *Dict
	// GetAttrHook, if not nil, supplies attributes that Dict lacks.
	GetAttrHook func(in *Interp, name string) (Object, bool, error)
	class       *Type
	slots       []Object // values of __slots__, for a class that derives from module
	native      bool     // it was made here, for no file
}

// Descriptors: class attributes that say what reading, and setting, an attribute of an instance means. Functions are descriptors, too.
type (
	// Property is property().
	Property struct {
		Get, Set, Del, Doc Object
		name               string // in the class that it was made for
		own                bool   // Doc is that of Get
	}
	// GetSet is a native property.
	GetSet struct {
		Name   string
		Doc    string
		Get    func(in *Interp, self Object) (Object, error)
		Set    func(in *Interp, self, v Object) error // nil: read-only; v nil: delete
		own    *Type
		keep   bool // it cannot be deleted
		member bool // CPython has it as a member of a struct
	}
	// Member is one of __slots__.
	Member struct {
		Name  string
		Index int
		Own   *Type
	}
	ClassMethod struct {
		Func Object
		Dict *Dict // nil until the first attribute is stored
	}
	StaticMethod struct {
		Func Object
		Dict *Dict // nil until the first attribute is stored
	}
)

// Super is super().
type Super struct {
	Start   *Type
	Self    Object
	SelfCls *Type

	class *Type // one that derives from super; nil for super itself
	dict  *Dict // of an instance of such a class
}

// MappingProxy is a read-only view of a dict.
type MappingProxy struct{ M Object }

// UnionType is int | str.
type UnionType struct{ Args *Tuple }

// Iterator is implemented by native iterators. Next gives nil, nil at the end.
type Iterator interface {
	Object
	Next(in *Interp) (Object, error)
}

// GoIter makes an iterator of a Go function.
type GoIter struct {
	NextFn func(in *Interp) (Object, error)
	T      *Type                                     // nil: a plain iterator
	Left   func() int                                // how many more there are, for __length_hint__; nil where that is not known, -1 where it is not now
	pair   func(in *Interp) (a, b Object, err error) // NextFn without the tuple, of an iterator of pairs; a is nil at the end

	Reduce   func(in *Interp, cls *Type) (Object, error) // __reduce__, as an instance of cls; nil where there is none
	SetState func(in *Interp, state Object) error        // __setstate__; nil where there is none
}

// Attributer is implemented by embedder's own Go objects that answer attribute access themselves. found false leaves
// the lookup to the type.
type Attributer interface {
	GetAttribute(in *Interp, name string) (v Object, found bool, err error)
}

// HasDict is implemented by Go objects with a __dict__.
type HasDict interface{ AttrDict(create bool) *Dict }

// AttrDict implements HasDict, here and below. With create, an object that may have a dict gets one.
func (i *Instance) AttrDict(create bool) *Dict {
	if i.Dict == nil && create && i.Class.HasDict {
		i.Dict = NewDict()
	}
	return i.Dict
}

func (fn *Function) AttrDict(create bool) *Dict {
	if fn.Dict == nil && create {
		fn.Dict = NewDict()
	}
	return fn.Dict
}

func (m *Module) AttrDict(bool) *Dict { return m.Dict }

func (e *Exception) AttrDict(create bool) *Dict {
	if e.Dict == nil && create {
		e.Dict = NewDict()
	}
	return e.Dict
}

func (b *Builtin) AttrDict(create bool) *Dict {
	if b.Dict == nil && create {
		b.Dict = NewDict()
	}
	return b.Dict
}

// Type implements Object, here and below: the class of each kind of value.
func (Int) Type() *Type                 { return IntType }
func (*BigInt) Type() *Type             { return IntType }
func (Bool) Type() *Type                { return BoolType }
func (Float) Type() *Type               { return FloatType }
func (Complex) Type() *Type             { return ComplexType }
func (Str) Type() *Type                 { return StrType }
func (Bytes) Type() *Type               { return BytesType }
func (*ByteArray) Type() *Type          { return ByteArrayType }
func (*NoneType) Type() *Type           { return NoneTypeType }
func (*EllipsisType) Type() *Type       { return EllipsisTypeType }
func (*NotImplementedType) Type() *Type { return NotImplementedTypeType }
func (*Tuple) Type() *Type              { return TupleType }
func (*List) Type() *Type               { return ListType }
func (*Dict) Type() *Type               { return DictType }
func (*Set) Type() *Type                { return SetType }
func (*FrozenSet) Type() *Type          { return FrozenSetType }
func (*Slice) Type() *Type              { return SliceType }
func (*Range) Type() *Type              { return RangeType }
func (*Cell) Type() *Type               { return CellType }
func (i *Instance) Type() *Type         { return i.Class }
func (*Function) Type() *Type           { return FunctionType }
func (m *BoundMethod) Type() *Type {
	switch b, native := m.Func.(*Builtin); {
	case !native:
		return MethodType
	case b.slot:
		return MethodWrapperType
	}
	return BuiltinType
}
func (m *Module) Type() *Type {
	if m.class != nil {
		return m.class
	}
	return ModuleType
}
func (*Property) Type() *Type { return PropertyType }
func (g *GetSet) Type() *Type {
	if g.member {
		return MemberType
	}
	return GetSetType
}
func (*Member) Type() *Type { return MemberType }

// Type implements Object: a class method of a type of Go functions is a classmethod_descriptor.
func (m *ClassMethod) Type() *Type {
	if m.native() != nil {
		return ClassMethodDescrType
	}
	return ClassMethodType
}

// native is the function of a class method that a type in Go has, else nil.
func (m *ClassMethod) native() *Builtin {
	if b, ok := m.Func.(*Builtin); ok && b.Owner != nil && !b.Method {
		return b
	}
	return nil
}

// AttrDict implements HasDict, here and below.
func (m *ClassMethod) AttrDict(create bool) *Dict {
	if m.Dict == nil && create {
		m.Dict = NewDict()
	}
	return m.Dict
}

func (m *StaticMethod) AttrDict(create bool) *Dict {
	if m.Dict == nil && create {
		m.Dict = NewDict()
	}
	return m.Dict
}
func (*StaticMethod) Type() *Type { return StaticMethodType }
func (*MappingProxy) Type() *Type { return MappingProxyType }
func (*UnionType) Type() *Type    { return UnionTypeType }
func (*Code) Type() *Type         { return CodeType }
func (*Frame) Type() *Type        { return FrameType }
func (*Traceback) Type() *Type    { return TracebackType }
func (*Generator) Type() *Type    { return GeneratorType }
func (e *Exception) Type() *Type  { return e.Class }

func (t *Type) Type() *Type {
	if t.Meta != nil {
		return t.Meta
	}
	return TypeType
}

func (b *Builtin) Type() *Type {
	switch {
	case !b.Method || b.Self != nil:
		return BuiltinType
	case b.slot:
		return WrapperDescrType
	}
	return MethodDescrType
}

func (g *GoIter) Type() *Type {
	if g.T != nil {
		return g.T
	}
	return IteratorType
}

// Next implements Iterator.
func (g *GoIter) Next(in *Interp) (Object, error) { return g.NextFn(in) }

const (
	smallMin = -1024
	smallMax = 16384
)

var smallInts = func() []Object {
	t := make([]Object, smallMax-smallMin)
	v := make([]Int, len(t))
	for i := range t {
		v[i] = Int(i + smallMin)
		t[i] = v[i]
	}
	return t
}()

// MakeInt boxes an integer; small ones share their box.
func MakeInt(i int64) Object {
	if uint64(i-smallMin) < smallMax-smallMin {
		return smallInts[i-smallMin]
	}
	return Int(i)
}

// MakeBool gives True or False.
func MakeBool(b bool) Object {
	if b {
		return True
	}
	return False
}

// MakeBig gives the int of a big.Int, which it may keep.
func MakeBig(b *big.Int) Object {
	if b.IsInt64() {
		return MakeInt(b.Int64())
	}
	return &BigInt{b}
}

var emptyTuple = &Tuple{}

// NewTuple makes a tuple that keeps items.
func NewTuple(items ...Object) *Tuple {
	if len(items) == 0 {
		return emptyTuple
	}
	return &Tuple{items}
}

// newPair makes a tuple of two in one piece of memory.
func newPair(a, b Object) *Tuple {
	p := &struct {
		t     Tuple
		items [2]Object
	}{items: [2]Object{a, b}}
	p.t.Items = p.items[:]
	return &p.t
}

// newList makes a list of n items that its maker fills: few of them in one piece of memory with it.
func newList(n int) *List {
	switch n {
	case 0:
		return &List{}
	case 1:
		p := &struct {
			l     List
			items [1]Object
		}{}
		p.l.Items = p.items[:]
		return &p.l
	case 2:
		p := &struct {
			l     List
			items [2]Object
		}{}
		p.l.Items = p.items[:]
		return &p.l
	case 3:
		p := &struct {
			l     List
			items [3]Object
		}{}
		p.l.Items = p.items[:]
		return &p.l
	}
	return &List{make([]Object, n)}
}

// newItems makes a tuple of n items that its maker fills: few of them in one piece of memory with it.
func newItems(n int) *Tuple {
	switch n {
	case 1:
		p := &struct {
			t     Tuple
			items [1]Object
		}{}
		p.t.Items = p.items[:]
		return &p.t
	case 2:
		return newPair(nil, nil)
	case 3:
		p := &struct {
			t     Tuple
			items [3]Object
		}{}
		p.t.Items = p.items[:]
		return &p.t
	}
	return &Tuple{make([]Object, n)}
}

// NewList makes a list that keeps items.
func NewList(items ...Object) *List { return &List{items} }

// unwrap gives the built-in value inside an instance of a subclass of a built-in type.
func unwrap(o Object) Object {
	if i, ok := o.(*Instance); ok {
		if v, ok := i.Native.(Object); ok {
			return v
		}
	}
	return o
}

// AsStr gives the text of a str or of an instance of a subclass of it.
func AsStr(o Object) (string, bool) {
	switch x := o.(type) {
	case Str:
		return string(x), true
	case *Instance:
		s, ok := x.Native.(Str)
		return string(s), ok
	}
	return "", false
}

// AsInt gives the value of an int or bool that fits 64 bits.
func AsInt(o Object) (int64, bool) {
	switch x := o.(type) {
	case Int:
		return int64(x), true
	case Bool:
		if x {
			return 1, true
		}
		return 0, true
	case *Instance:
		if v, ok := x.Native.(Object); ok {
			return AsInt(v)
		}
	}
	return 0, false
}

// AsBig gives the value of any int or bool.
func AsBig(o Object) (*big.Int, bool) {
	if i, ok := AsInt(o); ok {
		return big.NewInt(i), true
	}
	if b, ok := unwrap(o).(*BigInt); ok {
		return b.V, true
	}
	return nil, false
}

// AsFloat gives the value of a float, int or bool.
func AsFloat(o Object) (float64, bool) {
	switch x := unwrap(o).(type) {
	case Float:
		return float64(x), true
	case Int:
		return float64(x), true
	case Bool:
		if x {
			return 1, true
		}
		return 0, true
	case *BigInt:
		f, _ := new(big.Float).SetInt(x.V).Float64()
		return f, true
	}
	return 0, false
}

// AsTuple gives the tuple that o is or holds.
func AsTuple(o Object) (*Tuple, bool) {
	t, ok := unwrap(o).(*Tuple)
	return t, ok
}

// AsList gives the list that o is or holds.
func AsList(o Object) (*List, bool) {
	t, ok := unwrap(o).(*List)
	return t, ok
}

// AsDict gives the dict that o is or holds.
func AsDict(o Object) (*Dict, bool) {
	t, ok := unwrap(o).(*Dict)
	return t, ok
}
