package fx

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/big"
	"strings"

	"whittle/kernels/tensor"
)

// attrValue evaluates the constants that PyTorch prints: tensor(2), tensor(0., dtype=torch.float64), and what ConstValue knows.
// nil for other forms, and for dtypes that no kernel computes with.
func attrValue(expr string) *tensor.Tensor {
	bare := strings.TrimPrefix(expr, "torch.")
	if inner, ok := strings.CutPrefix(bare, "nn.Parameter("); ok {
		expr = strings.TrimSuffix(inner, ")")
		bare = strings.TrimPrefix(expr, "torch.")
	}
	var t *tensor.Tensor
	if strings.HasPrefix(bare, "randn(") || strings.HasPrefix(bare, "randint(1, size=") {
		t = randomValue(bare)
	} else {
		t = ConstValue(expr)
	}
	if t == nil || !t.DType.Computes() {
		return nil
	}
	return t
}

// ConstValue evaluates an expression that makes a tensor of known values, nil for forms that it does not know: torch.tensor of
// numbers or nested lists, zeros, ones, full, arange, empty (zeros here), _efficientzerotensor, and frombuffer of base64 text; with
// dtype=, and .reshape behind. Values of 8-bit floats and complex32 are known for zeros and frombuffer only.
func ConstValue(expr string) *tensor.Tensor {
	switch bare := strings.TrimPrefix(expr, "torch."); {
	case strings.HasPrefix(bare, "tensor("), strings.HasPrefix(bare, "zeros("), strings.HasPrefix(bare, "ones("), strings.HasPrefix(bare, "full("),
		strings.HasPrefix(bare, "arange("), strings.HasPrefix(bare, "empty("), strings.HasPrefix(bare, "_efficientzerotensor("), strings.HasPrefix(bare, "frombuffer("):
		expr = "torch." + bare
	default:
		return nil
	}
	a, err := parseArg(expr, true)
	if err != nil {
		return nil
	}
	return constNode(a)
}

// constNode is the tensor that a call of a factory makes, or of reshape on one; nil for all else, and for what is too large to be made here.
func constNode(a Arg) *tensor.Tensor {
	n, ok := a.(*Node)
	if !ok {
		return nil
	}
	if n.Op == CallMethod {
		return constReshape(n)
	}
	d, size := tensor.Invalid, Arg(nil)
	for _, kw := range n.Kwargs {
		switch v := kw.Val.(type) {
		case tensor.DType:
			d = v
		default:
			switch kw.Name {
			case "size":
				size = v
			case "device", "requires_grad":
			default:
				return nil
			}
		}
	}
	args := n.Args
	if size != nil {
		args = append([]Arg{size}, args...)
	}
	if f := constants[n.Target]; f != nil {
		return f(d, args)
	}
	return nil
}

// constReshape is a constant under another shape of as many elements.
func constReshape(n *Node) *tensor.Tensor {
	if n.Target != "reshape" || len(n.Args) < 2 || len(n.Kwargs) > 0 {
		return nil
	}
	t := constNode(n.Args[0])
	shape, ok := shapeArgs(n.Args[1:])
	if t == nil || !ok || tensor.Empty(tensor.Bool, shape...).Storage.NBytes != t.Storage.NBytes/int64(t.DType.Size()) {
		return nil
	}
	t.Shape, t.Stride = shape, tensor.ContiguousStrides(shape)
	return t
}

// constants are the factories whose calls are read as tensors. d is the dtype that a call gives, Invalid for none.
var constants = map[string]func(d tensor.DType, args []Arg) *tensor.Tensor{
	"torch.tensor":               constTensor,
	"torch.zeros":                constFilled(0),
	"torch.empty":                constFilled(0),
	"torch._efficientzerotensor": constFilled(0),
	"torch.ones":                 constFilled(1),
	"torch.full":                 constFull,
	"torch.arange":               constRange,
	"torch.frombuffer":           constBuffer,
}

// constTensor is torch.tensor of numbers or nested lists. Without a dtype it has the one that PyTorch infers.
func constTensor(d tensor.DType, args []Arg) *tensor.Tensor {
	var vals []any
	if len(args) != 1 {
		return nil
	}
	shape, ok := flatten(args[0], &vals)
	if !ok {
		return nil
	}
	if d == tensor.Invalid {
		d = inferDType(vals)
	}
	return filled(d, shape, vals)
}

