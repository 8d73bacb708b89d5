package stack

import (
	"context"
	"sort"
	"testing"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
)

// TestTargetsAreReadBack calls every function that capture can put into a graph, as its modules list them, and every overload and every
// method of tensors: what is printed is read back as the same node, so that each graph has a repro.
func TestTargetsAreReadBack(t *testing.T) {
	s := New(context.Background(), t.TempDir())
	defer s.In.Flush()
	targets := map[string]fx.Op{}
	for _, name := range []string{"torch", "torch._C", "torch._C._nn", "torch._C._autograd", "torch._C._special", "torch._C._linalg", "torch._C._fft", "torch.nn.functional", "torch.functional", "torch.linalg", "torch.fft", "torch.special",
		"torch.signal.windows", "torch.amp.autocast_mode", "operator", "math", "builtins"} {
		m, err := s.In.Import(name)
		if err != nil {
			continue // not every one of them is a module here
		}
		m.Dict.Each(func(_, v vm.Object) bool {
			switch v.(type) {
			case *vm.Builtin, *vm.Function:
				if target := s.Torch.TargetOf(v); target != "" {
					targets[target] = fx.CallFunction
				}
			}
			return true
		})
	}
	for _, op := range aten.All() {
		targets[op.Name()] = fx.CallFunction
	}
	s.Torch.TensorType.Dict.Each(func(k, v vm.Object) bool {
		name, _ := vm.AsStr(k)
		switch v.(type) {
		case *vm.Builtin, *vm.Function:
			targets["."+name] = fx.CallMethod
		case *vm.GetSet:
			targets["getattr "+name] = fx.CallFunction
		}
		return true
	})
	if len(targets) < 2000 {
		t.Fatalf("only %d targets are found", len(targets))
	}
	names := make([]string, 0, len(targets))
	for n := range targets {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		g := &fx.Graph{}
		x, y := g.Placeholder("x"), g.Placeholder("y")
		var node *fx.Node
		switch {
		case targets[n] == fx.CallMethod:
			node = g.CreateNode(fx.CallMethod, n[1:], []fx.Arg{x, y, int64(2), complex(0, 1)}, nil, "")
		case len(n) > 8 && n[:8] == "getattr ":
			node = g.CreateNode(fx.CallFunction, "getattr", []fx.Arg{x, n[8:]}, nil, "")
		default:
			node = g.CreateNode(fx.CallFunction, n, []fx.Arg{x, y, int64(2), complex(0, 1)}, nil, "")
		}
		g.Output(fx.Tuple{node})
		text := g.Forward("")
		again, err := fx.ParseGraph(text)
		if err != nil {
			t.Errorf("%s: %v\n%s", n, err, text)
			continue
		}
		got := again.Calls()
		if len(got) != 1 || got[0].Target != node.Target || got[0].Op != node.Op {
			t.Errorf("%s is read back as another node:\n%s\n%s", n, text, again.Forward(""))
		}
	}
	t.Logf("%d targets", len(names))
}
