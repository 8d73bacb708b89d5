package fx

import (
	"strings"

	"whittle/kernels/tensor"
)

// attrValue evaluates the constants that PyTorch prints: tensor(2), tensor(0., dtype=torch.float64). nil for other forms.
func attrValue(expr string) *tensor.Tensor {
	expr = strings.TrimPrefix(expr, "torch.")
	if inner, ok := strings.CutPrefix(expr, "nn.Parameter("); ok {
		expr = strings.TrimPrefix(strings.TrimSuffix(inner, ")"), "torch.")
	}
	if strings.HasPrefix(expr, "randn(") || strings.HasPrefix(expr, "randint(1, size=") {
		return randomValue(expr)
	}
	if !strings.HasPrefix(expr, "tensor(") {
		return nil
	}
	a, err := parseArg("f("+strings.TrimPrefix(expr, "tensor("), true)
	if err != nil {
		return nil
	}
	n, ok := a.(*Node)
	if !ok || len(n.Args) != 1 {
		return nil
	}
	d := tensor.Invalid
	for _, kw := range n.Kwargs {
		dt, ok := kw.Val.(tensor.DType)
		if kw.Name != "dtype" || !ok {
			return nil
		}
		d = dt
	}
	var vals []any
	shape, ok := flatten(n.Args[0], &vals)
	if !ok {
		return nil
	}
	if d == tensor.Invalid {
		d = tensor.Int64
		if len(vals) == 0 {
			d = tensor.Float32
		}
		allBool := len(vals) > 0
		for _, v := range vals {
			switch v.(type) {
			case float64:
				d = tensor.Float32
				allBool = false
			case int64:
				allBool = false
			}
		}
		if allBool {
			d = tensor.Bool
		}
	}
	if d.Kind() == tensor.KindComplex || d.Size() == 0 {
		return nil
	}
	t := tensor.Empty(d, shape...)
	for i, v := range vals {
		switch v := v.(type) {
		case float64:
			t.Set(int64(i), v)
		case int64:
			t.SetInt(int64(i), v)
		case bool:
			if v {
				t.SetInt(int64(i), 1)
			}
		}
	}
	return t
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
	case int64, float64, bool:
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