// constFilled is a factory of tensors that hold v everywhere. Uninitialised memory counts as zeros, as it does in the rest of a repro.
func constFilled(v int64) func(d tensor.DType, args []Arg) *tensor.Tensor {
	return func(d tensor.DType, args []Arg) *tensor.Tensor {
		shape, ok := shapeArgs(args)
		if !ok {
			return nil
		}
		if d == tensor.Invalid {
			d = tensor.Float32
		}
		return filled(d, shape, []any{v})
	}
}

// constFull is torch.full.
func constFull(d tensor.DType, args []Arg) *tensor.Tensor {
	if len(args) != 2 {
		return nil
	}
	shape, ok := shapeArgs(args[:1])
	if !ok {
		return nil
	}
	if d == tensor.Invalid {
		d = inferDType([]any{args[1]})
	}
	return filled(d, shape, []any{args[1]})
}

// constRange is torch.arange of integers; that of floats rounds as only the kernel does, and is left to it.
func constRange(d tensor.DType, args []Arg) *tensor.Tensor {
	if d == tensor.Invalid {
		d = tensor.Int64
	}
	if len(args) == 1 {
		args = []Arg{int64(0), args[0]}
	}
	if len(args) != 2 {
		return nil
	}
	from, ok := args[0].(int64)
	to, ok2 := args[1].(int64)
	if !ok || !ok2 || to < from || to-from > maxConstant {
		return nil
	}
	vals := make([]any, to-from)
	for i := range vals {
		vals[i] = from + int64(i)
	}
	return filled(d, []int64{to - from}, vals)
}

// constBuffer is torch.frombuffer of bytes in base64, which gives values back bit by bit.
func constBuffer(d tensor.DType, args []Arg) *tensor.Tensor {
	if len(args) != 1 || d == tensor.Invalid {
		return nil
	}
	b := literalBytes(args[0])
	if b == nil || len(b)%d.Size() != 0 {
		return nil
	}
	t := tensor.Empty(d, int64(len(b)/d.Size()))
	copy(t.Storage.Data, b)
	return t
}

