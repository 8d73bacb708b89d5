package aten

import (
	"math/rand/v2"
	"testing"
)

// TestVectorTimesTurnedMatrices: a vector on the left of turned matrices is the product of their rows with it, as of matrices that lie in order.
func TestVectorTimesTurnedMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	v, m := laid(r, 40), laid(r, 3, 5, 30, 40)
	turned := mustTensor(t, "aten.transpose.int", m.Contiguous(), int64(-2), int64(-1))
	if !shouldFold(v, turned) || shouldFold(v, turned.Contiguous()) {
		t.Error("the turned matrices alone should be rows of one")
	}
	near(t, "product", mustTensor(t, "aten.matmul.default", v, turned), mustTensor(t, "aten.matmul.default", v, turned.Contiguous()))
}

// TestRunningProductsOfRepeated: what runs along a dimension that is repeated, of a tensor that lies across.
func TestRunningProductsOfRepeated(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	x := mustTensor(t, "aten.transpose.int", laid(r, 40, 30).Contiguous(), int64(0), int64(1))
	wide := mustTensor(t, "aten.expand.default", mustTensor(t, "aten.unsqueeze.default", x, int64(-1)), ints([]int64{30, 40, 3}))
	near(t, "product", mustTensor(t, "aten.cumprod.default", wide, int64(-1)), mustTensor(t, "aten.cumprod.default", wide.Contiguous(), int64(-1)))
}
