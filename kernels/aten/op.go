package aten

import (
	"whittle/kernels/tensor"
)

// Value is an operator argument or result. The closed set of dynamic types:
// nil (None), bool, int64, float64, complex128, string, *tensor.Tensor, tensor.DType,
// tensor.Device, tensor.Layout, tensor.MemoryFormat, *tensor.Generator and []Value (any list or tuple).
// A Scalar argument is bool, int64, float64 or complex128. An `int[2]` given one int is expanded by binding.
type Value = any

// Tag says what an operator promises; a test walks the registry and checks it. View, Inplace and OutVariant are short for what Facts say of
// Writes and Aliases, and are derived from them.
type Tag uint32

// The tags.
const (
	Core          Tag = 1 << iota // torch.Tag.core
	Pointwise                     // each output element depends on the broadcast elements at its place
	Reduction                     // sums, maxima ... over dimensions
	View                          // the first result shares memory with an argument that is not written to
	Inplace                       // mutates its first argument (trailing underscore)
	OutVariant                    // has out= arguments
	Composite                     // CompositeImplicit: always decomposed, autograd sees only the parts
	DataDependent                 // result shape or value needs data: nonzero, item
	Factory                       // creates a tensor from no tensor
)

// Op is one operator overload: a row of the registry. Rows are immutable after init.
type Op struct {
	// Schema in PyTorch's grammar: "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
	Schema string
	Tags   Tag
	// Effect is what the schema does not show. A program's operator that leaves it open is pure, as PyTorch takes it to be; see Facts.
	Effect Effect

	// Meta computes the results' metadata: it returns fake tensors (or, for views, fake
	// aliases of fake storages) of the right shape, stride and dtype, and PyTorch's error text for wrong arguments.
	// Required unless Decomp is given.
	Meta func(c *Call) (Value, error)
	// Eager computes on real tensors. nil => Decomp.
	Eager func(c *Call) (Value, error)
	// Decomp expresses the operator by others through c.Dispatch. It serves
	// eager and fake execution where Meta or Eager is nil.
	Decomp func(c *Call) (Value, error)
	// ByElement runs an operator of lists, one of the _foreach family, as calls for each element through c.Dispatch: it is how gradients know it. nil
	// for all others.
	ByElement func(c *Call) (Value, error)
	// Derivative gives the gradients of the tensor arguments, one value per schema argument, of an operator that
	// a program defined; nil for all others, whose formulas are in package aot/autograd.
	Derivative func(d Dispatcher, args []Value, out Value, grads []*tensor.Tensor) ([]Value, error)
	// Library is where a program defined the operator, set by Define; nil for PyTorch's. Its siblings, such as the form
	// without mutation, are found there.
	Library *Library

	parsed *Schema // set by registration
	facts  *Facts  // set by registration; see the method Facts
	needs  []need  // what it demands of its arguments; set by registration
	device int     // which argument is the device, counted from 1; 0 if none is; set by registration
}

// A Call is one bound invocation: Args holds one value per schema argument, in schema order, defaults filled in.
type Call struct {
	real    bool           // set by dispatchers: compute, not only metadata
	inplace *tensor.Tensor // where an in-place variant would like the result
	lent    *lendings      // what is given back when the call ends, of copies of the call as well; nil if nothing is

	Op       *Op
	Args     []Value
	Dispatch Dispatcher // for decompositions: the dispatcher that runs the parts
}

// A Dispatcher runs bound operator calls. Layers (autograd, functionalisation,
// tracing) wrap another dispatcher. The result is one Value, or []Value for several results; nil with an error.
type Dispatcher interface {
	Dispatch(op *Op, args []Value) (Value, error)
}

// A Forgetful is a Dispatcher that may say that it keeps nothing of what it runs: no argument and no result of a call with these arguments, nor of the
// calls that it is made of.
type Forgetful interface {
	Dispatcher
	Forgets(args []Value) bool
}
