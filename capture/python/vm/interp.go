package vm

import (
	"context"
	"os"
	"weak"
)

// Interp is one Python interpreter. It is used by one goroutine at a time; only Interrupt may be called from others.
//
// What it holds between two instructions lies in parts with one job each, whose fields and methods are the interpreter's own by embedding.
// Each part states in its own file what holds of it. The methods of Interp itself are what takes the whole of it: the operations of the
// language (GetAttr, Call, Compare and so on), which may run any Python code, and the evaluator.
//
// Whoever makes threads or coroutines: CallStack, Raising's exception and the reprs under way belong to one thread of execution; all other
// parts are the interpreter's.
type Interp struct {
	Streams
	Imports
	Hooks
	Interrupts
	CallStack
	Raising
	Identities
	exits
	Finals
	Threads
	Codecs
	Trees
	asyncState
	Untaken

	boxes     // memory for the numbers that the evaluator makes
	textCache // what long strings consist of

	// Builtins is the module builtins, where names are looked up last.
	Builtins *Module
	// Argv is sys.argv, for the module sys to take when it is first imported.
	Argv []string
	// Ext is free for embedders: packages keep their per-interpreter state under a key of their own type.
	Ext map[any]any

	// IntDigits is how many digits an integer may have as text; 0 for any number: sys.set_int_max_str_digits.
	IntDigits int
	// FirstWeakRef, if not nil, gives obj.__weakref__: the first of the weak references to an object, or None.
	FirstWeakRef func(o Object) Object

	isolated   bool                           // sys.path gets no folder of the program's
	printing   []Object                       // the containers whose repr is under way, outermost first; see ReprGuard
	subclasses map[*Type][]weak.Pointer[Type] // of the interpreter's own types: __subclasses__, in the order in which they were made
}

// New makes an interpreter with the builtins and nothing else. Its streams are those of the process.
func New() *Interp {
	in := &Interp{
		Streams:    Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr},
		Imports:    newImports(),
		Interrupts: Interrupts{ctx: context.Background()},
		CallStack:  newCallStack(),
		Raising:    Raising{Exc: &excTypes},
		Identities: Identities{last: firstIdentity},
		Ext:        map[any]any{},
		subclasses: map[*Type][]weak.Pointer[Type]{},
		IntDigits:  DefaultIntDigits,
	}
	in.Builtins = newBuiltins(in)
	in.Modules.SetStr("builtins", in.Builtins)
	return in
}
