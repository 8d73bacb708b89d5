package tensor

// DType is the element type of a tensor. Its String is PyTorch's name without
// the "torch." prefix.
type DType uint8

// The dtypes. Those for which Computes is false exist so that they can be named: in errors, and in graphs that another
// PyTorch runs.
const (
	Invalid DType = iota
	Float32
	Float64
	Float16
	BFloat16
	Int64
	Int32
	Int16
	Int8
	UInt8
	Bool
	Complex64
	Complex128
	UInt16
	UInt32
	UInt64
	Complex32
	Float8E4M3FN
	Float8E5M2
	Float8E4M3FNUZ
	Float8E5M2FNUZ
	numDTypes
)

var dtypes = [numDTypes]struct {
	name  string
	short string // the form that graph dumps use: f32[2, 3]
	size  int
	kind  Kind
}{
	Invalid:    {"invalid", "?", 0, KindNone},
	Float32:    {"float32", "f32", 4, KindFloat},
	Float64:    {"float64", "f64", 8, KindFloat},
	Float16:    {"float16", "f16", 2, KindFloat},
	BFloat16:   {"bfloat16", "bf16", 2, KindFloat},
	Int64:      {"int64", "i64", 8, KindInt},
	Int32:      {"int32", "i32", 4, KindInt},
	Int16:      {"int16", "i16", 2, KindInt},
	Int8:       {"int8", "i8", 1, KindInt},
	UInt8:      {"uint8", "u8", 1, KindInt},
	Bool:       {"bool", "b8", 1, KindBool},
	Complex64:  {"complex64", "c64", 8, KindComplex},
	Complex128: {"complex128", "c128", 16, KindComplex},

	UInt16:         {"uint16", "u16", 2, KindInt},
	UInt32:         {"uint32", "u32", 4, KindInt},
	UInt64:         {"uint64", "u64", 8, KindInt},
	Complex32:      {"complex32", "c32", 4, KindComplex},
	Float8E4M3FN:   {"float8_e4m3fn", "f8e4m3fn", 1, KindFloat},
	Float8E5M2:     {"float8_e5m2", "f8e5m2", 1, KindFloat},
	Float8E4M3FNUZ: {"float8_e4m3fnuz", "f8e4m3fnuz", 1, KindFloat},
	Float8E5M2FNUZ: {"float8_e5m2fnuz", "f8e5m2fnuz", 1, KindFloat},
}

// Kind orders dtypes for type promotion: bool < int < float < complex.
type Kind uint8

// The kinds, in promotion order.
const (
	KindNone Kind = iota
	KindBool
	KindInt
	KindFloat
	KindComplex
)

func (d DType) String() string { return dtypes[d].name }

// Short is the abbreviation used in graph dumps, such as f32.
func (d DType) Short() string { return dtypes[d].short }

// Size is the number of bytes of one element.
func (d DType) Size() int { return dtypes[d].size }

// Kind says whether d holds booleans, integers, floats or complex numbers.
func (d DType) Kind() Kind { return dtypes[d].kind }

// Computes reports whether whittle's kernels compute with d.
func (d DType) Computes() bool { return d != Invalid && d <= Bool }

// IsFloat reports whether d is a real floating type.
func (d DType) IsFloat() bool { return d.Kind() == KindFloat }

// IsInt reports whether d is an integer type, bool excluded.
func (d DType) IsInt() bool { return d.Kind() == KindInt }

// Epsilon is the distance from 1 to the next number of d, as torch.finfo(d).eps: of complex numbers that of their parts, 0 of types that round
// nothing.
func (d DType) Epsilon() float64 {
	switch d.ToReal() {
	case Float64:
		return 0x1p-52
	case Float32:
		return 0x1p-23
	case Float16:
		return 0x1p-10
	case BFloat16:
		return 0x1p-7
	case Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2FNUZ: // PyTorch's figure for the last one, which has two bits
		return 0x1p-3
	case Float8E5M2:
		return 0x1p-2
	}
	return 0
}

// ParseDType finds a dtype by PyTorch's name, with or without "torch." and
// including the aliases float, double, half, long, int, short.
func ParseDType(s string) (DType, bool) {
	if len(s) > 6 && s[:6] == "torch." {
		s = s[6:]
	}
	switch s {
	case "float":
		return Float32, true
	case "double":
		return Float64, true
	case "half":
		return Float16, true
	case "long":
		return Int64, true
	case "int":
		return Int32, true
	case "short":
		return Int16, true
	case "chalf":
		return Complex32, true
	case "cfloat":
		return Complex64, true
	case "cdouble":
		return Complex128, true
	}
	for d := Float32; d < numDTypes; d++ {
		if dtypes[d].name == s || dtypes[d].short == s {
			return d, true
		}
	}
	return Invalid, false
}

// Device names where a tensor lives: {"cpu", -1}, {"meta", -1}. whittle computes on
// the CPU alone; other devices are names that scripts may compare and that fail when used.
type Device struct {
	Type  string
	Index int // -1: none given
}

// CPU is the device of every real tensor.
var CPU = Device{"cpu", -1}

// Meta is the device of tensors that have no data.
var Meta = Device{"meta", -1}

// Layout is a tensor's storage layout; only strided tensors can be made.
type Layout string

// Strided is the one layout that exists.
const Strided Layout = "strided"

// MemoryFormat is the stride order that an operator is asked to produce.
type MemoryFormat string

// The memory formats, by PyTorch's names.
const (
	ContiguousFormat MemoryFormat = "contiguous_format"
	PreserveFormat   MemoryFormat = "preserve_format"
	ChannelsLast     MemoryFormat = "channels_last"
	ChannelsLast3d   MemoryFormat = "channels_last_3d"
)
