package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
	"whittle/repros"
	"whittle/tools/conformance/graphs"
	"whittle/tools/whittle/stack"
)

//go:embed program.py
var programText string

// program runs an after-dynamo repro by whittle's own stack.
type program struct {
	s        *stack.Session
	run, mod vm.Object
	grads    []bool // which inputs ask for gradients
}

// dynamoProgram opens a repro's text in an interpreter of its own.
func dynamoProgram(cacheDir string) func(ctx context.Context, r *repros.Repro, file, text string) (graphs.Program, error) {
	return func(ctx context.Context, r *repros.Repro, file, text string) (graphs.Program, error) {
		p := &program{s: stack.New(ctx, cacheDir)}
		lib, err := p.module("program.py", programText)
		if err != nil {
			return nil, err
		}
		repro, err := p.module(file, text)
		if err != nil {
			return nil, err
		}
		if p.run, err = p.s.In.GetAttr(lib, "run"); err != nil {
			return nil, err
		}
		p.mod, err = p.s.In.GetAttr(repro, "mod")
		for _, in := range r.Inputs {
			p.grads = append(p.grads, in.RequiresGrad && !inference(file))
		}
		return p, err
	}
}

// inference says whether the record beside a repro tells that it was captured without gradients, although parameters ask for them.
func inference(file string) bool {
	b, err := os.ReadFile(strings.TrimSuffix(file, ".py") + ".json")
	var about struct {
		Phase string `json:"phase"`
	}
	return err == nil && json.Unmarshal(b, &about) == nil && about.Phase == "inference"
}

// module runs text under a name that is not __main__: a repro then only defines its module.
func (p *program) module(file, text string) (*vm.Module, error) {
	in := p.s.In
	c, err := in.Compile(file, text, code.Exec)
	if err != nil {
		return nil, err
	}
	m := in.NewModule("repro", "")
	m.Dict.SetStr("__builtins__", in.Builtins)
	_, err = in.RunCode(c, m.Dict, nil)
	return m, err
}

// Run implements graphs.Program.
func (p *program) Run(how graphs.How, inputs []any) ([]any, error) {
	args := make([]vm.Object, len(inputs))
	for i, v := range inputs {
		if t, ok := v.(*tensor.Tensor); ok && i < len(p.grads) && p.grads[i] {
			if err := p.s.Torch.Grad.SetRequiresGrad(t, true); err != nil {
				return nil, err
			}
		}
		args[i] = p.s.Torch.Object(v)
	}
	out, err := p.s.In.Call(p.run, []vm.Object{p.mod, vm.NewList(args...), vm.Str(how)}, nil)
	if err != nil {
		return nil, err
	}
	v, ok := p.s.Torch.Value(out)
	if !ok {
		return nil, fmt.Errorf("results that are no tensors")
	}
	return v.([]any), nil
}
