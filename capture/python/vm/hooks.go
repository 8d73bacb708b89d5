package vm

// Hooks are what an embedder sets to see or to replace what the interpreter does. All may be nil, may be set and taken away between two
// calls of the interpreter, and run on its goroutine.
type Hooks struct {
	// FrameHook decides how each Python frame is evaluated (PEP 523). It may call EvalFrame. While it is set, frames own their memory and
	// may be kept: see Frame.Retain.
	FrameHook func(in *Interp, f *Frame) (Object, error)
	// LookupHook is told of each attribute that is looked up in a class that a class statement made; v is nil when there is none.
	LookupHook func(t *Type, name string, v Object)
	// CallHook is asked about every call that bytecode makes; handled true replaces the call. Calls that native functions make are not seen.
	CallHook func(in *Interp, callable Object, args []Object, kw []KwArg) (result Object, handled bool, err error)
	// BindHook is given the error of a call whose arguments do not fit a Python function, whoever makes the call, and returns what is raised instead.
	BindHook func(fn *Function, args []Object, kw []KwArg, wrong error) error
	// RaiseHook is given the exception that an instruction at f.PC raises itself, with what it takes still on the stack, and returns what goes on
	// in its place.
	RaiseHook func(f *Frame, r *Raised) error
	// ImportHook is given what finds a module and runs its code, when one is imported that is not there yet, and runs that.
	ImportHook func(load func() (Object, error)) (Object, error)
	// ArrayHook is asked about everything that a program wants of an array or a scalar of numpy, whoever asks; handled true replaces it.
	ArrayHook func(u ArrayUse) (result Object, handled bool, err error)
}

// ArrayUse is what a program wants of an array of numpy: a call of one of the methods of its class, or an attribute.
type ArrayUse struct {
	Name string   // of the method or of the attribute
	Args []Object // the array first; the value, where an attribute is set
	Kw   []KwArg
	Attr bool // it is an attribute that is read or set
	Set  bool
}
