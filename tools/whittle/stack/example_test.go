package stack_test

import (
	"context"
	"fmt"
	"os"

	"github.com/sourcegraph/conc"

	"whittle/tools/whittle/stack"
)

// A session is a Python with torch. Sessions share nothing that a program can change: two that run at the same time may each define an operator
// of the same name, and compile what uses it.
func ExampleNew() {
	program := func(k int) string {
		return fmt.Sprintf(`
import torch
@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * %d
@scale.register_fake
def _(x):
    return torch.empty_like(x)
result = torch.compile(lambda x: torch.ops.mine.scale(x) + 1, backend="aot_eager")(torch.ones(2)).tolist()
`, k)
	}
	dir, err := os.MkdirTemp("", "kernels")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	results := make([]string, 2)
	var wg conc.WaitGroup
	for i := range results {
		wg.Go(func() {
			s := stack.New(context.Background(), dir)
			if err := s.In.RunSource("program.py", program(10*(i+1))); err != nil {
				results[i] = err.Error()
				return
			}
			results[i] = "?"
			if m, ok := s.In.Modules.GetStr("__main__"); ok {
				if v, err := s.In.GetAttr(m, "result"); err == nil {
					results[i], _ = s.In.Repr(v)
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(results[0])
	fmt.Println(results[1])
	// Output:
	// [11.0, 11.0]
	// [21.0, 21.0]
}
