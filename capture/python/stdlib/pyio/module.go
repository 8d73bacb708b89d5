package pyio

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// bufferSize is DEFAULT_BUFFER_SIZE: of buffers, and of the pieces in which text is decoded.
const bufferSize = 8192

// module is the module of one interpreter: its classes, and the files that hold something back.
type module struct {
	*vm.Module
	unsupported *vm.Type
	unwritten   unwritten

	ioBase, rawBase, bufferedBase, textBase               *vm.Type
	fileIO, stream, bytesIO, reader, writer, random, pair *vm.Type
	newlines, text, stringIO                              *vm.Type
}

type moduleKey struct{}

// of is the module of an interpreter, made when it is first asked for.
func of(in *vm.Interp) *module {
	if m, ok := in.Ext[moduleKey{}].(*module); ok {
		return m
	}
	m := &module{Module: in.NewModule("_io", "The classes of files."), unwritten: unwritten{}}
	in.Ext[moduleKey{}] = m
	m.unsupported, _ = in.MakeClass(vm.TypeType, "UnsupportedOperation", []*vm.Type{in.Exc.OSError, in.Exc.ValueError}, vm.StrDict("__module__", vm.Str("io")))
	m.Set("UnsupportedOperation", m.unsupported)
	m.Set("BlockingIOError", in.Exc.BlockingIOError)
	m.Set("DEFAULT_BUFFER_SIZE", vm.MakeInt(bufferSize))
	m.ioBase = m.makeIOBase(in)
	m.rawBase = m.makeRawBase(in)
	m.bufferedBase = m.makeBufferedBase(in)
	m.textBase = m.makeTextBase(in)
	m.fileIO = m.makeFileIO(in)
	m.stream = m.makeStream(in)
	m.bytesIO = m.makeBytesIO(in)
	m.reader = m.makeBuffered(in, "BufferedReader")
	m.writer = m.makeBuffered(in, "BufferedWriter")
	m.random = m.makeBuffered(in, "BufferedRandom")
	m.pair = m.makePair(in)
	m.newlines = m.makeNewlines(in)
	m.text = m.makeText(in)
	m.stringIO = m.makeStringIO(in)
	for _, t := range []*vm.Type{m.ioBase, m.rawBase, m.bufferedBase, m.textBase, m.fileIO, m.bytesIO, m.reader, m.writer, m.random, m.pair, m.newlines, m.text, m.stringIO} {
		m.Set(t.Name, t)
	}
	m.functions(in)
	in.BeforeRead = func(path string) { m.unwritten.collectFor(in, path) }
	in.AtExit(&vm.Builtin{Name: "flush", Max: -1, Fn: func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return vm.None, m.unwritten.flush(in)
	}})
	return m
}

// Module is _io.
func Module(in *vm.Interp) (*vm.Module, error) { return of(in).Module, nil }

// class is a class while it is made: T is what its instances hold.
type class[T any] struct {
	m    *module
	name string
	spec vm.Spec
}

// newClass begins a class. make gives what an instance holds before __init__.
func newClass[T any](m *module, name string, base *vm.Type, make func() T) *class[T] {
	return &class[T]{m: m, name: name, spec: vm.Spec{Strict: true, Name: name, NoModule: true, Module: "_io", Bases: []*vm.Type{base}, Methods: map[string]vm.GoFunc{}, Arity: map[string][2]int{},
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x := make()
			self := vm.NewInstance(cls, x)
			if _, ok := any(x).(interface{ file() (fileIdentity, bool) }); ok && !cls.Written() { // for those of programs' classes __del__ is called
				vm.Watch(in, self, func(self *vm.Instance) { m.ended(in, self) })
			}
			return self, nil
		}}}
}

// body is a method: self is the object, x what it holds.
type body[T any] func(in *vm.Interp, self *vm.Instance, x T, a []vm.Object) (vm.Object, error)

// held is what an object holds.
func (c *class[T]) held(in *vm.Interp, o vm.Object) (self *vm.Instance, x T, err error) {
	self, ok := o.(*vm.Instance)
	if ok {
		x, ok = self.Native.(T)
	}
	if !ok {
		err = in.Errorf(in.Exc.TypeError, "descriptor requires a '_io.%s' object but received a '%s'", c.name, vm.TypeName(o))
	}
	return self, x, err
}

