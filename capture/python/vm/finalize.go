package vm

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"weak"
)

// Finals are the objects that hear of it when nothing refers to them any more: instances with a __del__, generators that wait inside a try
// statement, coroutines, files (PEP 442).
//
// Go's collector decides what is alive. CPython counts references and knows at once; here a collection runs where a program may rely on it: when
// a name, an attribute or an item that held such an object is deleted, set to None, or stored over at the top of a module, when a scope that had it is left,
// when the value of an expression is dropped, when an exception ends that passed a frame which had it, at gc.collect(), and when the program ends.
// What a name of the frames that run still stands for is not looked for, nor what outlived a few such collections before. In between, what Go has found out by itself is
// told at the next call or round of a loop. Objects that refer to themselves in a circle, and have a __del__, hear of it at gc.collect() and at the end
// (see circles), as Go gives no such circle back.
type Finals struct {
	// Unraisable is told of errors that no caller waits for: sys.unraisablehook. about is what raised it, and place, as in "on calling f",
	// how it came to be called, where that is not plain from about.
	Unraisable func(err error, place string, about Object)

	// BeforeRead is told of a file that is about to be read by others than file objects, so that what a program wrote to it, by a file object
	// that nobody refers to any more, is in it; nil => nobody is.
	BeforeRead func(path string)

	// Heard reports whether a program could tell that a weak reference calls what it was told to call, at its end; nil => it could not.
	Heard func() bool

	watches []*watch
	awaited int // objects that are watched, or to which weak references refer
	before  []func()
	after   []func() (dead, left int)
	took    time.Duration // by Go's collector
	spent   time.Duration // of it, in collections that were nobody's wish
	owed    bool          // something was let go of, and to collect then would have cost too much
	since   time.Time
	busy    bool

	// Patience multiplies what collections that nobody asked for may cost before they are put off: for tests, whose output must not depend on how
	// fast the machine is. 0 reads as 1.
	Patience int

	made     int
	backward bool // what is let go of is a list's or a tuple's items, the last of which goes first

	mu     sync.Mutex
	fallen []fallen // told by Go's own goroutine
}

// fallen is a watched object that has no references any more, and what to do on the interpreter's goroutine.
type fallen struct {
	*watch
	f func()
}

// watch is one object of Finals.
type watch struct {
	seq  int // in the order in which they were made
	gone func() bool
	last func() func() // what to do about the object if it is still there, or nil
	told bool
	void bool // nothing is to be done any more; see settle
	of   *Finals

	object func() Object  // the object, nil once it is gone
	arm    func(o Object) // has Go tell of the object, which it gives, again
	del    bool           // it is a __del__ that is to be called
	as     Object         // its copy, for a moment; see circles
}

// Watch has f called with o once nothing refers to it any more, on a goroutine of the interpreter, between two instructions; and when the program
// ends, if it is still there then. f may keep o. Nothing that o refers to may refer to it.
func Watch[T any, P interface {
	*T
	Object
}](in *Interp, o P, f func(o P)) {
	newWatch(in, o, f)
}

// newWatch is Watch, and gives what stands for it.
func newWatch[T any, P interface {
	*T
	Object
}](in *Interp, o P, f func(o P)) *watch {
	p := weak.Make((*T)(o))
	in.made++
	w := &watch{of: &in.Finals, seq: in.made, gone: func() bool { return p.Value() == nil }}
	w.last = func() func() {
		o := p.Value()
		if o == nil {
			return nil
		}
		runtime.SetFinalizer(o, nil)
		return func() { f(P(o)) }
	}
	w.object = Weakly(o)
	w.arm = func(o Object) { runtime.SetFinalizer((*T)(o.(P)), func(o *T) { in.fall(w, func() { f(P(o)) }) }) }
	s := &in.Finals
	s.watches = append(s.watches, w)
	s.awaited++
	mark(P(o))
	w.arm(P(o))
	return w
}