// literalBytes reads bytearray(__import__('base64').b64decode('...')).
func literalBytes(a Arg) []byte {
	n, ok := a.(*Node)
	for ok && n.Target == "bytearray" && len(n.Args) == 1 {
		n, ok = n.Args[0].(*Node)
	}
	if !ok || !strings.HasSuffix(n.Target, "b64decode") || len(n.Args) == 0 {
		return nil
	}
	s, ok := n.Args[len(n.Args)-1].(string)
	if !ok {
		return nil
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	return b
}

// shapeArgs reads the sizes of zeros(2, 3) and zeros([2, 3]).
func shapeArgs(args []Arg) ([]int64, bool) {
	if len(args) == 1 {
		switch l := args[0].(type) {
		case List:
			args = l
		case Tuple:
			args = l
		}
	}
	shape := make([]int64, len(args))
	total := int64(1)
	for i, x := range args {
		v, ok := x.(int64)
		if !ok || v < 0 || v > maxConstant {
			return nil, false
		}
		shape[i] = v
		if total *= v; total > maxConstant {
			return nil, false
		}
	}
	return shape, true
}

// inferDType is the dtype that torch.tensor gives to Python numbers.
func inferDType(vals []any) tensor.DType {
	d := tensor.Bool
	if len(vals) == 0 {
		return tensor.Float32
	}
	for _, v := range vals {
		switch v.(type) {
		case complex128:
			return tensor.Complex64
		case float64:
			d = tensor.Float32
		case int64:
			if d == tensor.Bool {
				d = tensor.Int64
			}
		}
	}
	return d
}

// filled makes a tensor of values in row-major order; a single value is repeated.
func filled(d tensor.DType, shape []int64, vals []any) *tensor.Tensor {
	if d == tensor.Invalid || d.Size() == 0 {
		return nil
	}
	t := tensor.Empty(d, shape...)
	n := t.Storage.NBytes / int64(d.Size())
	if int64(len(vals)) != n && len(vals) != 1 {
		return nil
	}
	if len(vals) == 1 && (vals[0] == any(int64(0)) || vals[0] == any(false)) {
		return t
	}
	for i := range n {
		v := vals[0]
		if len(vals) > 1 {
			v = vals[i]
		}
		if !put(t, i, v) {
			return nil
		}
	}
	return t
}

// put stores one Python number.
func put(t *tensor.Tensor, i int64, v any) bool {
	if b, ok := v.(bool); ok {
		v = int64(0)
		if b {
			v = int64(1)
		}
	}
	if t.DType.Computes() {
		switch v := v.(type) {
		case float64:
			t.Set(i, v)
		case int64:
			t.SetInt(i, v)
		default:
			return false
		}
		return true
	}
	at := t.Storage.Data[i*int64(t.DType.Size()):]
	switch t.DType {
	case tensor.UInt16, tensor.UInt32, tensor.UInt64:
		x, ok := v.(int64)
		if b, big := v.(*big.Int); big && b.IsUint64() {
			x, ok = int64(b.Uint64()), true
		}
		for k := range t.DType.Size() {
			at[k] = byte(x >> (8 * k))
		}
		return ok
	case tensor.Complex64, tensor.Complex128:
		c := complex128(0)
		switch v := v.(type) {
		case float64:
			c = complex(v, 0)
		case int64:
			c = complex(float64(v), 0)
		case complex128:
			c = v
		default:
			return false
		}
		if t.DType == tensor.Complex64 {
			binary.LittleEndian.PutUint32(at, math.Float32bits(float32(real(c))))
			binary.LittleEndian.PutUint32(at[4:], math.Float32bits(float32(imag(c))))
		} else {
			binary.LittleEndian.PutUint64(at, math.Float64bits(real(c)))
			binary.LittleEndian.PutUint64(at[8:], math.Float64bits(imag(c)))
		}
		return true
	}
	return false
}

// maxConstant bounds what a constant in a text can make us allocate, in elements.
const maxConstant = 1 << 28

// randomValue makes what PyTorch writes for large constants: torch.randn([2, 3], dtype=torch.float32), normal numbers that
// depend on the text alone, and torch.randint(1, size=[2, 8], dtype=torch.int64), zeros.
func randomValue(expr string) *tensor.Tensor {
	a, err := parseArg(expr, true)
	if err != nil {
		return nil
	}
	n, ok := a.(*Node)
	if !ok || n.Op != CallFunction {
		return nil
	}
	size := Arg(nil)
	if len(n.Args) > 0 {
		size = n.Args[len(n.Args)-1]
	}
	d := tensor.Float32
	for _, kw := range n.Kwargs {
		switch v := kw.Val.(type) {
		case tensor.DType:
			d = v
		case List:
			size = v
		}
	}
	l, ok := size.(List)
	if !ok || d.Size() == 0 || d.Kind() == tensor.KindComplex {
		return nil
	}
	shape := make([]int64, len(l))
	total := int64(1)
	for i, x := range l {
		if shape[i], ok = x.(int64); !ok || shape[i] < 0 || shape[i] > maxConstant {
			return nil
		}
		if total *= shape[i]; total > maxConstant {
			return nil
		}
	}
	t := tensor.Empty(d, shape...)
	if d.IsFloat() {
		seed := uint64(14695981039346656037)
		for i := range len(expr) {
			seed = (seed ^ uint64(expr[i])) * 1099511628211
		}
		tensor.NewGenerator(seed).NormalFill(t, 0, 1)
	}
	return t
}

// flatten lists the numbers of nested lists and finds their common shape.
func flatten(a Arg, vals *[]any) ([]int64, bool) {
	switch a := a.(type) {
	case int64, float64, bool, complex128, *big.Int:
		*vals = append(*vals, a)
		return nil, true
	case List:
		var inner []int64
		for i, x := range a {
			sh, ok := flatten(x, vals)
			if !ok {
				return nil, false
			}
			if i == 0 {
				inner = sh
			} else if len(sh) != len(inner) {
				return nil, false
			} else {
				for j := range sh {
					if sh[j] != inner[j] {
						return nil, false
					}
				}
			}
		}
		return append([]int64{int64(len(a))}, inner...), true
	}
	return nil, false
}
