package pydatetime

import (
	"whittle/capture/python/vm"
)

// module is _datetime of one interpreter: its classes.
type module struct {
	delta, date, time, datetime, tzinfo, timezone, isoDate *vm.Type
	utc                                                    *vm.Instance
}

// Module makes module _datetime.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := &module{}
	out := in.NewModule("_datetime", "Fast implementation of the datetime type.")
	m.delta = in.NewNativeType(m.deltaClass().Spec)
	setAll(in, m.delta, map[string]vm.Object{"min": m.newDelta(delta{days: -maxDays}), "max": m.newDelta(delta{maxDays, daySeconds - 1, 999999}), "resolution": m.newDelta(delta{micros: 1})})
	m.isoDate = m.isoClass(in)
	m.date = in.NewNativeType(m.dateClass().Spec)
	setAll(in, m.date, map[string]vm.Object{"min": m.newDate(m.date, day{minYear, 1, 1}), "max": m.newDate(m.date, day{maxYear, 12, 31}), "resolution": m.newDelta(delta{days: 1})})
	m.tzinfo = in.NewNativeType(m.tzinfoClass().Spec)
	m.timezone = in.NewNativeType(m.timezoneClass().Spec)
	m.utc = vm.NewInstance(m.timezone, &fixed{off: m.newDelta(delta{})})
	edge := func(d delta) vm.Object { return vm.NewInstance(m.timezone, &fixed{off: m.newDelta(d)}) }
	setAll(in, m.timezone, map[string]vm.Object{"utc": m.utc, "min": edge(delta{-1, 60, 0}), "max": edge(delta{0, daySeconds - 60, 0})})
	m.time = in.NewNativeType(m.timeClass().Spec)
	last := clock{h: 23, mi: 59, s: 59, us: 999999, tz: vm.None}
	setAll(in, m.time, map[string]vm.Object{"min": vm.NewInstance(m.time, &clock{tz: vm.None}), "max": vm.NewInstance(m.time, &last), "resolution": m.newDelta(delta{micros: 1})})
	m.datetime = in.NewNativeType(m.datetimeClass().Spec)
	setAll(in, m.datetime, map[string]vm.Object{"min": vm.NewInstance(m.datetime, &moment{day{minYear, 1, 1}, clock{tz: vm.None}}),
		"max": vm.NewInstance(m.datetime, &moment{day{maxYear, 12, 31}, last}), "resolution": m.newDelta(delta{micros: 1})})
	for _, t := range []*vm.Type{m.delta, m.date, m.time, m.datetime, m.tzinfo, m.timezone} {
		out.Set(t.Name, t)
	}
	out.Set("UTC", m.utc)
	out.Set("MINYEAR", vm.MakeInt(minYear))
	out.Set("MAXYEAR", vm.MakeInt(maxYear))
	return out, nil
}

// setAll gives a class its constants, which are instances of it or of another one.
func setAll(_ *vm.Interp, t *vm.Type, attrs map[string]vm.Object) {
	for n, v := range attrs {
		t.Dict.SetStr(n, v)
	}
}

// class is a class that is being described.
type class struct {
	vm.Spec
}

func newClass(name, doc string) *class {
	return &class{vm.Spec{Name: name, Module: "datetime", Doc: doc, Strict: true, NoModule: true, NoDict: true, Methods: map[string]vm.GoFunc{}, Arity: map[string][2]int{}, Class: map[string]vm.GoFunc{}}}
}

// method is what a method does with bound arguments.
type method func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error)

// op adds a method of n arguments, all of which are given.
func (c *class) op(name string, n int, f method) {
	c.Arity[name] = [2]int{n, n}
	c.Methods[name] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return f(in, a[0], a[1:]) }
}

// def adds a method with parameters.
func (c *class) def(name, params string, f method) {
	p := vm.NewParams(name, params)
	c.Methods[name] = func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := p.Bind(in, args[1:], kw)
		if err != nil {
			return nil, err
		}
		return f(in, args[0], a)
	}
}

// make adds a class method.
func (c *class) make(name, params string, f func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error)) {
	p := vm.NewParams(name, params)
	c.Class[name] = func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := p.Bind(in, args[1:], kw)
		if err != nil {
			return nil, err
		}
		return f(in, args[0].(*vm.Type), a)
	}
}

// get adds an attribute that is read.
func (c *class) get(name string, f func(self vm.Object) vm.Object) {
	c.GetSet = append(c.GetSet, &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return f(self), nil }})
}

// compare adds the six comparisons of a class whose order is given by f; ok is false for what cannot be compared.
func (c *class) compare(f func(in *vm.Interp, self, o vm.Object, op string) (vm.Object, error)) {
	for name, op := range map[string]string{"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="} {
		c.op(name, 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) { return f(in, self, a[0], op) })
	}
}

// ordered is what a comparison gives of two values of which the first is less than, equal to or greater than the second.
func ordered(op string, c int) vm.Object {
	return vm.MakeBool(map[string]bool{"==": c == 0, "!=": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op])
}

// native is the Go value that an instance holds.
func native[T any](o vm.Object) (*T, bool) {
	if i, ok := o.(*vm.Instance); ok {
		v, ok := i.Native.(*T)
		return v, ok
	}
	return nil, false
}

// must is native of what is known to be one.
func must[T any](o vm.Object) *T {
	v, _ := native[T](o)
	return v
}

// dayOf is the date that o is, or has.
func dayOf(o vm.Object) (day, bool) {
	if v, ok := native[moment](o); ok {
		return v.day, true
	}
	if v, ok := native[day](o); ok {
		return *v, true
	}
	return day{}, false
}

func integer(n int) vm.Object { return vm.MakeInt(int64(n)) }

// name is how reprs name the class of o.
func (m *module) name(o vm.Object) string {
	switch t := o.Type(); t {
	case m.delta, m.date, m.time, m.datetime, m.tzinfo, m.timezone:
		return t.FullName()
	default:
		return t.Name
	}
}

// cInt is an argument where C takes an int.
func cInt(in *vm.Interp, o vm.Object) (int, error) {
	b, err := in.IndexBig(o)
	if err != nil {
		return 0, err
	}
	switch {
	case !b.IsInt64():
		return 0, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C long")
	case b.Int64() > 1<<31-1:
		return 0, in.Errorf(in.Exc.OverflowError, "signed integer is greater than maximum")
	case b.Int64() < -1<<31:
		return 0, in.Errorf(in.Exc.OverflowError, "signed integer is less than minimum")
	}
	return int(b.Int64()), nil
}

// cInts fills numbers from those arguments that were given.
func cInts(in *vm.Interp, a []vm.Object, to ...*int) error {
	for i, p := range to {
		if a[i] == nil {
			continue
		}
		n, err := cInt(in, a[i])
		if err != nil {
			return err
		}
		*p = n
	}
	return nil
}

// hashOf is a hash as a method gives it.
func hashOf(in *vm.Interp, o vm.Object) (vm.Object, error) {
	h, err := in.Hash(o)
	return vm.MakeInt(int64(h)), err
}

// typeIs is a TypeError.
func typeIs(in *vm.Interp, format string, args ...any) error {
	return in.Errorf(in.Exc.TypeError, format, args...)
}