// settle says that nothing is to be done any more about the object of a watch: a body has ended.
func (w *watch) settle() {
	if !w.void {
		w.void = true
		w.of.awaited--
	}
}

// Mortal is an object of an embedder's whose end weak references are told of. Others stay for them as long as the reference does.
type Mortal interface {
	Object
	// Weakly gives a function that gives the object again, or nil once it is gone, and does not keep it.
	Weakly() func() Object
}

// Weakly makes the function that gives o again, or nil once it is gone, and does not keep it.
func Weakly[T any, P interface {
	*T
	Object
}](o P) func() Object {
	p := weak.Make((*T)(o))
	return func() Object {
		if v := p.Value(); v != nil {
			return P(v)
		}
		return nil
	}
}

// Await counts an object to which a weak reference refers, until the next collection, and marks it as one whose end somebody waits for.
func (in *Interp) Await(o Object) {
	in.awaited++
	mark(o)
}

// mark notes in an object that its end is awaited.
func mark(o Object) {
	if x, ok := o.(interface{ identity() *int64 }); ok {
		*x.identity() |= isAwaited
	}
}

// AboutToRead tells BeforeRead of a file.
func (f *Finals) AboutToRead(path string) {
	if f.BeforeRead != nil {
		f.BeforeRead(path)
	}
}

// Settled says that the end of o will change nothing any more: no collection need run for its sake.
func (*Finals) Settled(o Object) {
	if x, ok := o.(interface{ identity() *int64 }); ok {
		*x.identity() &^= isAwaited
	}
}

// fall notes on Go's goroutine that an object has no references any more.
func (in *Interp) fall(w *watch, f func()) {
	in.Finals.mu.Lock()
	w.told = true
	in.Finals.fallen = append(in.Finals.fallen, fallen{w, f})
	in.Finals.mu.Unlock()
	in.Interrupt()
}

// AroundCollect has functions called before and after each collection: for what is to let go of objects for its time, and to look again
// which of them are there. after gives how many are not, and how many are.
func (in *Interp) AroundCollect(before func(), after func() (dead, left int)) {
	in.before, in.after = append(in.before, before), append(in.after, after)
}

// Collect has Go collect, and tells what has no references any more. It returns how many objects that somebody waited for are gone.
func (in *Interp) Collect() int { return in.collect(false) }

// CollectCircles is Collect, and finds circles with a __del__: a program asks for a collection.
func (in *Interp) CollectCircles() int { return in.collect(true) }

func (in *Interp) collect(circles bool) int {
	if in.busy {
		return 0
	}
	in.busy, in.owed = true, false
	dead := 0
	for {
		var ended func() int
		for _, f := range in.before {
			f()
		}
		in.dropAllStale()
		in.dropVoid()
		if circles {
			ended = in.circles()
		}
		began, cpu := time.Now(), cpuTime()
		runtime.GC()
		in.took += min(time.Since(began), cpuTime()-cpu) // where others want the processors, it takes longer than it costs
		n := in.tell()
		in.awaited = 0
		for _, w := range in.watches {
			if !w.void {
				in.awaited++
			}
		}
		for _, f := range in.after {
			gone, left := f()
			dead += gone
			in.awaited += left
		}
		if ended != nil {
			n += ended()
		}
		dead += n
		if n == 0 { // what these held may be free now, too
			break
		}
	}
	in.busy = false
	return dead
}

// cpuTime is how long the process has had a processor.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// dropAllStale is DropStale for all threads.
func (in *Interp) dropAllStale() {
	in.DropStale()
	for _, t := range in.running {
		switch f := t.stack.frame; {
		case t == in.current || f == nil:
		case t.calls:
			dropStale(f)
		default:
			dropStale(f.Back)
		}
	}
}

// dropVoid forgets the watches of objects for which nothing is to be done any more.
func (in *Interp) dropVoid() {
	in.watches = slices.DeleteFunc(in.watches, func(w *watch) bool {
		if w.void {
			w.last() // it is not watched
		}
		return w.void
	})
}

