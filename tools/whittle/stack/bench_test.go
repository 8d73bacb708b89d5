package stack

import (
	"testing"

	"whittle/capture/python/vm"
)

// BenchmarkHotCall is one call of a tiny function that is compiled already: guards, dispatch, return. "plain" is the same function
// without torch.compile.
func BenchmarkHotCall(b *testing.B) {
	s, _, err := run(b, `
import torch
torch.set_grad_enabled(False)
x = torch.ones(4)
def plain(x): return x + 1
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(4))
    def forward(self, x): return x * self.w + 1
function = torch.compile(plain, backend="eager")
module = torch.compile(M(), backend="eager")
for f in (plain, function, module):
    f(x)
    f(x)
`)
	if err != nil {
		b.Fatal(err)
	}
	m, _ := s.In.Modules.GetStr("__main__")
	x, _ := m.(*vm.Module).Dict.GetStr("x")
	for _, name := range []string{"plain", "function", "module"} {
		f, _ := m.(*vm.Module).Dict.GetStr(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.In.Call(f, []vm.Object{x}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
