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
}
