package stack

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"whittle/capture"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
	"whittle/repros"
)

// FrameVersion is the version of RecordedFrame's form in the store.
const FrameVersion = 1

// RecordedFrame is a Python call that failed to compile, with all that it needs to be made again: the part of
// the script that defines its function, and its arguments.
type RecordedFrame struct {
	File      string     `json:"file"`     // the script that it came from, for messages
	Function  string     `json:"function"` // name at the script's top level
	Script    string     `json:"script"`   // the statements that define it, and the backend
	Backend   string     `json:"backend"`  // a registered name, or a function of the script
	FullGraph bool       `json:"fullgraph,omitempty"`
	Args      []argument `json:"args"`
	Error     string     `json:"error"`
}

// argument is one argument: plain JSON, a tensor, a sequence, or a name of the script.
type argument struct {
	Name   string          `json:"name"`
	Plain  json.RawMessage `json:"plain,omitempty"`
	Kind   string          `json:"kind"` // none, bool, int, float, str, list, tuple, tensor, global
	Items  []argument      `json:"items,omitempty"`
	DType  string          `json:"dtype,omitempty"`
	Shape  []int64         `json:"shape,omitempty"`
	Data   string          `json:"data,omitempty"` // base64 of the contiguous bytes
	Grad   bool            `json:"requires_grad,omitempty"`
	Global string          `json:"global,omitempty"`
}

// RecordFrame describes a failing frame; it fails for a function that is not at its script's top level and for
// arguments that have no written form, naming them.
func (s *Session) RecordFrame(f *vm.Frame, ctx *capture.Context, cause error) (*RecordedFrame, error) {
	src := f.Code.Source
	if src == nil || f.Func == nil {
		return nil, fmt.Errorf("frame %s has no source", f.Code.Name)
	}
	r := &RecordedFrame{File: f.Code.Filename, Function: f.Func.Name, Backend: ctx.Backend.Name, FullGraph: ctx.FullGraph, Error: cause.Error()}
	if len(f.Code.FreeVars) > 0 || strings.Contains(f.Func.Qualname, ".") {
		return nil, fmt.Errorf("frame %s: only functions at a script's top level can be recorded", f.Func.Qualname)
	}
	text, err := repros.SliceSource(f.Code.Filename, src.Text, f.Func.Name)
	if err != nil {
		return nil, err
	}
	r.Script = text
	if b, ok := ctx.Backend.Fn.(*vm.Function); ok && b.Code.Source != nil && !strings.HasPrefix(b.Code.Filename, "torch/") {
		t, err := repros.SliceSource(b.Code.Filename, b.Code.Source.Text, b.Name)
		if err != nil {
			return nil, err
		}
		r.Script = t + text
	}
	n := f.Code.NumArgs()
	for i := 0; i < n; i++ {
		v := f.LocalsPlus[i]
		if c, ok := v.(*vm.Cell); ok {
			v = c.V
		}
		a, err := s.encode(v, f.Globals)
		if err != nil {
			return nil, fmt.Errorf("frame %s, argument %s: %w", f.Func.Name, f.Code.VarNames[i], err)
		}
		a.Name = f.Code.VarNames[i]
		r.Args = append(r.Args, a)
	}
	return r, nil
}

func (s *Session) encode(o vm.Object, globals *vm.Dict) (argument, error) {
	plain := func(kind string, v any) (argument, error) {
		b, err := json.Marshal(v)
		return argument{Kind: kind, Plain: b}, err
	}
	seq := func(kind string, items []vm.Object) (argument, error) {
		a := argument{Kind: kind}
		for _, x := range items {
			e, err := s.encode(x, globals)
			if err != nil {
				return a, err
			}
			a.Items = append(a.Items, e)
		}
		return a, nil
	}
	switch v := o.(type) {
	case *vm.NoneType:
		return argument{Kind: "none"}, nil
	case vm.Bool:
		return plain("bool", bool(v))
	case vm.Int:
		return plain("int", int64(v))
	case vm.Float:
		return plain("float", float64(v))
	case vm.Str:
		return plain("str", string(v))
	case *vm.List:
		return seq("list", v.Items)
	case *vm.Tuple:
		return seq("tuple", v.Items)
	case *torch.Tensor:
		c := v.T.Contiguous()
		return argument{Kind: "tensor", DType: c.DType.String(), Shape: c.Shape, Data: base64.StdEncoding.EncodeToString(c.Bytes()), Grad: s.RequiresGrad(v.T)}, nil
	}
	for _, k := range globals.Keys() {
		name, _ := vm.AsStr(k)
		if g, ok := globals.GetStr(name); ok && g == o {
			return argument{Kind: "global", Global: name}, nil
		}
	}
	return argument{}, fmt.Errorf("a %s has no written form", o.Type().FullName())
}

