package vm

// Hooks are those who watch an interpreter, capture first of all. Each may be nil: nobody.
type Hooks struct {
	// FrameHook decides how each Python frame is evaluated (PEP 523). It may call EvalFrame.
	FrameHook func(in *Interp, f *Frame) (Object, error)
	// LookupHook is told of each attribute that is looked up in a class that a class statement made; v is nil when there is none.
	LookupHook func(t *Type, name string, v Object)
	// CallHook is asked about every call that bytecode makes; handled true replaces the call.
	CallHook func(in *Interp, callable Object, args []Object, kw []KwArg) (result Object, handled bool, err error)
}
