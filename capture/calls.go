package capture

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// effects are builtin functions whose call cannot be repeated or undone; each breaks the graph.
var effects = map[string]bool{"print": true, "open": true, "input": true, "exec": true, "eval": true, "compile": true, "breakpoint": true, "__import__": true}

// pureModules hold native functions that depend on nothing but their arguments.
var pureModules = map[string]bool{"builtins": true, "math": true, "_operator": true, "operator": true, "functools": true, "_functools": true, "itertools": true,
	"collections": true, "_collections": true, "torch": true, "torch._C": true, "torch._C._nn": true, "torch.ops": true, "": true, "types": true, "typing": true, "enum": true, "dataclasses": true, "_abc": true, "abc": true}

// inlinedLibraries are Python modules of the standard library that are traced through.
var inlinedLibraries = map[string]bool{"collections": true, "functools": true, "itertools": true, "operator": true, "typing": true, "dataclasses": true, "enum": true,
	"abc": true, "contextlib": true, "types": true, "math": true, "bisect": true, "heapq": true, "numbers": true}

// call is asked about every call that traced bytecode makes.
func (tr *tracer) call(in *vm.Interp, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if tr.depth > 0 || tr.d.active != tr {
		return nil, false, nil
	}
	f := callable
	if m, ok := f.(*vm.BoundMethod); ok {
		f = m.Func
	}
	var v vm.Object
	var done bool
	var err error
	switch f := f.(type) {
	case *vm.Builtin:
		v, done, err = tr.callBuiltin(f, args, kw)
	case *vm.Function:
		v, done, err = tr.callFunction(f, callable, args, kw)
	}
	return v, done, tr.located(err)
}

func (tr *tracer) callBuiltin(f *vm.Builtin, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	if _, ok := f.Native.(torch.Target); ok {
		return nil, false, nil // the torch hook records it
	}
	for _, a := range args {
		tr.seeItems(a)
	}
	if f.Self != nil {
		if _, isModule := f.Self.(*vm.Module); !isModule {
			tr.seeItems(f.Self)
			return nil, false, nil
		}
	}
	if f.Owner != nil {
		return nil, false, nil
	}
	if f.Module == "builtins" || f.Module == "" {
		if effects[f.Name] {
			kinds := make([]string, len(args))
			for i, a := range args {
				kinds[i] = "<class 'torch._dynamo.variables." + variableClass(a) + "'>"
			}
			return nil, false, &Unsupported{Reason: fmt.Sprintf("Unsupported: builtin: %s [%s] %s", f.Name, strings.Join(kinds, ", "), pyBool(len(kw) > 0))}
		}
		return nil, false, nil
	}
	if pureModules[f.Module] {
		return nil, false, nil
	}
	return nil, false, &Unsupported{Reason: fmt.Sprintf("Unsupported: Graph break due to unsupported builtin %s.%s. This function is either a Python builtin (e.g. _warnings.warn) or a third-party C/C++ Python extension (perhaps created with pybind). If it is a Python builtin, please file an issue on GitHub so the PyTorch team can add support for it and see the next case for a workaround. If it is a third-party C/C++ Python extension, please either wrap it into a PyTorch-understood custom operator (see https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html for more details) or, if it is traceable, use torch.compiler.allow_in_graph.", f.Module, f.Name)}
}

// variableClass is the name that PyTorch's capture gives to the kind of a value; reasons quote it.
func variableClass(o vm.Object) string {
	switch o.(type) {
	case *torch.Tensor:
		return "tensor.TensorVariable"
	case *vm.List:
		return "lists.ListVariable"
	case *vm.Tuple:
		return "lists.TupleVariable"
	case *vm.Dict:
		return "dicts.ConstDictVariable"
	case *vm.Instance:
		return "user_defined.UserDefinedObjectVariable"
	case *vm.Function:
		return "functions.UserFunctionVariable"
	}
	return "constant.ConstantVariable"
}

func (tr *tracer) callFunction(f *vm.Function, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
	mod, _ := vm.AsStr(f.Module)
	if f.Dict != nil {
		if v, ok := f.Dict.GetStr("_torchdynamo_disable"); ok && v == vm.True {
			return nil, false, &Unsupported{Reason: fmt.Sprintf("Unsupported: 'skip function %s in file %s'", f.Qualname, shortFile(f.Code.Filename))}
		}
	}
	top, _, _ := strings.Cut(mod, ".")
	if top == "torch" {
		if fn := directives[mod+"."+f.Name]; fn != nil {
			return fn(tr, args, kw)
		}
		if mod == "torch.nn.functional" && f.Name[0] != '_' || mod == "torch" && graphFunctions[f.Name] {
			target := mod + "." + f.Name
			v, err := tr.t.Hook(&torch.Call{Op: fx.CallFunction, Target: target, Args: args, Kw: kw, Run: func(a []vm.Object, k []vm.KwArg) (vm.Object, error) {
				return tr.in.Call(f, a, k)
			}})
			return v, true, err
		}
		if strings.HasPrefix(mod, "torch._dynamo") || strings.HasPrefix(mod, "torch._inductor") {
			return nil, false, &Unsupported{Reason: fmt.Sprintf("Unsupported: 'skip function %s in file %s'", f.Qualname, shortFile(f.Code.Filename))}
		}
		return nil, false, nil
	}
	if tr.d.isLibrary(f.Code.Filename) && !inlinedLibraries[top] {
		return nil, false, &Unsupported{Reason: fmt.Sprintf("Unsupported: 'skip function %s in file %s'", f.Qualname, f.Code.Filename)}
	}
	return nil, false, nil
}

// graphFunctions are functions of torch written in Python that stay whole in a graph.
var graphFunctions = map[string]bool{"broadcast_tensors": true, "meshgrid": true, "chunk": false}

// directives are functions that speak to capture itself.
var directives map[string]func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error)

func init() {
	brk := func(name string) func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
		return func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) {
			return nil, false, &Unsupported{Reason: "Unsupported: 'skip function " + name + " in file torch/_dynamo/decorators.py'"}
		}
	}
	yes := func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error) { return vm.True, true, nil }
	directives = map[string]func(tr *tracer, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error){
		"torch._dynamo.graph_break":                 brk("graph_break"),
		"torch._dynamo.decorators.graph_break":      brk("graph_break"),
		"torch.compiler.is_compiling":               yes,
		"torch.compiler.is_dynamo_compiling":        yes,
		"torch._dynamo.is_compiling":                yes,
		"torch._dynamo.external_utils.is_compiling": yes,
	}
}
