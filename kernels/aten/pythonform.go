package aten

import "whittle/kernels/tensor"

// PythonForm rewrites the arguments of torch functions that PyTorch writes in Python over other operators:
// torch.norm takes names for its order, torch.einsum takes its operands one by one, torch.nonzero may give a tuple. Other calls are returned as they are.
func PythonForm(name string, args []Value, kwargs map[string]Value) (string, []Value, map[string]Value) {
	switch name {
	case "einsum":
		if len(args) < 2 {
			return name, args, kwargs
		}
		if _, ok := args[1].(*tensor.Tensor); ok {
			return name, []Value{args[0], append([]Value(nil), args[1:]...)}, kwargs
		}
	case "nonzero":
		if v, ok := kwargs["as_tuple"]; ok {
			kw := map[string]Value{}
			for k, x := range kwargs {
				if k != "as_tuple" {
					kw[k] = x
				}
			}
			if v == true {
				return "nonzero_numpy", args, kw
			}
			return name, args, kw
		}
	case "norm":
		if n, a, kw, ok := normForm(args, kwargs); ok {
			return n, a, kw
		}
	}
	return name, args, kwargs
}

// normForm turns norm(x, p="fro", dim=None, keepdim=False, dtype=None) into a vector norm.
func normForm(args []Value, kwargs map[string]Value) (string, []Value, map[string]Value, bool) {
	names := []string{"self", "p", "dim", "keepdim", "dtype"}
	vals := []Value{nil, "fro", nil, false, nil}
	if len(args) > len(names) {
		return "", nil, nil, false
	}
	copy(vals, args)
	for k, v := range kwargs {
		if k == "input" {
			k = "self"
		}
		at := -1
		for i, n := range names {
			if n == k {
				at = i
			}
		}
		if at < 0 {
			return "", nil, nil, false // out=: the operator's own overloads take it
		}
		vals[at] = v
	}
	if _, ok := vals[0].(*tensor.Tensor); !ok {
		return "", nil, nil, false
	}
	if d, ok := vals[2].(int64); ok {
		vals[2] = []Value{d}
	}
	switch p := vals[1].(type) {
	case nil:
		vals[1] = int64(2)
	case string:
		l, _ := vals[2].([]Value)
		if p == "nuc" {
			x := vals[0].(*tensor.Tensor)
			if vals[2] == nil {
				all := make([]int64, x.Dim())
				for i := range all {
					all[i] = int64(i)
				}
				vals[2] = ints(all)
			}
			kw := map[string]Value{}
			if vals[4] != nil {
				kw["dtype"] = vals[4]
			}
			return "linalg_matrix_norm", vals[:4], kw, true
		}
		if p != "fro" || len(l) > 2 {
			return "", nil, nil, false
		}
		vals[1] = int64(2)
	}
	kw := map[string]Value{}
	if vals[4] != nil {
		kw["dtype"] = vals[4]
	}
	return "linalg_vector_norm", vals[:4], kw, true
}
