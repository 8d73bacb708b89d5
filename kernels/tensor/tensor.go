package tensor

// A Tensor is a strided view of a storage. Its identity (the pointer) is what
// Python's `is` compares and what tracers map to graph nodes, so operators
// that return their input (add_, out=) return the same pointer.
//
// Shape, strides and offset change only by the few metadata-mutating operators
// (set_, resize_, t_, squeeze_, unsqueeze_, transpose_, as_strided_); everybody else treats them as immutable.
type Tensor struct {
	Storage *Storage
	DType   DType
	Shape   []int64 // sizes; never aliased between tensors that can change
	Stride  []int64 // in elements, same length as Shape
	Offset  int64   // in elements

	// Fake marks a tensor that carries metadata only; Storage has a size and an
	// identity (so that aliasing can be seen) but no bytes.
	Fake bool

	// Base is the tensor that this one is a view of, nil for none; never itself a view.
	// View-creating operators set it through NewView.
	Base *Tensor

	// Writes counts what is written to the tensor and its views where that is not to count as writes to others over the same memory; nil =>
	// Storage.Version does.
	Writes *int64

	// Autograd belongs to the autograd engine (package aot/autograd), nil => plain data.
	Autograd any
	// Py caches the Python object that wraps this tensor; it belongs to capture/torch.
	Py any
	// Mode is what knows a fake tensor that a program has in its hands, a torch.FakeMode; nil for real ones, and for those of traces.
	Mode any
	// Wraps is what the tensor stands for on a level of torch.func, and belongs to kernels/levels; nil => a tensor of no level.
	Wraps any
}

// Storage is a flat buffer shared by all views of it.
type Storage struct {
	Data    []byte // nil when fake; 64-byte aligned otherwise
	NBytes  int64  // size in bytes, also when fake
	Version int64  // counts in-place writes; all views share it

	block []byte // of the heap, in which Data lies; nil where Data is memory of its own
	blank bool   // block was lent without pages
}
