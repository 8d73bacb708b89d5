package torch

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/levels"
	"whittle/kernels/tensor"
)

//go:generate go run ../../tools/zipped -o py.zip py

// archive holds the Python sources, which lie in py.
//
//go:embed py.zip
var archive string

// sources are the Python sources.
var sources = sync.OnceValue(func() fs.FS { return vm.Archive(archive) })

// Autograd is the engine that records operators; package aot/autograd has one.
type Autograd interface {
	aten.Dispatcher
	Enabled() bool
	SetEnabled(bool)
	RequiresGrad(t *tensor.Tensor) bool
	SetRequiresGrad(t *tensor.Tensor, on bool) error
	IsLeaf(t *tensor.Tensor) bool
	GradFn(t *tensor.Tensor) string // name of the node that made t, "" for a leaf
	Node(t *tensor.Tensor) GradNode // that node, nil for a leaf
	Grad(t *tensor.Tensor) *tensor.Tensor
	SetGrad(t, g *tensor.Tensor)
	RetainGrad(t *tensor.Tensor)
	RetainsGrad(t *tensor.Tensor) bool
	Detach(t *tensor.Tensor)
	AddHook(t *tensor.Tensor, h func(g *tensor.Tensor) (*tensor.Tensor, error)) (remove func())
	AddPostHook(t *tensor.Tensor, h func(t *tensor.Tensor) error) (remove func())
	// Ambiguous is the error of a view whose history cannot be said, nil for any other tensor.
	Ambiguous(t *tensor.Tensor) error
	// Backward propagates grads from roots: into .grad when accumulate, else it returns the inputs' gradients.
	Backward(roots, grads []*tensor.Tensor, o BackwardOptions) ([]*tensor.Tensor, error)
	// BackwardFrom propagates grads from edges.
	BackwardFrom(roots []GradEdge, grads []*tensor.Tensor, o BackwardOptions) ([]*tensor.Tensor, error)
	// EdgeOf is where the gradient of a tensor flows.
	EdgeOf(t *tensor.Tensor) GradEdge
	// Running is the node that a backward pass runs now, nil outside of one.
	Running() GradNode
	// CallNode runs the formula of a node on gradients of its results, nil for none, and gives those of what Next leads to.
	CallNode(n GradNode, grads []*tensor.Tensor) ([]*tensor.Tensor, error)
	// WillRun reports whether the pass under way runs a node; ok is false outside of passes.
	WillRun(n GradNode) (runs, ok bool)
	// Order is the order in which the nodes run that the pass under way has not yet run; ok is false where that cannot be said.
	Order() (nodes []GradNode, ok bool)
	// Record makes outs the results of a custom node over inputs.
	Record(name string, inputs, outs []*tensor.Tensor, apply func(grads []*tensor.Tensor) ([]*tensor.Tensor, error))
	// MadeByFunction notes that a function of the program made a tensor, alone or with others: where it is a view it is not to be written.
	MadeByFunction(t *tensor.Tensor, several bool)
	// SetInference says that what is made from now on is never part of a graph, or may be.
	SetInference(on bool)
	// MarkInference makes a tensor one that is never part of a graph, IsInference says whether it is one.
	MarkInference(t *tensor.Tensor)
	IsInference(t *tensor.Tensor) bool
	// Save keeps a tensor as operators do, by the hooks that are set.
	Save(t *tensor.Tensor) (SavedTensor, error)
	// UseHooks sets who is asked for the hooks for what is saved; nil => there are none.
	UseHooks(func() *SavedHooks)
	// Beneath puts what put makes in place of the dispatcher that runs operators once they are recorded.
	Beneath(put func(below aten.Dispatcher) aten.Dispatcher)
	// Below is that dispatcher.
	Below() aten.Dispatcher
	// Recorder makes a dispatcher that records operators on tensors that require gradients, and runs them on below; always says that it does so whether or not
	// recording is enabled.
	Recorder(below aten.Dispatcher, always bool) aten.Dispatcher
	// Watch tells w of the operators that run, and of the nodes of backward passes; nil => nobody is told.
	Watch(w Watcher)
	// DetectAnomaly switches the mode that says which part of a program a backward pass failed in; nil => off.
	DetectAnomaly(*Anomaly)
}

// Watcher is told of what runs, as the Watcher of package autograd is.
type Watcher interface {
	Operator(op *aten.Op, args []aten.Value, node int64) (done func(out aten.Value))
	Node(name string, number int64, grads []*tensor.Tensor) (done func())
}

// Anomaly is what the mode that looks for failures of backward passes does.
type Anomaly struct {
	CheckNaN bool       // whether a gradient with a NaN is a failure
	Trace    func() any // where the program is now
	// Failed is told of a failed node and of those in whose backward pass it was made, the last one first.
	Failed func(chain []AnomalyNode)
}

