package cli

import (
	"slices"
	"testing"

	"whittle/aot/autograd"
	"whittle/kernels/aten"
)

// secondOrder are the Core operators that only a second derivative would differentiate, and those of sizes.
var secondOrder = []string{"aten._adaptive_avg_pool2d_backward.default", "aten.avg_pool2d_backward.default", "aten.convolution_backward.default", "aten.embedding_dense_backward.default",
	"aten.native_group_norm_backward.default", "aten.native_layer_norm_backward.default", "aten.resize_.default", "aten.sym_numel.default", "aten.sym_storage_offset.default", "aten.sym_stride.int"}

// TestLayers walks the registry: every row can run and has metadata, what is a view or a loop in its tags is one to lowering, and every Core operator
// has a derivative or is known to have none.
func TestLayers(t *testing.T) {
	core := 0
	for _, op := range aten.All() {
		o := layersOf(op)
		if op.Decomp == nil && (op.Eager == nil || op.Meta == nil) {
			t.Errorf("%s: neither parts nor kernel and meta function", o.Name)
		}
		if op.Has(aten.Core) {
			core++
			if d := autograd.Derivative(op); d == autograd.NotDerived && !slices.Contains(secondOrder, o.Name) {
				t.Errorf("%s is Core and has no derivative", o.Name)
			}
		}
	}
	if core < 189 {
		t.Errorf("%d Core operators, of 189", core)
	}
}