// tell waits until Go has told of all objects that it found to be gone, and has their functions called.
func (in *Interp) tell() int {
	s := &in.Finals
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool {
		if !w.gone() {
			return false
		}
		for {
			s.mu.Lock()
			told := w.told
			s.mu.Unlock()
			if told {
				return true
			}
			runtime.Gosched()
		}
	})
	return in.RunFallen()
}

// RunFallen calls the functions of the objects that Go has told about. What a program was handling stays as it was.
func (in *Interp) RunFallen() int {
	s := &in.Finals
	s.mu.Lock()
	due := s.fallen
	s.fallen = nil
	s.mu.Unlock()
	due = slices.DeleteFunc(due, func(d fallen) bool { return d.void })
	slices.SortFunc(due, func(a, b fallen) int {
		if s.backward {
			a, b = b, a
		}
		return cmp.Compare(a.seq, b.seq)
	})
	for _, d := range due {
		exc := in.exc
		d.f()
		in.exc = exc
	}
	return len(due)
}

// EndWatched tells the objects that are still there: the program ends.
func (in *Interp) EndWatched() {
	in.dropVoid()
	if len(in.watches) > 0 || in.awaited > 0 && in.Heard != nil && in.Heard() {
		in.Collect()
	}
	for len(in.watches) > 0 { // those that are told may make others
		left := in.watches
		in.watches = nil
		for _, w := range left {
			if f := w.last(); f != nil {
				f()
			}
		}
		in.RunFallen()
	}
}

// Abandon lets go of the objects that are watched, and tells them nothing: the interpreter is not used any more, while the process goes on. Go
// keeps for good what has a finalizer and refers to itself, and by way of the interpreter most objects do.
func (in *Interp) Abandon() {
	for _, w := range in.watches {
		w.last()
	}
	in.watches = nil
}

// allowance is how much of a program's time collections may cost that nobody asked for: one part of so many, after the first.
type allowance struct {
	first time.Duration
	part  time.Duration
}

// What a program deletes, or sets to None, it means to let go of. Where a scope is left, or a value dropped, it may not care, unless it asks.
var (
	meant   = allowance{2 * time.Second, 3}
	asked   = allowance{time.Second, 4}
	guessed = allowance{200 * time.Millisecond, 8}
	told    = allowance{time.Second, 5} // what is dropped has a __del__, which a program may see run
)

// LetGo is called where nothing refers to d any more, outside of the code that the evaluator runs.
func (in *Interp) LetGo(d *Dict) {
	due := false
	if in.awaited > 0 {
		d.Each(func(_, v Object) bool {
			due = awaited(v)
			return !due
		})
	}
	if due {
		in.collectDropped(meant)
	}
}

// Owe notes that something was let go of whose end may be awaited, and that nobody need hear of it before it is asked about.
func (in *Interp) Owe() { in.owed = in.awaited > 0 }

// Ask is called where a program asks whether an object is still there: what it has let go of by then, it expects to be gone.
func (in *Interp) Ask() {
	if in.owed {
		in.collectDropped(asked)
	}
}

// letGo is called where a program has let go of o, which may be nil. sp is the height of f's stack.
func (in *Interp) letGo(f *Frame, sp int, o Object) { in.drop(f, sp, o, meant) }

// drop is letGo with its allowance.
func (in *Interp) drop(f *Frame, sp int, o Object, a allowance) {
	if in.awaited == 0 || o == nil {
		return
	}
	if e, ok := o.(*Exception); ok { // with it go the frames that it has passed
		held := e.holds(f, 0)
		if held == nil {
			return
		}
		o, a, in.backward = held, guessed, true // the innermost frame goes first
	} else if m, ok := o.(*BoundMethod); ok && awaited(m.Self) { // as a with statement has
		o = m.Self
	} else if !awaited(o) && (a != meant || !owns(o)) {
		return
	}
	switch o.(type) {
	case *List, *Tuple:
		in.backward = true
	}
	if a == guessed {
		if a = dropping(o); tired(o) || f.has(o) {
			in.backward = false
			return
		}
	}
	t := triggerOf(o)
	o = nil
	clear(f.Stack[sp:])
	in.collectDropped(a)
	t.count()
	in.backward = false
}