// def adds a method of lo to hi arguments by position.
func (c *class[T]) def(name string, lo, hi int, f body[T]) {
	c.spec.Arity[name] = [2]int{lo, hi}
	c.spec.Methods[name] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		self, x, err := c.held(in, a[0])
		if err != nil {
			return nil, err
		}
		return f(in, self, x, a[1:])
	}
}

// call adds a method whose arguments clinic binds.
func (c *class[T]) call(name, params string, f func(c *clinic.Call, self *vm.Instance, x T) (vm.Object, error)) {
	shown := name
	if name == "__init__" {
		shown = c.name
	}
	c.spec.Methods[name] = clinic.Method(shown, params, func(call *clinic.Call) (vm.Object, error) {
		self, x, err := c.held(call.Interp, call.Self)
		if err != nil {
			return nil, err
		}
		return f(call, self, x)
	})
}

// get adds an attribute that is computed.
func (c *class[T]) get(name string, f func(in *vm.Interp, self *vm.Instance, x T) (vm.Object, error)) *vm.GetSet {
	g := &vm.GetSet{Name: name, Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) {
		self, x, err := c.held(in, o)
		if err != nil {
			return nil, err
		}
		return f(in, self, x)
	}}
	c.spec.GetSet = append(c.spec.GetSet, g)
	return g
}

// noPickle makes pickling an error, as of what belongs to the machine.
func (c *class[T]) noPickle() {
	for _, name := range []string{"__getstate__", "__reduce__"} {
		c.def(name, 0, 0, func(in *vm.Interp, self *vm.Instance, _ T, _ []vm.Object) (vm.Object, error) {
			return nil, cannotPickle(in, self)
		})
	}
	c.def("__reduce_ex__", 1, 1, func(in *vm.Interp, self *vm.Instance, _ T, _ []vm.Object) (vm.Object, error) {
		return nil, cannotPickle(in, self)
	})
}

func cannotPickle(in *vm.Interp, o vm.Object) error {
	return in.Errorf(in.Exc.TypeError, "cannot pickle '%s' object", o.Type().FullName())
}

// noSupport raises io.UnsupportedOperation.
func (m *module) noSupport(in *vm.Interp, what string) error {
	return in.Errorf(m.unsupported, "%s", what)
}

// size is the argument of read and readline: how much, -1 for all.
func size(in *vm.Interp, a []vm.Object) (int, error) {
	if len(a) == 0 || a[0] == vm.None {
		return -1, nil
	}
	if n, ok := a[0].(vm.Int); ok {
		return int(n), nil
	}
	if a[0].Type().Lookup("__index__") == nil {
		return 0, in.Errorf(in.Exc.TypeError, "argument should be integer or None, not '%s'", vm.TypeName(a[0]))
	}
	n, err := in.Index(a[0])
	return int(n), err
}

// offset is an argument that must be an integer.
func offset(in *vm.Interp, o vm.Object) (int64, error) {
	n, err := in.Index(o)
	if err != nil && in.Matches(err, in.Exc.OverflowError) {
		return 0, in.Errorf(in.Exc.OverflowError, "cannot fit '%s' into an offset-sized integer", vm.TypeName(o))
	}
	return n, err
}

// places are the arguments of seek.
func places(in *vm.Interp, a []vm.Object) (off int64, whence int, err error) {
	if off, err = offset(in, a[0]); err != nil || len(a) < 2 {
		return off, 0, err
	}
	w, err := in.Index(a[1])
	return off, int(w), err
}

// truth calls a method without arguments that says yes or no.
func truth(in *vm.Interp, o vm.Object, method string) (bool, error) {
	v, err := in.CallMethod(o, method)
	if err != nil {
		return false, err
	}
	return in.Truth(v)
}

// isClosed asks an object for its attribute closed.
func isClosed(in *vm.Interp, o vm.Object) (bool, error) {
	v, err := in.GetAttr(o, "closed")
	if err != nil {
		return false, err
	}
	return in.Truth(v)
}

// chained is what two steps of which the second is taken in any case have raised: the second's error has the first's as its context.
func chained(first, second error) error {
	a, ok := first.(*vm.Raised)
	b, ok2 := second.(*vm.Raised)
	switch {
	case second == nil:
		return first
	case !ok || !ok2 || a.Exc == b.Exc:
		return second
	}
	if b.Exc.Context == nil {
		b.Exc.Context = a.Exc
	}
	return second
}

func isErr(err error, in *vm.Interp, cls *vm.Type) bool { return err != nil && in.Matches(err, cls) }
