package aten

import "whittle/kernels/tensor"

// Shown says how a call with bound arguments is written, as PyTorch's dispatcher passes it on: how many stand by place, as trailing defaults
// are dropped, and which are named, those that can only be named and are no defaults.
func (s *Schema) Shown(args []Value) (places int, named []int) {
	for i, a := range s.Args {
		switch def := a.HasDefault && sameValue(args[i], a.Default); {
		case a.KwOnly && !def:
			named = append(named, i)
		case !a.KwOnly && !def:
			places = i + 1
		}
	}
	return places, named
}

// Factory reports whether an operator makes a tensor of no others.
func (s *Schema) Factory() bool {
	device := false
	for _, a := range s.Args {
		if a.Type.Base == "Tensor" {
			return false
		}
		device = device || a.Name == "device"
	}
	return device
}

// sameValue compares an argument with a default. A list and a number differ, though binding takes one for the other.
func sameValue(a, b Value) bool {
	switch a := a.(type) {
	case []Value:
		l, ok := b.([]Value)
		if !ok || len(l) != len(a) {
			return false
		}
		for i := range a {
			if !sameValue(a[i], l[i]) {
				return false
			}
		}
		return true
	case *tensor.Tensor:
		return a == nil && b == nil
	}
	if _, ok := b.([]Value); ok {
		return false
	}
	return a == b
}
