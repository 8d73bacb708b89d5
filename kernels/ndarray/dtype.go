package ndarray

import (
	"fmt"
	"strconv"
	"strings"
)

// Num is NumPy's number of a type.
type Num uint8

// The types, in NumPy's numbers.
const (
	Bool       Num = 0
	Int8       Num = 1
	UInt8      Num = 2
	Int16      Num = 3
	UInt16     Num = 4
	Int32      Num = 5
	UInt32     Num = 6
	Int64      Num = 7
	UInt64     Num = 8
	Float32    Num = 11
	Float64    Num = 12
	Complex64  Num = 14
	Complex128 Num = 15
	Object     Num = 17
	String     Num = 18 // bytes of a fixed length, S
	Unicode    Num = 19 // text of a fixed length, U
	Float16    Num = 23
)

// A DType says what the elements of an array are. The plain ones are shared; it never changes.
type DType struct {
	Num     Num
	Kind    byte // b, i, u, f, c, O, S, U
	Size    int  // of an element, in bytes
	Swapped bool // big-endian
	Lang    Language
}

// Language is what objects mean, for dtype O.
type Language interface {
	// ToObject is the object of an element: of a bool, int64, uint64, float64, complex128, string or Raw.
	ToObject(v any) any
	// FromObject is the value of an object as d needs it, in one of the same forms.
	FromObject(o any, d *DType) (any, error)
	// Apply is a universal function of objects.
	Apply(name string, args []any) (any, error)
	// Less orders two objects; Equal compares them.
	Less(a, b any) (bool, error)
	Equal(a, b any) (bool, error)
	Truth(o any) (bool, error)
}

// Raw is an element of dtype S.
type Raw string

// row is what a plain dtype is known by.
type row struct {
	num   Num
	kind  byte
	char  byte
	size  int
	name  string
	title string // the name of its scalar class
}

var rows = []row{
	{Bool, 'b', '?', 1, "bool", "bool"},
	{Int8, 'i', 'b', 1, "int8", "int8"},
	{UInt8, 'u', 'B', 1, "uint8", "uint8"},
	{Int16, 'i', 'h', 2, "int16", "int16"},
	{UInt16, 'u', 'H', 2, "uint16", "uint16"},
	{Int32, 'i', 'i', 4, "int32", "int32"},
	{UInt32, 'u', 'I', 4, "uint32", "uint32"},
	{Int64, 'i', 'l', 8, "int64", "int64"},
	{UInt64, 'u', 'L', 8, "uint64", "uint64"},
	{Float16, 'f', 'e', 2, "float16", "float16"},
	{Float32, 'f', 'f', 4, "float32", "float32"},
	{Float64, 'f', 'd', 8, "float64", "float64"},
	{Complex64, 'c', 'F', 8, "complex64", "complex64"},
	{Complex128, 'c', 'D', 16, "complex128", "complex128"},
	{Object, 'O', 'O', 8, "object", "object_"},
	{String, 'S', 'S', 0, "bytes", "bytes_"},
	{Unicode, 'U', 'U', 0, "str", "str_"},
}

var byNum = func() (t [24]*row) {
	for i := range rows {
		t[rows[i].num] = &rows[i]
	}
	return t
}()

var plain = func() (t [24]*DType) {
	for _, r := range rows {
		t[r.num] = &DType{Num: r.num, Kind: r.kind, Size: r.size}
	}
	return t
}()

// Plain lists the numeric types and bool, as they promote.
var Plain = []Num{Bool, Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float16, Float32, Float64, Complex64, Complex128}

// Of is the native dtype of a type; of S and U it is that of length 0.
func Of(n Num) *DType { return plain[n] }

// Text is <U of a length in characters.
func Text(n int) *DType { return &DType{Num: Unicode, Kind: 'U', Size: 4 * n} }

// RawText is S of a length in bytes.
func RawText(n int) *DType { return &DType{Num: String, Kind: 'S', Size: n} }

// Objects is the dtype O of a language.
func Objects(l Language) *DType { return &DType{Num: Object, Kind: 'O', Size: 8, Lang: l} }

// Char is NumPy's character of the type.
func (d *DType) Char() byte { return byNum[d.Num].char }