func (s *Session) decode(a argument, main *vm.Dict) (vm.Object, error) {
	items := func() ([]vm.Object, error) {
		var out []vm.Object
		for _, x := range a.Items {
			o, err := s.decode(x, main)
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		return out, nil
	}
	switch a.Kind {
	case "none":
		return vm.None, nil
	case "bool":
		var v bool
		err := json.Unmarshal(a.Plain, &v)
		return vm.MakeBool(v), err
	case "int":
		var v int64
		err := json.Unmarshal(a.Plain, &v)
		return vm.MakeInt(v), err
	case "float":
		var v float64
		err := json.Unmarshal(a.Plain, &v)
		return vm.Float(v), err
	case "str":
		var v string
		err := json.Unmarshal(a.Plain, &v)
		return vm.Str(v), err
	case "list":
		it, err := items()
		return vm.NewList(it...), err
	case "tuple":
		it, err := items()
		return vm.NewTuple(it...), err
	case "tensor":
		d, ok := tensor.ParseDType(a.DType)
		if !ok {
			return nil, fmt.Errorf("unknown dtype %q", a.DType)
		}
		data, err := base64.StdEncoding.DecodeString(a.Data)
		if err != nil {
			return nil, err
		}
		t, err := tensor.FromBytes(d, data, a.Shape...)
		if err != nil {
			return nil, err
		}
		if a.Grad {
			if err := s.grad.SetRequiresGrad(t, true); err != nil {
				return nil, err
			}
		}
		return s.Torch.Wrap(t), nil
	case "global":
		if v, ok := main.GetStr(a.Global); ok {
			return v, nil
		}
		return nil, fmt.Errorf("the script no longer defines %s", a.Global)
	}
	return nil, fmt.Errorf("unknown kind of argument %q", a.Kind)
}

// ReplayFrame makes the recorded call again, compiled as it was, and returns what it raises.
func (s *Session) ReplayFrame(r *RecordedFrame) error {
	if err := s.In.RunSource(r.File, r.Script); err != nil {
		return err
	}
	m, ok := s.In.Modules.GetStr("__main__")
	if !ok {
		return fmt.Errorf("the recorded script left no module")
	}
	main := m.(*vm.Module).Dict
	fn, ok := main.GetStr(r.Function)
	if !ok {
		return fmt.Errorf("the recorded script does not define %s", r.Function)
	}
	for {
		inner, err := s.In.GetAttr(fn, "_torchdynamo_orig_callable")
		if err != nil {
			break
		}
		fn = inner
	}
	backend, ok := main.GetStr(r.Backend)
	if !ok {
		b, err := s.lookup(r.Backend)
		if err != nil {
			return err
		}
		backend = b
	}
	var args []vm.Object
	for _, a := range r.Args {
		o, err := s.decode(a, main)
		if err != nil {
			return fmt.Errorf("argument %s: %w", a.Name, err)
		}
		args = append(args, o)
	}
	ctx := &capture.Context{FullGraph: r.FullGraph, Backend: capture.Backend{Name: r.Backend, Fn: backend, Compile: func(gm vm.Object, inputs []vm.Object) (vm.Object, error) {
		return s.In.Call(backend, []vm.Object{gm, vm.NewList(inputs...)}, nil)
	}}}
	_, err := s.Dynamo.Call(ctx, fn, args, nil)
	return err
}

// RecordingFrames reports whether torch._dynamo.config.replay_record_enabled is set.
func (s *Session) RecordingFrames() bool {
	m, err := s.In.Import("torch._dynamo.config")
	if err != nil {
		return false
	}
	v, err := s.In.GetAttr(m, "replay_record_enabled")
	if err != nil {
		return false
	}
	on, err := s.In.Truth(v)
	return err == nil && on
}
