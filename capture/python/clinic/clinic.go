package clinic

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
)

// Call is one call: its converted arguments, in the order of the parameters.
type Call struct {
	*vm.Interp
	Self vm.Object // of a method
	Args []vm.Object
	vals []any
}

// Int is an argument of kind int, bool or fd; 0 for None.
func (c *Call) Int(i int) int64 {
	n, _ := c.vals[i].(int64)
	return n
}

// Bool is an argument of kind bool.
func (c *Call) Bool(i int) bool { return c.Int(i) != 0 }

// Float is an argument of kind float; 0 for None.
func (c *Call) Float(i int) float64 {
	f, _ := c.vals[i].(float64)
	return f
}

// Str is an argument of kind str or path; empty for None.
func (c *Call) Str(i int) string {
	s, _ := c.vals[i].(string)
	return s
}

// Bytes is an argument of kind bytes: the buffer's own memory, not to be changed or kept.
func (c *Call) Bytes(i int) []byte {
	b, _ := c.vals[i].([]byte)
	return b
}

// IsFD says of an argument of kind fpath that it is a file descriptor.
func (c *Call) IsFD(i int) bool {
	_, ok := c.vals[i].(int64)
	return ok
}

// None reports whether an argument is None.
func (c *Call) None(i int) bool { return c.Args[i] == vm.None }

// OSErr raises what the operating system said, about the paths that an argument gave.
func (c *Call) OSErr(err error, paths ...int) error {
	var names []vm.Object
	for _, i := range paths {
		name := c.Args[i]
		_, text := vm.AsStr(name)
		_, raw := vm.AsBytes(name)
		if !text && !raw && !c.IsFD(i) {
			name = vm.FSDecode(c.Str(i)) // an os.PathLike, as the system knows it
		}
		names = append(names, name)
	}
	return vm.NewOSError(c.Interp, err, names...)
}

// Do is the end of most functions: None, or what the operating system said.
func (c *Call) Do(err error, paths ...int) (vm.Object, error) {
	if err != nil {
		return nil, c.OSErr(err, paths...)
	}
	return vm.None, nil
}

// Func is a function of Python's written in Go.
type Func func(c *Call) (vm.Object, error)

// Def adds a function to a module.
func Def(m *vm.Module, name, params string, fn Func) *vm.Builtin {
	call := compile(name, params)
	b := m.Func(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		c, err := call.bind(in, nil, args, kw)
		if err != nil {
			return nil, err
		}
		return fn(c)
	})
	if call.positional {
		b.Min, b.Max, b.NoKw = call.least, len(call.names), true
	}
	return b
}

// Method is a method for vm.Spec; the call's Self is the first argument.
func Method(name, params string, fn Func) vm.GoFunc {
	call := compile(name, params)
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		c, err := call.bind(in, args[0], args[1:], kw)
		if err != nil {
			return nil, err
		}
		return fn(c)
	}
}

// signature is a line of parameters, read.
type signature struct {
	name  string
	names []string
	kinds []string
	sig   binder

	positional bool // no parameter goes by name: the function is called as a vm.Builtin of least to len(names) arguments is
	least      int
}

// binder puts arguments in their places: a vm.Params, or, for parameters that take any number, a vm.Signature.
type binder interface {
	Bind(in *vm.Interp, args []vm.Object, kw []vm.KwArg) ([]vm.Object, error)
}

// compile reads a line of parameters.
func compile(name, params string) *signature {
	s := &signature{name: name}
	var plain []string
	for _, p := range strings.Split(params, ",") {
		p = strings.TrimSpace(p)
		if p == "" {
			continue
		}
		head, def, hasDef := strings.Cut(p, "=")
		id, kind, _ := strings.Cut(head, ":")
		switch {
		case hasDef:
			plain = append(plain, id+"="+def)
		case id != "/" && id != "*":
			s.least++
			fallthrough
		default:
			plain = append(plain, id)
		}
		if id != "/" && id != "*" {
			s.names, s.kinds = append(s.names, strings.TrimLeft(id, "*")), append(s.kinds, kind)
		}
	}
	whole := strings.Join(plain, ", ")
	s.positional = whole == "" || strings.HasSuffix(whole, "/")
	if strings.Contains(strings.ReplaceAll(whole, "*,", ""), "*") {
		s.sig, s.positional = vm.NewSignature(name, whole), false
	} else {
		s.sig = vm.NewParams(name, whole)
	}
	return s
}