// AnomalyNode is a node of a backward pass, with where it was made; nil where that was not noted.
type AnomalyNode struct {
	Name  string
	Trace any
}

// GradNode is a recorded operator, as programs look at it.
type GradNode interface {
	Name() string
	Next() []GradEdge // one for each tensor that it can give a gradient to
	Face() *any       // where the object that stands for it is kept
	Number() uint64   // its place in the order in which nodes are made
	// Leaf is the leaf whose gradients the node accumulates; nil for any other node.
	Leaf() *tensor.Tensor
	// Results describes the results whose gradients it takes: tensors without elements; nil where that was not noted.
	Results() []*tensor.Tensor
	// Before has f called with the gradients of its results before it runs, After with those of its inputs and of its results when it has run. What f
	// gives, unless that is nil, takes the place of the former, or of those of the inputs.
	Before(f func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error)) (remove func())
	After(f func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error)) (remove func())
	// Saved is what it keeps for its backward pass, an error once that was freed.
	Saved() ([]SavedTensor, error)
	// Scalars are the arguments without tensors that its backward pass reads, by name.
	Scalars() map[string]aten.Value
	// Keep makes saved tensors those of a node that Record made.
	Keep([]SavedTensor)
}

// SavedTensor is a tensor that a node keeps for its backward pass.
type SavedTensor interface {
	Name() string                 // of the argument or result of the operator that it is
	Get() (*tensor.Tensor, error) // an error once it was freed, or where it was written since
	Hook(h *SavedHooks) error     // has hooks keep it; at most once
}

// SavedHooks are a program's functions for saved tensors: Pack gives what is kept in a tensor's place, Unpack the tensor that the backward pass
// reads.
type SavedHooks struct {
	Pack   func(*tensor.Tensor) (any, error)
	Unpack func(any) (*tensor.Tensor, error)
}

// GradEdge says where a gradient flows: to result Nr of Node, which may be that of a leaf; Node is nil when nothing is asked for.
type GradEdge struct {
	Node GradNode
	Nr   int
}

// BackwardOptions are the flags of a backward pass.
type BackwardOptions struct {
	RetainGraph, CreateGraph, Accumulate, AllowUnused bool
	Inputs                                            []*tensor.Tensor
	At                                                []GradEdge // where gradients are asked for, instead of Inputs
	// On is what the formulas run on; nil => the engine itself.
	On aten.Dispatcher
	// Alone is set where nobody but the caller has the gradients that are returned, nor their memory; nil => nobody asks.
	Alone *bool
}

// Torch is the state of the torch package in one interpreter.
type Torch struct {
	In *vm.Interp
	// Library has the operators that the program defines over PyTorch's; set by New, never nil.
	Library *aten.Library
	// Grad records operators; set by New, never nil.
	Grad Autograd
	// Ambient is how calls are performed now; it changes by Push.
	Ambient
	// BlockModes are the modes of the with blocks that the program is in.
	BlockModes
	// Generator is the default CPU random stream.
	Generator *tensor.Generator
	// DefaultDType is what torch.get_default_dtype() gives.
	DefaultDType tensor.DType
	Print        tensor.PrintOptions
	// Levels are the transformations of torch.func that are under way.
	Levels levels.Stack
	// Functions are the modes of __torch_function__.
	Functions FunctionModes
	// Modes are further switches that programs set and read back.
	Modes Modes

	// Natives are further modules under torch._C, by name: other packages bring them.
	Natives map[string]func(in *vm.Interp) (*vm.Module, error)

	TensorType, SizeType, DTypeType, DeviceType, SymIntType *vm.Type
	// FakeTensorType is torch._subclasses.fake_tensor.FakeTensor; nil until a program imports it.
	FakeTensorType                                     *vm.Type
	GraphModuleType, GraphType, NodeType, nodeIterator *vm.Type

	dtypes  map[tensor.DType]*DType
	formats map[tensor.MemoryFormat]*MemoryFormat
	layout  *Layout
	returns map[string]*vm.Type
	module  *vm.Module // torch
	c       *vm.Module // torch._C
	nn      *vm.Module // torch._C._nn

	disabledFunction vm.Object // the __torch_function__ of classes that override nothing
	disabledDispatch vm.Object // and the __torch_dispatch__
	profiler         *profiler // that is on; nil => none
	python           pythonDispatch
	inplaceGrad      bool      // requires_grad_ may be called while levels are under way
	savedHooksOff    vm.Object // why hooks on saved tensors are forbidden; nil => they are not
	savedTensorType  *vm.Type
	handleType       *vm.Type // of hooks on tensors; nil until there is one
	passes           []pass   // backward passes under way, the outermost first
	passNumber       int64
	savedHooks       []savedPair               // that are set, the outermost first
	regions          int                       // checkpointed regions that ran so far: Ambient.Checkpoint counts them
	scalars          map[tensor.DType]*vm.Type // classes of unknown numbers
	packetName       func(o vm.Object) (string, bool)
	objects          map[string]vm.Object // graph targets that were resolved
	schemas          map[*aten.Op]vm.Object
	generatorObject  *Generator
	prepare          []func() error // run when torch is imported
}

