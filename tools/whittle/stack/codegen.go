package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"whittle/aot"
	"whittle/aot/decomp"
	"whittle/capture"
	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
	"whittle/lowering"
	"whittle/lowering/triton"
	"whittle/repros"
)

// Generated is what is generated for one graph after aot.
type Generated struct {
	Kind  string `json:"kind"` // inference, forward, backward
	Text  string `json:"code"`
	Graph string `json:"graph"` // as a repro after aot
}

// Codegen generates code for the graphs of a repro: the one that it holds after aot, or those that aot makes of it, backward included. device is where
// it would run; nil => on the CPU. Nothing is compiled.
func Codegen(ctx context.Context, r *repros.Repro, dir string, device *triton.Device) (out []Generated, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	inputs, err := r.Tensors(r.Loader(dir))
	var missing *repros.MissingError
	if errors.As(err, &missing) { // code does not depend on the data
		inputs, err = r.Tensors(nil)
	}
	if err != nil {
		return nil, err
	}
	if r.Stage == repros.AfterDynamo {
		return codegenDynamo(ctx, r, inputs, device)
	}
	aten.DefaultGenerator.ManualSeed(0)
	if err := interp.Propagate(ctx, r.Module, inputs); err != nil {
		return nil, err
	}
	family := "cpp"
	if device != nil {
		family = "triton"
	}
	cfg := lowering.Config{InjectRelu: setting(r, family+".inject_relu_bug_TESTING_ONLY"), InjectLog1p: setting(r, family+".inject_log1p_bug_TESTING_ONLY"), Threads: parallel.Threads()}
	if n, err := strconv.Atoi(setting(r, "cpp.threads")); err == nil && n > 0 {
		cfg.Threads = n
	}
	text, err := codeText(ctx, r.Module, "inference", cfg, device)
	if err != nil {
		return nil, err
	}
	return []Generated{{Kind: "inference", Text: text, Graph: repros.Write(r)}}, nil
}

// codeText is what lowering makes of a graph.
func codeText(ctx context.Context, gm *fx.GraphModule, kind string, cfg lowering.Config, device *triton.Device) (string, error) {
	if device != nil {
		return lowering.Triton(gm, cfg, kind, *device)
	}
	cfg.Tier = lowering.Tiles // which has the text of the kernels, and compiles none
	c, err := lowering.Compile(ctx, gm, cfg)
	if err != nil {
		return "", err
	}
	return c.Source, nil
}

// blank stands for a compiled graph, and computes nothing: its results have the right sizes, and are zero.
func blank(gm *fx.GraphModule) (aot.Callable, error) {
	var outs []fx.Arg
	switch a := gm.Graph.OutputNode().Args[0].(type) {
	case fx.Tuple:
		outs = a
	case fx.List:
		outs = a
	default:
		outs = []fx.Arg{a}
	}
	places := gm.Graph.Placeholders()
	return func(inputs []aten.Value) ([]aten.Value, error) {
		results := make([]aten.Value, len(outs))
		for i, o := range outs {
			n, ok := o.(*fx.Node)
			if !ok {
				results[i] = o
				continue
			}
			if k := slices.Index(places, n); k >= 0 {
				results[i] = inputs[k]
				continue
			}
			t, ok := n.Val.(*tensor.Tensor)
			if !ok {
				return nil, fmt.Errorf("result %s of the graph is a %T", n.Name, n.Val)
			}
			results[i] = tensor.EmptyStrided(t.DType, t.Shape, t.Stride)
		}
		return results, nil
	}, nil
}

// codegenDynamo calls what an after-dynamo repro compiles to, forward and backward, and generates code for the graphs that go by. None of them is run.
func codegenDynamo(ctx context.Context, r *repros.Repro, inputs []any, device *triton.Device) (out []Generated, err error) {
	s := New(ctx, "")
	defer s.In.Abandon()
	s.In.Stdout, s.In.Stderr = io.Discard, io.Discard
	defer s.In.WithContext(ctx)()
	var failed error
	s.Dynamo.Register(capture.Backends{"inductor": s.aotBackend(decomp.Inductor, true, func(gm *fx.GraphModule, kind string) (aot.Callable, error) {
		cfg, err := s.loweringConfig()
		if err != nil {
			return nil, err
		}
		g := Generated{Kind: kind}
		if g.Graph, err = s.runnable(gm); err == nil {
			g.Text, err = codeText(ctx, gm, kind, cfg, device)
		}
		if failed == nil {
			failed = err
		}
		out = append(out, g)
		return blank(gm)
	})})
	r.Backend = "inductor"
	pre, _, _ := strings.Cut(repros.Write(r), "if __name__ == '__main__':")
	if err := s.In.RunText("repro.py", pre); err != nil {
		return nil, err
	}
	d := newDynamoRun(s, r)
	if d.backend, err = s.lookup("inductor"); err != nil {
		return nil, s.plain(err)
	}
	both, err := s.attribute("torch._dynamo.debug_utils", "run_fwd_maybe_bwd")
	if err != nil {
		return nil, err
	}
	fn, err := d.optimized()
	if err != nil {
		return nil, s.plain(err)
	}
	args, err := d.args(cloneAll(inputs), true)
	if err != nil {
		return nil, err
	}
	aten.DefaultGenerator.ManualSeed(0)
	if _, err = s.In.Call(both, []vm.Object{fn, vm.NewList(args...)}, []vm.KwArg{{Name: "disable_clone", Value: vm.True}}); err != nil {
		return nil, s.plain(err)
	}
	if failed == nil && len(out) == 0 {
		failed = errors.New("no graph of it goes through aot: it calls nothing that is compiled")
	}
	return out, failed
}