// A trigger is the object for whose sake a collection runs.
type trigger struct{ p weak.Pointer[Instance] }

func triggerOf(o Object) trigger {
	if x, ok := o.(*Instance); ok {
		return trigger{weak.Make(x)}
	}
	return trigger{}
}

// count counts a false alarm, if it is one: somebody else still has the object.
func (t trigger) count() {
	if x := t.p.Value(); x != nil && x.id&alarms != alarms {
		x.id += oneAlarm
	}
}

// tired reports whether an object has outlived so many collections for its sake that no scope that it leaves is taken for its end any more.
func tired(o Object) bool {
	x, ok := o.(*Instance)
	return ok && x.id&alarms == alarms
}

// known reports whether the frame that runs, or one of its callers, has a name for o, or for an instance that has it.
func (in *Interp) known(o Object) bool {
	n := 0
	for f := in.frame; f != nil && n < few; f = f.Back {
		n++
		for _, v := range f.LocalsPlus {
			if v == o {
				return true
			}
			i, ok := v.(*Instance)
			if !ok || i.Dict == nil || n > 2 {
				continue
			}
			has := false
			i.Dict.Each(func(_, v Object) bool {
				has = v == o
				return !has
			})
			if has {
				return true
			}
		}
	}
	return false
}

// storeNone has a local name stand for None: it lets go of what it stood for.
func (in *Interp) storeNone(f *Frame, sp int, name int32) {
	old := f.LocalsPlus[name]
	f.LocalsPlus[name] = None
	in.letGo(f, sp, old)
}

// endFrame gives back a frame whose call is over, with what only its scope held, unless a traceback has the frame. v is what it returned, nil where it failed.
func (in *Interp) endFrame(f *Frame, v Object) {
	if in.awaited == 0 || v == nil && f.retained || f.Code.scopeEnd <= f.Code.scopeBegin {
		in.popFrame(f)
		return
	}
	dropped := in.leaving(f, v)
	in.popFrame(f)
	if dropped != nil {
		a, t := dropping(dropped), triggerOf(dropped)
		dropped = nil
		in.collectDropped(a)
		t.count()
	}
}

// collectDropped collects, as something has been dropped whose end somebody waits for.
func (in *Interp) collectDropped(a allowance) {
	began := time.Now()
	if in.since.IsZero() {
		in.since = began
	}
	if in.busy {
		return
	}
	if in.spent > a.first*time.Duration(max(in.Patience, 1)) && in.spent > began.Sub(in.since)/a.part {
		in.owed = true
		return
	}
	before := in.took // what is told, or another thread meanwhile, may take its time
	in.Collect()
	in.spent += in.took - before
}

// held is what a name stands for, if somebody waits for the end of any object: asked before the name is deleted or stored over.
func (in *Interp) held(d *Dict, name string) Object {
	if in.awaited == 0 {
		return nil
	}
	o, _ := d.GetStr(name)
	return o
}

// heldAttr is the same for an attribute of an instance, heldItem for an item of a list or a dict.
func (in *Interp) heldAttr(o Object, name string) Object {
	if i, ok := o.(*Instance); ok && in.awaited != 0 && i.Dict != nil {
		return in.held(i.Dict, name)
	}
	return nil
}

func (in *Interp) heldItem(o, key Object) Object {
	if in.awaited == 0 {
		return nil
	}
	switch x := o.(type) {
	case *Dict:
		if k, ok := key.(Str); ok {
			return in.held(x, string(k))
		}
	case *List:
		if k, ok := key.(Int); ok && int(k) < len(x.Items) && int(k) >= 0 {
			return x.Items[k]
		}
	}
	return nil
}

