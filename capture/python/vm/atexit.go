package vm

// exits are the callables that atexit.register was given, in that order.
type exits struct{ callbacks []Object }

// AtExit registers a callable to run when the embedder calls RunAtExit.
func (x *exits) AtExit(f Object) { x.callbacks = append(x.callbacks, f) }

// pop takes the callable that was registered last.
func (x *exits) pop() (f Object, ok bool) {
	n := len(x.callbacks)
	if n == 0 {
		return nil, false
	}
	f = x.callbacks[n-1]
	x.callbacks = x.callbacks[:n-1]
	return f, true
}

// RunAtExit runs the registered callables, last first, tells the objects that are watched (see Finals), and flushes. All of them run, those that they register too; the first error is
// returned.
func (in *Interp) RunAtExit() error {
	var first error
	for f, ok := in.exits.pop(); ok; f, ok = in.exits.pop() {
		if _, err := in.Call(f, nil, nil); err != nil && first == nil {
			first = err
		}
	}
	in.EndWatched()
	if err := in.Flush(); err != nil && first == nil {
		first = err
	}
	return first
}
