package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/capture/python/vm"
)

func TestStrideSpec(t *testing.T) {
	for _, c := range []struct {
		name         string
		size, stride []int64
		want         []string
	}{
		{"dense", []int64{2, 3, 4}, []int64{12, 4, 1}, []string{"S1", "S2", "1"}},
		{"transposed", []int64{4, 3}, []int64{1, 4}, []string{"1", "S0"}},
		{"expanded", []int64{5, 3}, []int64{0, 1}, []string{"0", "1"}},
		{"a column of a matrix", []int64{4}, []int64{7}, []string{"7"}},
		{"no dimension", nil, nil, []string{}},
	} {
		if diff := cmp.Diff(c.want, strideSpec(c.size, c.stride)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestAutomaticDynamic(t *testing.T) {
	tensors := func(sizes ...[]int64) *seenSizes {
		s := &seenSizes{}
		for _, z := range sizes {
			stride := make([]int64, len(z))
			n := int64(1)
			for i := len(z) - 1; i >= 0; i-- {
				stride[i] = n
				n *= z[i]
			}
			s.seeTensor(z, strideSpec(z, stride))
		}
		return s
	}
	dynamic := func(s *seenSizes, n int) []bool {
		out := make([]bool, n)
		for i := range out {
			out[i] = s.sizeDynamic(i)
		}
		return out
	}
	for _, c := range []struct {
		name string
		seen *seenSizes
		want []bool
	}{
		{"once", tensors([]int64{2, 3}), []bool{false, false}},
		{"the same again", tensors([]int64{2, 3}, []int64{2, 3}), []bool{false, false}},
		{"one dimension", tensors([]int64{2, 3}, []int64{4, 3}), []bool{true, false}},
		{"both in turn", tensors([]int64{2, 3}, []int64{4, 3}, []int64{2, 5}), []bool{true, true}},
		{"another rank", tensors([]int64{2}, []int64{2, 3}), []bool{true, true}},
	} {
		if diff := cmp.Diff(c.want, dynamic(c.seen, 2)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}

	s := &seenSizes{}
	s.seeTensor([]int64{2, 3}, []string{"S1", "1"})
	s.seeTensor([]int64{2, 3}, []string{"1", "S0"})
	if !s.strideDynamic(0) || s.sizeDynamic(0) {
		t.Error("a stride that differs while no size does is dynamic, and alone")
	}

	n := &seenSizes{}
	n.seeNumber(vm.MakeInt(3))
	n.seeNumber(vm.MakeInt(3))
	if n.wild {
		t.Error("a number that never differed is a constant")
	}
	n.seeNumber(vm.MakeInt(4))
	if !n.wild {
		t.Error("a number that differed is dynamic")
	}
}