// bind binds and converts.
func (s *signature) bind(in *vm.Interp, self vm.Object, args []vm.Object, kw []vm.KwArg) (*Call, error) {
	if s.positional && self != nil && (len(kw) > 0 || len(args) < s.least || len(args) > len(s.names)) {
		return nil, vm.WrongArgs(in, &vm.Builtin{Name: s.name, Owner: definer(self.Type(), s.name), Min: s.least, Max: len(s.names)}, len(args), len(kw) > 0)
	}
	bound, err := s.sig.Bind(in, args, kw)
	if err != nil {
		return nil, err
	}
	c := &Call{Interp: in, Self: self, Args: bound, vals: make([]any, len(bound))}
	for i, o := range bound {
		kind, optional := strings.CutSuffix(s.kinds[i], "?")
		if o == nil || o == vm.None && optional {
			continue
		}
		if c.vals[i], err = s.convert(in, kind, i, o); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// definer is the class that has a method.
func definer(t *vm.Type, name string) *vm.Type {
	for _, c := range t.MRO {
		if _, ok := c.Dict.GetStr(name); ok {
			return c
		}
	}
	return t
}

// convert is an argument as a value of Go.
func (s *signature) convert(in *vm.Interp, kind string, i int, o vm.Object) (any, error) {
	switch kind {
	case "int":
		return in.Index(o)
	case "float":
		return in.Float(o)
	case "bool":
		ok, err := in.Truth(o)
		if ok {
			return int64(1), err
		}
		return int64(0), err
	case "str":
		if t, ok := vm.AsStr(o); ok {
			return t, nil
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s() argument '%s' must be str, not %s", s.name, s.names[i], TypeName(o))
	case "bytes":
		if b, ok, err := in.OneBuffer(o); err != nil || ok {
			return b, err
		}
		return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(o))
	case "fd":
		return FD(in, o)
	case "dirfd":
		if o == vm.None {
			return nil, nil
		}
		if f, err := in.GetAttrOpt(o.Type(), "__index__"); err != nil || f == nil {
			if err == nil {
				err = in.Errorf(in.Exc.TypeError, "argument should be integer or None, not %s", vm.TypeName(o))
			}
			return nil, err
		}
		return in.Index(o)
	case "path", "fpath":
		if _, ok := vm.AsInt(o); ok && kind == "fpath" {
			return in.Index(o)
		}
		return s.path(in, kind, i, o)
	}
	return nil, nil
}

// path is a path's text. Of bytes, it is the bytes.
func (s *signature) path(in *vm.Interp, kind string, i int, o vm.Object) (any, error) {
	_, text := vm.AsStr(o)
	buf, raw := vm.AsBytes(o)
	var p string
	var err error
	switch {
	case raw && !o.Type().IsSubtype(vm.BytesType):
		if err := in.Warn(in.Exc.DeprecationWarning, s.wantsPath(kind, i, o)); err != nil {
			return nil, err
		}
		p = string(buf)
	case !text && !raw:
		if f, err := in.GetAttrOpt(o.Type(), "__fspath__"); err != nil || f == nil {
			if err != nil {
				return nil, err
			}
			return nil, in.Errorf(in.Exc.TypeError, "%s", s.wantsPath(kind, i, o))
		}
		fallthrough
	default:
		if p, err = in.FSPath(o); err != nil {
			return nil, err
		}
	}
	if strings.IndexByte(p, 0) >= 0 {
		return nil, in.Errorf(in.Exc.ValueError, "embedded null byte")
	}
	return p, nil
}

// wantsPath says that an argument is no path.
func (s *signature) wantsPath(kind string, i int, o vm.Object) string {
	kinds := []string{"string", "bytes", "os.PathLike"}
	if kind == "fpath" {
		kinds = append(kinds, "integer")
	}
	if strings.HasSuffix(s.kinds[i], "?") {
		kinds = append(kinds, "None")
	}
	last := len(kinds) - 1
	return fmt.Sprintf("%s: %s should be %s or %s, not %s", s.name, s.names[i], strings.Join(kinds[:last], ", "), kinds[last], TypeName(o))
}

// TypeName is how errors name what was given.
func TypeName(o vm.Object) string { return vm.ArgName(o) }

// FD is the file descriptor that an object is or has.
func FD(in *vm.Interp, o vm.Object) (int64, error) {
	if _, ok := vm.AsInt(o); !ok {
		f, err := in.GetAttrOpt(o, "fileno")
		if err != nil {
			return 0, err
		}
		if f == nil {
			return 0, in.Errorf(in.Exc.TypeError, "argument must be an int, or have a fileno() method.")
		}
		if o, err = in.Call(f, nil, nil); err != nil {
			return 0, err
		}
		if _, ok := vm.AsInt(o); !ok {
			return 0, in.Errorf(in.Exc.TypeError, "fileno() returned a non-integer")
		}
	}
	n, err := in.Index(o)
	if err == nil && n < 0 {
		return 0, in.Errorf(in.Exc.ValueError, "file descriptor cannot be a negative integer (%d)", n)
	}
	return n, err
}
