package vm

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Threads are the threads of execution of an interpreter. One of them runs at a time: who holds the lock. It is given up around calls that
// wait (Unlocked), and every few milliseconds if another thread wants it, where a function begins or a loop goes back.
//
// What belongs to one thread (its frames, the exception that it handles, the reprs under way) lies in the interpreter while the thread runs, and
// is put away while it does not.
type Threads struct {
	lock     sync.Mutex
	wanted   atomic.Int32 // threads that wait for the lock
	running  []*Thread    // all threads: the first is the one that made the interpreter
	current  *Thread
	lastID   int64
	others   atomic.Int32 // threads beside the first
	watchers atomic.Int32 // goroutines that may ask to Inspect
	late     atomic.Bool  // an interrupt came while the first thread did not run: it is told when it does
}

// Thread is a thread of execution.
type Thread struct {
	ID  int64
	Ext map[any]any // free for embedders: what they keep for each thread

	stack    CallStack
	exc      *Exception
	printing []Object
	calls    bool // it is put away inside a call: how high its innermost frame's operands reach is known
}

// switchInterval is how long a thread runs while others wait: sys.getswitchinterval().
const switchInterval = 5 * time.Millisecond

// Thread is the thread that runs now.
func (in *Interp) Thread() *Thread {
	if in.current == nil {
		in.current = &Thread{ID: 1, Ext: map[any]any{}}
		in.running, in.lastID = []*Thread{in.current}, 1
		in.lock.Lock()
	}
	return in.current
}

// OnMainThread reports whether the thread that made the interpreter runs now.
func (in *Interp) OnMainThread() bool { return in.current == nil || in.current == in.running[0] }

// Running are the threads that have been started and have not ended.
func (in *Interp) Running() []*Thread {
	in.Thread()
	return in.running
}

// FrameOf is the innermost frame of a thread.
func (in *Interp) FrameOf(t *Thread) *Frame {
	if t == in.Thread() {
		return in.frame
	}
	return t.stack.frame
}

// Go starts a thread. f runs on a goroutine of its own, holding the lock.
func (in *Interp) Go(f func()) *Thread {
	in.Thread()
	in.lastID++
	t := &Thread{ID: in.lastID, Ext: map[any]any{}, stack: newCallStack()}
	in.running = append(in.running, t)
	if in.others.Add(1) == 1 {
		go in.tick()
	}
	go func() {
		in.acquire(t)
		defer in.end(t)
		f()
	}()
	return t
}

// Watch says that a goroutine that is no thread may call Inspect from now on, until done is called.
func (in *Interp) Watch() (done func()) {
	in.Thread()
	in.watchers.Add(1)
	return func() { in.watchers.Add(-1) }
}

// Inspect runs f on the calling goroutine, which is no thread, at a moment when no thread runs; f looks and changes nothing. It is false if no
// such moment came within the time: the thread that runs waits for something without saying so.
func (in *Interp) Inspect(within time.Duration, f func()) bool {
	in.wanted.Add(1)
	defer in.wanted.Add(-1)
	got, late := make(chan struct{}), make(chan struct{})
	defer close(late)
	go func() {
		in.lock.Lock()
		select {
		case got <- struct{}{}:
		case <-late:
			in.lock.Unlock()
		}
	}()
	end := time.NewTimer(within)
	defer end.Stop()
	ask := time.NewTicker(time.Millisecond)
	defer ask.Stop()
	for {
		in.stop.Store(true)
		select {
		case <-got:
			defer in.lock.Unlock()
			f()
			return true
		case <-end.C:
			return false
		case <-ask.C:
		}
	}
}

// StackOf is the innermost frame of a thread that does not run, for Inspect.
func (t *Thread) StackOf() *Frame { return t.stack.frame }

// tick asks the running thread, again and again, to let others run, while there are others.
func (in *Interp) tick() {
	for in.others.Load() > 0 {
		time.Sleep(switchInterval)
		if in.wanted.Load() > 0 {
			in.stop.Store(true)
		}
	}
}

// acquire waits for the lock and puts t's state into the interpreter.
func (in *Interp) acquire(t *Thread) {
	in.wanted.Add(1)
	in.lock.Lock()
	in.wanted.Add(-1)
	limit := in.RecursionLimit
	in.current, in.CallStack, in.exc, in.printing = t, t.stack, t.exc, t.printing
	in.RecursionLimit = limit
	t.stack, t.exc, t.printing = CallStack{}, nil, nil // it keeps alive what it runs no longer than it runs it
	if t == in.running[0] && in.late.Swap(false) {
		in.stop.Store(true)
	}
}

// release puts the running thread's state away and gives up the lock.
func (in *Interp) release() *Thread {
	t := in.current
	t.stack, t.exc, t.printing = in.CallStack, in.exc, in.printing
	in.lock.Unlock()
	return t
}

// end ends the running thread.
func (in *Interp) end(t *Thread) {
	in.running = slices.DeleteFunc(in.running, func(r *Thread) bool { return r == t })
	in.others.Add(-1)
	in.exc, in.printing = nil, nil // whoever keeps t keeps nothing of what it ran
	in.CallStack = newCallStack()
	in.release()
}

// Unlocked runs f, which waits for something and uses no object of Python's, while other threads may run.
func (in *Interp) Unlocked(f func() error) error {
	if len(in.running) < 2 && in.watchers.Load() == 0 {
		return f()
	}
	t := in.Thread()
	t.calls = true
	in.release()
	defer func() {
		in.acquire(t)
		t.calls = false
	}()
	return f()
}

// Yield lets other threads run, if any wait.
func (in *Interp) Yield() {
	if in.wanted.Load() > 0 {
		in.acquire(in.release())
	}
}
