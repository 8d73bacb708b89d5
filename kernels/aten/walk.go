package aten

import "whittle/kernels/tensor"

// MapTensors is v with what f makes of each tensor in it, at any depth of lists and from the first to the last; the rest, absent tensors too, stays as it
// is. The first error of f ends it.
func MapTensors(v Value, f func(x *tensor.Tensor) (Value, error)) (Value, error) {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil {
			return v, nil
		}
		return f(v)
	case []Value:
		out := make([]Value, len(v))
		for i, x := range v {
			y, err := MapTensors(x, f)
			if err != nil {
				return nil, err
			}
			out[i] = y
		}
		return out, nil
	}
	return v, nil
}
