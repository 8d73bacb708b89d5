package guard

// Kind says what sort of fact a guard is about. The zero value is no kind.
type Kind int

// The kinds.
const (
	TensorMatch      Kind = iota + 1 // type, dtype, layout and the like of a tensor
	EqualsMatch                      // a value, or a key of a dict at a place
	IDMatch                          // one object
	TypeMatch                        // the class of a value
	LengthCheck                      // the length of a sequence
	DictLength                       // the length of a dict
	DictContains                     // whether a dict, or an object's own attributes, have a key
	DictVersion                      // a dict that nothing changes
	TupleIteratorLen                 // how many items an iterator has left
	NoHasattr                        // a tensor without marks of dynamic dimensions
	DynamicIndices                   // a tensor with no marks but these
	Hasattr                          // a method that a tensor has
	ObjectAliasing                   // two sources that are one object
	NoTensorAliasing                 // sources that are different tensors
	LambdaGuard                      // a relation between sizes and numbers
	DefaultDevice
	GlobalState // the modes of the process
	TorchFunctionModeStack

	// Kinds that PyTorch has not, as it does not run the code that reads what they look at. No log shows them.
	DictKeys   // all keys of a dict, in order
	Members    // all that a set or the like holds
	NoAliasing // two sources that are different objects
	NoGlobal   // a name that is no global, and so a builtin
	ClassMatch // what a class has under some names

	endOfKinds
)

// kindRow is what is known about one kind.
type kindRow struct {
	name string
	// maker is what makes such guards in PyTorch, as torch._dynamo.explain names it; "" => the name.
	maker string
	// own says that a guard of the kind that was made covertly stays hidden when its source comes to be shown.
	own bool
	// cause is what varies where such a guard fails, unless its check says more.
	cause Cause
}

var kinds = [endOfKinds]kindRow{
	TensorMatch:            {name: "TENSOR_MATCH", cause: Other},
	EqualsMatch:            {name: "EQUALS_MATCH", cause: ValueVaries},
	IDMatch:                {name: "ID_MATCH", cause: ObjectVaries},
	TypeMatch:              {name: "TYPE_MATCH", cause: ObjectVaries},
	LengthCheck:            {name: "LENGTH_CHECK", maker: "SEQUENCE_LENGTH", cause: LengthVaries},
	DictLength:             {name: "DICT_LENGTH", cause: LengthVaries},
	DictContains:           {name: "DICT_CONTAINS", own: true, cause: LengthVaries},
	DictVersion:            {name: "DICT_VERSION", cause: Other},
	TupleIteratorLen:       {name: "TUPLE_ITERATOR_LEN", cause: LengthVaries},
	NoHasattr:              {name: "NO_HASATTR", maker: "TENSOR_MATCH", cause: Other},
	DynamicIndices:         {name: "DYNAMIC_INDICES", maker: "TENSOR_MATCH", cause: Other},
	Hasattr:                {name: "HASATTR", cause: Other},
	ObjectAliasing:         {name: "OBJECT_ALIASING", maker: "DUPLICATE_INPUT", cause: Other},
	NoTensorAliasing:       {name: "NO_TENSOR_ALIASING", cause: Other},
	LambdaGuard:            {name: "LAMBDA_GUARD", cause: ValueVaries},
	DefaultDevice:          {name: "DEFAULT_DEVICE", cause: Other},
	GlobalState:            {name: "GLOBAL_STATE", cause: Other},
	TorchFunctionModeStack: {name: "TORCH_FUNCTION_MODE_STACK", cause: Other},
	DictKeys:               {name: "DICT_KEYS", own: true, cause: Other},
	Members:                {name: "MEMBERS", own: true, cause: Other},
	NoAliasing:             {name: "NO_ALIASING", cause: Other},
	NoGlobal:               {name: "NO_GLOBAL", cause: Other},
	ClassMatch:             {name: "CLASS_MATCH", cause: Other},
}

// String is PyTorch's name of the kind.
func (k Kind) String() string { return k.row().name }

// row is what is known of a kind. The zero value is none: a guard that was made without one is a fault of the trace, and must not pass for one that
// always holds.
func (k Kind) row() kindRow {
	if k <= 0 || k >= endOfKinds {
		panic("guard: a guard of no kind")
	}
	return kinds[k]
}