// Call is one call of the public API.
type Call struct {
	Op     fx.Op  // fx.CallFunction or fx.CallMethod
	Target string // "torch.relu", "operator.add"; the method's name
	Args   []vm.Object
	Kw     []vm.KwArg
	Stem   string                                                   // what the node is called after; "" => the target
	Run    func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) // what the call does
}

// Modes are switches of the whole process that change what operators do in PyTorch. Compiled code is guarded on them.
type Modes struct {
	Deterministic, WarnOnly bool
	MatmulPrecision         string // highest, high or medium
}

type key struct{}

// New installs the torch package in an interpreter; scripts then import it.
func New(in *vm.Interp, grad Autograd) *Torch {
	t := &Torch{In: in, Library: new(aten.Library), Grad: grad, Generator: tensor.NewGenerator(defaultSeed), DefaultDType: tensor.Float32, Modes: Modes{MatmulPrecision: "highest"},
		Print: tensor.DefaultPrintOptions(), dtypes: map[tensor.DType]*DType{}, formats: map[tensor.MemoryFormat]*MemoryFormat{},
		returns: map[string]*vm.Type{}, objects: map[string]vm.Object{}, schemas: map[*aten.Op]vm.Object{}, Natives: map[string]func(in *vm.Interp) (*vm.Module, error){}}
	t.Ambient = Ambient{Dispatch: t.Eagerly(), Hooks: &in.Hooks}
	grad.Beneath(func(below aten.Dispatcher) aten.Dispatcher { return beneath{t, below} })
	in.Ext[key{}] = t
	in.Unheld = unheld
	in.RegisterModule("torch._C", t.buildC)
	in.AddSourceFS(sources(), "")
	t.declareAbsent()
	return t
}

// defaultSeed is PyTorch's seed before anybody calls manual_seed.
const defaultSeed = 67280421310721

// OnImport registers f to run when the script imports torch.
func (t *Torch) OnImport(f func() error) { t.prepare = append(t.prepare, f) }

// Error turns an operator's error into the Python exception that PyTorch raises.
func (t *Torch) Error(err error) error {
	var r *vm.Raised
	if err == nil || errors.As(err, &r) {
		return err
	}
	var ae *aten.Error
	if errors.As(err, &ae) {
		e := t.In.Exc
		cls := e.RuntimeError
		switch ae.Kind {
		case aten.AssertionError:
			cls = e.AssertionError
		case aten.IndexError:
			cls = e.IndexError
		case aten.TypeError:
			cls = e.TypeError
		case aten.ValueError:
			cls = e.ValueError
		case aten.NotImplementedError:
			cls = e.NotImplementedError
		case aten.LinAlgError:
			if c, err := t.linAlgError(); err == nil {
				cls = c
			}
		case aten.DataDependentError:
			return err
		}
		return t.In.Errorf(cls, "%s", ae.Msg)
	}
	var stop interface{ Abort() bool }
	if errors.As(err, &stop) && stop.Abort() {
		return err
	}
	return t.In.Errorf(t.In.Exc.RuntimeError, "%s", err.Error())
}

// linAlgError is the class torch.linalg.LinAlgError.
func (t *Torch) linAlgError() (*vm.Type, error) {
	m, err := t.In.Import("torch.linalg")
	if err != nil {
		return nil, err
	}
	o, err := t.In.GetAttr(m, "LinAlgError")
	if err != nil {
		return nil, err
	}
	c, ok := o.(*vm.Type)
	if !ok {
		return nil, fmt.Errorf("torch: LinAlgError is no class")
	}
	return c, nil
}

// CallWhole performs a call of a function written in Python as one public call, known as target: those who override it are asked, and a hook gets
// it as a whole.
func (t *Torch) CallWhole(target string, f vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	return t.call(fx.CallFunction, target, args, kw, func(a []vm.Object, k []vm.KwArg) (vm.Object, error) { return t.In.Call(f, a, k) })
}

// call performs one public call, through the hook when somebody listens.
func (t *Torch) call(op fx.Op, target string, args []vm.Object, kw []vm.KwArg, run func(args []vm.Object, kw []vm.KwArg) (vm.Object, error)) (vm.Object, error) {
	if v, done, err := t.overridden(op, target, args, kw); done {
		return v, err
	}
	if t.Hook != nil {
		return t.Hook(&Call{Op: op, Target: target, Args: args, Kw: kw, Run: run})
	}
	res, err := run(args, kw)
	if t.Inference && err == nil {
		t.markInference(args, res)
	}
	return res, err
}