// Class is the name of the class of its scalars.
func (d *DType) Class() string { return byNum[d.Num].title }

// Name is what dtype.name gives.
func (d *DType) Name() string {
	n := byNum[d.Num].name
	if d.Flexible() && d.Size > 0 {
		return n + strconv.Itoa(8*d.Size)
	}
	return n
}

// Flexible says that the size of elements is the dtype's own choice.
func (d *DType) Flexible() bool { return d.Num == String || d.Num == Unicode }

// Numeric says that d is a bool or a number.
func (d *DType) Numeric() bool { return d.Kind != 'O' && !d.Flexible() }

// Same says that elements of d and e are the same bytes.
func (d *DType) Same(e *DType) bool {
	return d == e || d.Num == e.Num && d.Size == e.Size && d.Swapped == e.Swapped
}

// Native is d in the byte order of this machine.
func (d *DType) Native() *DType {
	if !d.Swapped {
		return d
	}
	c := *d
	c.Swapped = false
	if p := plain[d.Num]; p.Size == c.Size {
		return p
	}
	return &c
}

// ByteOrder is dtype.byteorder.
func (d *DType) ByteOrder() byte {
	switch {
	case d.Num == Object || d.Num == String || d.Size == 1:
		return '|'
	case d.Swapped:
		return '>'
	}
	return '='
}

// Str is dtype.str, as "<f4".
func (d *DType) Str() string {
	o := d.ByteOrder()
	if o == '=' {
		o = '<'
	}
	n := d.Size
	if d.Num == Unicode {
		n /= 4
	}
	if d.Num == Object {
		return "|O"
	}
	return fmt.Sprintf("%c%c%d", o, d.Kind, n)
}

// String is str(dtype).
func (d *DType) String() string {
	if d.Swapped || d.Flexible() {
		return d.Str()
	}
	return d.Name()
}

// aliases are further names, by what dtype() takes.
var aliases = map[string]Num{
	"bool_": Bool, "b1": Bool, "half": Float16, "single": Float32, "double": Float64, "float": Float64, "int": Int64, "intp": Int64, "int_": Int64, "long": Int64,
	"uint": UInt64, "uintp": UInt64, "ulong": UInt64, "short": Int16, "ushort": UInt16, "intc": Int32, "uintc": UInt32, "byte": Int8, "ubyte": UInt8, "longlong": Int64, "ulonglong": UInt64, "q": Int64, "Q": UInt64, "p": Int64, "P": UInt64,
	"n": Int64, "N": UInt64,
	"complex": Complex128, "csingle": Complex64, "cdouble": Complex128, "str": Unicode, "str_": Unicode, "bytes": String, "bytes_": String, "object_": Object, "a": String,
}

// ParseDType reads a name, a character or a string such as "<f4" or "U10".
func ParseDType(s string) (*DType, bool) {
	if n, ok := aliases[s]; ok {
		return plain[n], true
	}
	for i := range rows {
		if r := &rows[i]; r.name == s || len(s) == 1 && r.char == s[0] {
			return plain[r.num], true
		}
	}
	swapped := false
	if s != "" && strings.IndexByte("<>=|", s[0]) >= 0 {
		swapped = s[0] == '>'
		s = s[1:]
	}
	if len(s) == 0 {
		return nil, false
	}
	d := parseSized(s)
	if d == nil {
		return nil, false
	}
	if swapped && d.Size > 1 && d.Num != Object && d.Num != String {
		c := *d
		c.Swapped = true
		d = &c
	}
	return d, true
}

// parseSized reads a kind and a size, as f4, or a single character.
func parseSized(s string) *DType {
	if len(s) == 1 {
		for i := range rows {
			if rows[i].char == s[0] {
				return plain[rows[i].num]
			}
		}
		return nil
	}
	n, err := strconv.Atoi(s[1:])
	if err != nil || n < 0 {
		return nil
	}
	switch s[0] {
	case 'U':
		return Text(n)
	case 'S', 'a':
		return RawText(n)
	}
	for i := range rows {
		if r := &rows[i]; r.kind == s[0] && r.size == n {
			return plain[r.num]
		}
	}
	return nil
}
