package fx

import (
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Graph is a list of nodes in execution order: placeholders, then calls and
// get_attrs, then one output. Whoever builds a graph may mutate it; once handed
// to another stage it is immutable, and a stage that edits works on a Clone.
type Graph struct {
	Nodes []*Node
	// ReturnType is the annotation of forward's result as printed, "" for none.
	ReturnType string

	names  namespace
	insert *Node // new nodes go before it; nil => at the end
}

// Op is what a node does.
type Op string

// The node kinds, by PyTorch's names.
const (
	Placeholder  Op = "placeholder"
	GetAttr      Op = "get_attr"
	CallFunction Op = "call_function"
	CallMethod   Op = "call_method"
	CallModule   Op = "call_module"
	Output       Op = "output"
)

// Node is one step of a graph.
type Node struct {
	Op     Op
	Name   string // unique in its graph, a Python identifier
	Target string // qualified: "aten.add.Tensor", "prims.iota.default", "torch.relu", "operator.add", "torch._C._nn.linear"; method, attribute or placeholder name otherwise
	Args   []Arg
	Kwargs []Kwarg
	// Custom is the operator that Target names where a program defined it: another session's may have the same name. nil => PyTorch's, if it
	// is one, or not known, as in a graph that was read. Whoever makes a node from another copies it; see Operator.
	Custom *aten.Op
	// Type is the annotation printed with the node: "torch.Tensor" on after-dynamo placeholders. "" => none.
	Type string
	// Val is the node's value while tracing or after shape propagation: *tensor.Tensor (fake),
	// SymInt, or []any of these for several results. nil => not known. It is not part of the printed graph's meaning.
	Val  any
	Meta map[string]any // stack traces and whatever passes note; nil until used
}

// Kwarg is a keyword argument; their order is kept.
type Kwarg struct {
	Name string
	Val  Arg
}

// Arg is a node argument: a closed set of dynamic types:
//
//	*Node, nil (None), bool, int64, *big.Int, float64, string, complex128,
//	tensor.DType, tensor.Device, tensor.Layout, tensor.MemoryFormat,
//	Slice, Range, Ellipsis, List, Tuple, Dict, SymInt (a symbolic value that is not a node),
//	FnRef (a function by qualified name).
type Arg = any

type (
	// List is a Python list of arguments.
	List []Arg
	// Tuple is a Python tuple of arguments.
	Tuple []Arg
	// Dict is a Python dict of arguments, in order.
	Dict []DictItem
	// DictItem is one entry of a Dict.
	DictItem struct{ Key, Val Arg }
	// Slice is slice(Start, Stop, Step); each an Arg, nil for None.
	Slice struct{ Start, Stop, Step Arg }
	// Range is range(Start, Stop, Step).
	Range struct{ Start, Stop, Step int64 }
	// Ellipsis is `...`.
	Ellipsis struct{}
	// FnRef names a Python function or class used as an argument.
	FnRef string
)

// SymInt is a symbolic integer: an expression over size symbols such as "s0*8", and its hint (the value seen while tracing).
type SymInt struct {
	Expr string
	Hint int64
}

// GraphModule is a graph with what its get_attr and call_module nodes name.
type GraphModule struct {
	Graph      *Graph
	ClassName  string                    // "Repro", "GraphModule"
	Attrs      map[string]*tensor.Tensor // parameters, buffers, constants by qualified name
	Modules    map[string]Module         // call_module targets, by qualified name
	Submodules map[string]*GraphModule   // bodies of higher-order operators
	Init       []InitLine                // __init__ beyond super().__init__(), in order; printed as it stands
}

// InitLine is one statement of a module's __init__: `self.Name = Expr`, or
// `self.register_buffer('Name', Expr)` when Buffer is set.
type InitLine struct {
	Name    string
	Expr    string
	Buffer  bool
	StandIn bool   // Expr makes random data: the values were not written down
	Unread  bool   // Expr is no Python that makes the attribute: a repr such as <lambda>()
	Pos     string // file:line of the text that it was read from
}

// Module is a module as a repro constructs it: Linear(in_features=10, out_features=10, bias=True).
type Module struct {
	Text  string // the constructor expression as printed
	Attrs map[string]*tensor.Tensor
}
