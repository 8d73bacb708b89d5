package torch

import (
	"testing"

	"whittle/capture/fx"
)

func TestMutates(t *testing.T) {
	for target, want := range map[string]bool{"aten.copy_.default": true, "aten.add.Tensor": false, "aten.__and__.Tensor": false, "aten.relu_.default": true, "prims.iota.default": false} {
		g := fx.NewGraph()
		p := &fx.Node{Op: fx.Placeholder, Name: "x", Target: "x"}
		g.Adopt(p)
		g.Output(fx.Tuple{g.CallFunction(target, p)})
		if got := mutates(g); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}