// awaited reports whether somebody waits for the end of an object, or of one of a list's or a tuple's first items.
func awaited(o Object) bool {
	switch x := o.(type) {
	case Int, Str, Float, Bool, *NoneType, *Dict:
		return false
	case *List:
		return slices.ContainsFunc(x.Items[:min(len(x.Items), few)], awaitedItself)
	case *Tuple:
		return slices.ContainsFunc(x.Items[:min(len(x.Items), few)], awaitedItself)
	}
	return awaitedItself(o)
}

func awaitedItself(o Object) bool {
	switch x := o.(type) {
	case *Instance:
		return x.id&isAwaited != 0
	case *Generator:
		return !x.done && (x.id&isAwaited != 0 || x.frame != nil && slices.ContainsFunc(x.frame.LocalsPlus, awaitedInstance))
	case *Coroutine:
		return x.id&isAwaited != 0 && !x.body.done
	case *Function:
		return x.id&isAwaited != 0
	case *Cell:
		if _, ok := x.V.(*Cell); !ok && x.V != nil {
			return awaitedItself(x.V)
		}
	}
	return false
}

// awaitedInstance reports whether o is an instance whose end is awaited.
func awaitedInstance(o Object) bool {
	x, ok := o.(*Instance)
	return ok && x.id&isAwaited != 0
}

// few is how many items of a list are looked at.
const few = 8

// dropping is the allowance for a value that is dropped, or that a scope held.
func dropping(o Object) allowance {
	switch x := o.(type) {
	case *Instance:
		if x.Class.Lookup("__del__") != nil {
			return told
		}
	case *List:
		return droppingAny(x.Items)
	case *Tuple:
		return droppingAny(x.Items)
	case *Generator:
		if x.frame != nil {
			for _, v := range x.frame.LocalsPlus {
				if i, ok := v.(*Instance); ok && i.Class.Lookup("__del__") != nil {
					return told
				}
			}
		}
	}
	return guessed
}

// droppingAny is dropping for a list or a tuple of these.
func droppingAny(items []Object) allowance {
	for _, v := range items[:min(len(items), few)] {
		if i, ok := v.(*Instance); ok && i.Class.Lookup("__del__") != nil {
			return told
		}
	}
	return guessed
}

// owns reports whether one of the first attributes of an instance, or values of a dict, has a __del__ that is still to be called.
func owns(o Object) bool {
	d, _ := o.(*Dict)
	if i, ok := o.(*Instance); ok {
		d = i.Dict
	}
	if d == nil {
		return false
	}
	n, found := 0, false
	d.Each(func(_, v Object) bool {
		n++
		found = awaitedInstance(v) && dropping(v) == told
		return !found && n < few
	})
	return found
}

// leaving gives something whose end is awaited and that a scope held which is left, one with a __del__ if there is any: what its caller gave it
// is the caller's, as v is, which it returned, and a free variable is the function's.
func (in *Interp) leaving(f *Frame, v Object) (held Object) {
	for _, o := range f.LocalsPlus[f.Code.scopeBegin:f.Code.scopeEnd] {
		if o != nil && awaited(o) && o != v && !tired(o) && !in.known(o) {
			if held = o; dropping(o) == told {
				break
			}
		}
	}
	return held
}

// passed is how many of the frames that an exception has passed are looked at, and how many exceptions behind it.
const passed, behind = 32, 4

