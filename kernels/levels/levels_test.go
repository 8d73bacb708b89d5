package levels

import (
	"fmt"
	"testing"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// An operator on a tensor of vmap sees one dimension less, whichever is hidden; a level that is over leaves the value beneath.
func TestVmap(t *testing.T) {
	value := tensor.FromFloat32s([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	for _, c := range []struct {
		dim  int
		op   string
		args []aten.Value
		want string
	}{
		{0, "aten.sum", nil, "[3 7 11]"},
		{1, "aten.sum", nil, "[9 12]"},
		{0, "aten.add.Tensor", []aten.Value{int64(1)}, "[2 3 4 5 6 7]"},
		{1, "aten.cumsum", []aten.Value{int64(0)}, "[1 4 9 2 6 12]"},
		{0, "aten.unsqueeze", []aten.Value{int64(0)}, "[1 2 3 4 5 6]"},
	} {
		s := &Stack{Base: func() aten.Dispatcher { return aten.Eager }}
		l := s.Push(&Level{Kind: Vmap, Size: value.Shape[c.dim], Randomness: "error"})
		x := s.Wrap(l, value, c.dim)
		if len(x.Shape) != 1 {
			t.Fatalf("dimension %d: the tensor has the shape %v", c.dim, x.Shape)
		}
		v, err := aten.Run(s, c.op, append([]aten.Value{x}, c.args...)...)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		y, dim := Unwrap(l, v.(*tensor.Tensor))
		front, err := aten.Run(aten.Eager, "aten.movedim.int", y, int64(dim), int64(0))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(front.(*tensor.Tensor).Floats()); got != c.want {
			t.Errorf("%s with dimension %d hidden: %s, want %s", c.op, c.dim, got, c.want)
		}
		s.Pop()
		if Alive(x) != value || !l.Ended() || s.Active() {
			t.Errorf("%s: the level is over, and the tensor still of it", c.op)
		}
	}
}