// holds gives something whose end is awaited and that e holds by the frames that it has passed, one with a __del__ if there is any. What those
// were given is their callers', unless it has a __del__: the first argument of an __init__ that fails is nobody else's. f is the frame that handles e,
// and goes on.
func (e *Exception) holds(f *Frame, depth int) (held Object) {
	n := 0
	for t := e.Traceback; t != nil && n < passed; t = t.Next {
		n++
		if t.frame == nil || t.frame == f {
			continue
		}
		own := t.frame.LocalsPlus[t.Code.scopeBegin:max(t.Code.scopeBegin, t.Code.scopeEnd)]
		for _, o := range own {
			if o != nil && awaited(o) {
				held = o
			}
		}
		for _, o := range t.frame.LocalsPlus {
			if o != nil && endsBy(o) && !f.has(o) {
				return o
			}
		}
	}
	if e.Args != nil {
		for _, o := range e.Args.Items {
			if endsBy(o) && !f.has(o) {
				return o
			}
		}
	}
	if o, ok := e.Fields.GetStr("obj"); ok && endsBy(o) && !f.has(o) { // of an AttributeError
		return o
	}
	if e.Context != nil && depth < behind {
		if o := e.Context.holds(f, depth+1); o != nil {
			return o
		}
	}
	return held
}

// endsBy reports whether an object has a __del__ that is still to be called.
func endsBy(o Object) bool { return awaitedItself(o) && dropping(o) == told }

// has reports whether a name of the frame's function stands for o.
func (f *Frame) has(o Object) bool {
	for _, v := range f.LocalsPlus {
		if v == o {
			return true
		}
		if c, ok := v.(*Cell); ok && c.V == o {
			return true
		}
	}
	return false
}

// endHandling is called where a handler ends: e, which was handled, is let go of, unless a name has it, as in "except E as e", which is deleted
// next.
func (in *Interp) endHandling(f *Frame, sp int, e *Exception) {
	if in.awaited == 0 || e == nil || e.holds(f, 0) == nil || e == in.exc || f.has(e) {
		return
	}
	if d, ok := f.Locals.(*Dict); ok {
		named := false
		d.Each(func(_, v Object) bool {
			named = v == Object(e)
			return !named
		})
		if named {
			return
		}
	}
	in.drop(f, sp, e, guessed)
}

// endOperands is called at the end of a call, the operands of which lie on f's stack from drop to sp. One that has a __del__ goes if another call made it
// for this one, as in len([D()]) and D().m(): unless it is in the value, or the callee is likely to have kept it. That is guessed for what is called with it: a class, and a
// function that returns nothing.
func (in *Interp) endOperands(f *Frame, drop, sp int, callable, v Object) {
	if f.Code.takes == nil {
		f.Code.takes = f.Code.Temporaries()
	}
	if !f.Code.takes[f.PC] {
		return
	}
	ops := f.Stack[drop:sp]
	_, class := callable.(*Type)
	for i, o := range ops {
		if o == nil || o == v || i > 1 && (class || v == None) || !awaited(o) || dropping(o) != told || tired(o) || f.has(o) {
			continue
		}
		t := triggerOf(o)
		o = nil
		clear(f.Stack[drop:])
		f.Stack[drop], f.SP = v, drop+1
		in.collectDropped(told)
		t.count()
		return
	}
}

// unwound takes the values of f's stack from sp on away, as an exception ends what they were for, and tells those that have a __del__ and that no name
// of the function stands for.
func (in *Interp) unwound(f *Frame, sp int) {
	if slices.ContainsFunc(f.Stack[sp:], func(o Object) bool { return o != nil && endsBy(o) && !f.has(o) }) {
		clear(f.Stack[sp:])
		in.collectDropped(told)
	}
}

// finalizes has an instance's __del__ called when nothing refers to it any more.
func (t *Type) finalizes(o *Instance) {
	in := t.owner
	newWatch(in, o, func(o *Instance) { in.del(o) }).del = true
}

// Written reports whether a class statement, or a call of type, made the class: the __del__ of its instances is called.
func (t *Type) Written() bool { return t.owner != nil }

// del calls __del__.
func (in *Interp) del(o *Instance) {
	f := o.Class.Lookup("__del__")
	if f == nil {
		return
	}
	if _, err := in.callSpecial(f, o); err != nil {
		in.tellUnraisable(err, f)
	}
}

// tellUnraisable gives an error to Unraisable, if anybody listens.
func (in *Interp) tellUnraisable(err error, about Object) {
	if in.Unraisable != nil {
		in.Unraisable(err, "", about)
	}
}
