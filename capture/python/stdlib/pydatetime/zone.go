package pydatetime

import (
	"fmt"

	"whittle/capture/python/vm"
)

// fixed is a timezone: an offset, which is a timedelta, and a name or nil.
type fixed struct{ off, name vm.Object }

// offset asks a tzinfo for utcoffset or dst; nil where there is none.
func (m *module) offset(in *vm.Interp, tz vm.Object, what string, arg vm.Object) (*delta, error) {
	if tz == vm.None {
		return nil, nil
	}
	if tz.Type() == m.timezone {
		if what == "dst" {
			return nil, nil
		}
		return must[delta](must[fixed](tz).off), nil
	}
	v, err := in.CallMethod(tz, what, arg)
	if err != nil || v == vm.None {
		return nil, err
	}
	d, ok := native[delta](v)
	if !ok {
		return nil, typeIs(in, "tzinfo.%s() must return None or a timedelta, not '%s'", what, vm.TypeName(v))
	}
	if !d.isOffset() {
		return nil, in.Errorf(in.Exc.ValueError, "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24).")
	}
	return d, nil
}

// isOffset says whether a duration may be an offset: less than a day in either direction.
func (d delta) isOffset() bool { return d.days == 0 || d.days == -1 && (d.secs > 0 || d.micros > 0) }

// offsetObj is offset as a method gives it.
func (m *module) offsetObj(in *vm.Interp, tz vm.Object, what string, arg vm.Object) (vm.Object, error) {
	d, err := m.offset(in, tz, what, arg)
	if err != nil || d == nil {
		return vm.None, err
	}
	return m.newDelta(*d), nil
}

// zoneName asks a tzinfo for tzname.
func (m *module) zoneName(in *vm.Interp, tz, arg vm.Object) (vm.Object, error) {
	if tz == vm.None {
		return vm.None, nil
	}
	v, err := in.CallMethod(tz, "tzname", arg)
	if err != nil || v == vm.None {
		return v, err
	}
	if _, ok := vm.AsStr(v); !ok {
		return nil, typeIs(in, "tzinfo.tzname() must return None or a string, not '%s'", vm.TypeName(v))
	}
	return v, nil
}

// checkZone refuses what cannot be a tzinfo argument.
func (m *module) checkZone(in *vm.Interp, tz vm.Object) error {
	if tz == vm.None || tz.Type().IsSubtype(m.tzinfo) {
		return nil
	}
	return typeIs(in, "tzinfo argument must be None or of a tzinfo subclass, not type '%s'", vm.TypeName(tz))
}

// hhmm writes an offset as +HH:MM, with seconds and microseconds if it has any.
func (d delta) hhmm(sep string) string {
	sign := "+"
	if d.days < 0 {
		sign, d = "-", delta{}.add(d, -1)
	}
	s := fmt.Sprintf("%s%02d%s%02d", sign, d.secs/3600, sep, d.secs/60%60)
	if d.secs%60 != 0 || d.micros != 0 {
		s += fmt.Sprintf("%s%02d", sep, d.secs%60)
	}
	if d.micros != 0 {
		s += fmt.Sprintf(".%06d", d.micros)
	}
	return s
}

// tzinfoClass describes tzinfo.
func (m *module) tzinfoClass() *class {
	c := newClass("tzinfo", "Abstract base class for time zone info objects.")
	c.New = func(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return vm.NewInstance(cls, nil), nil
	}
	c.Methods["__init__"] = func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil }
	for _, n := range []string{"tzname", "utcoffset", "dst"} {
		c.op(n, 1, func(in *vm.Interp, _ vm.Object, _ []vm.Object) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.NotImplementedError, "a tzinfo subclass must implement %s()", n)
		})
	}
	c.op("fromutc", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		return m.fromUTC(in, self, a[0])
	})
	c.op("__reduce__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		var args vm.Object = vm.NewTuple()
		f, err := in.GetAttrOpt(self, "__getinitargs__")
		if err == nil && f != nil {
			args, err = in.Call(f, nil, nil)
		}
		if err != nil {
			return nil, err
		}
		state, err := in.CallMethod(self, "__getstate__")
		return vm.NewTuple(self.Type(), args, state), err
	})
	return c
}

// fromUTC is what a tzinfo that has utcoffset and dst alone does by default: it takes the standard offset to be that of all times.
func (m *module) fromUTC(in *vm.Interp, self, o vm.Object) (vm.Object, error) {
	v, ok := native[moment](o)
	if !ok {
		return nil, typeIs(in, "fromutc: argument must be a datetime")
	}
	if v.tz != self {
		return nil, in.Errorf(in.Exc.ValueError, "fromutc: dt.tzinfo is not self")
	}
	off, err := m.offset(in, v.tz, "utcoffset", o)
	if err != nil {
		return nil, err
	}
	if off == nil {
		return nil, in.Errorf(in.Exc.ValueError, "fromutc: non-None utcoffset() result required")
	}
	dst, err := m.offset(in, v.tz, "dst", o)
	if err != nil {
		return nil, err
	}
	if dst == nil {
		return nil, in.Errorf(in.Exc.ValueError, "fromutc: non-None dst() result required")
	}
	standard, err := m.shift(in, o, off.add(*dst, -1), 1)
	if err != nil {
		return nil, err
	}
	dst, err = m.offset(in, v.tz, "dst", standard)
	if err != nil {
		return nil, err
	}
	if dst == nil {
		return nil, in.Errorf(in.Exc.ValueError, "fromutc: tz.dst() gave inconsistent results; cannot convert")
	}
	if dst.isZero() {
		return standard, nil
	}
	return m.shift(in, standard, *dst, 1)
}

// timezoneClass describes timezone.
func (m *module) timezoneClass() *class {
	c := newClass("timezone", "Fixed offset from UTC implementation of tzinfo.")
	c.Bases, c.Final = []*vm.Type{m.tzinfo}, true
	p := vm.NewParams("timezone", "offset, name=nil")
	c.New = func(in *vm.Interp, _ *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		if _, ok := native[delta](a[0]); !ok {
			return nil, typeIs(in, "timezone() argument 1 must be datetime.timedelta, not %s", vm.ArgName(a[0]))
		}
		if a[1] != nil {
			if _, ok := vm.AsStr(a[1]); !ok {
				return nil, typeIs(in, "timezone() argument 2 must be str, not %s", vm.ArgName(a[1]))
			}
		}
		return m.newZone(in, a[0], a[1])
	}
	m.timezoneQueries(c)
	of := func(o vm.Object) *fixed { return must[fixed](o) }
	c.compare(func(_ *vm.Interp, self, o vm.Object, op string) (vm.Object, error) {
		x, ok := native[fixed](o)
		if !ok || op != "==" && op != "!=" {
			return vm.NotImplemented, nil
		}
		return ordered(op, must[delta](of(self).off).cmp(*must[delta](x.off))), nil
	})
	c.op("__hash__", 0, func(in *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) { return hashOf(in, of(o).off) })
	c.op("__getinitargs__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		if z := of(o); z.name != nil {
			return vm.NewTuple(z.off, z.name), nil
		}
		return vm.NewTuple(of(o).off), nil
	})
	c.op("__str__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) { return m.label(o), nil })
	c.op("__repr__", 0, func(in *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		if o == vm.Object(m.utc) {
			return vm.Str("datetime.timezone.utc"), nil
		}
		s, err := in.Repr(of(o).off)
		if err == nil && of(o).name != nil {
			var n string
			n, err = in.Repr(of(o).name)
			s += ", " + n
		}
		return vm.Str("datetime.timezone(" + s + ")"), err
	})
	return c
}

// newZone is timezone(off, name).
func (m *module) newZone(in *vm.Interp, off, name vm.Object) (vm.Object, error) {
	d := must[delta](off)
	if name == nil && d.isZero() {
		return m.utc, nil
	}
	if !d.isOffset() {
		s, err := in.Repr(off)
		if err != nil {
			return nil, err
		}
		return nil, in.Errorf(in.Exc.ValueError, "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24), not %s.", s)
	}
	return vm.NewInstance(m.timezone, &fixed{off, name}), nil
}

// label is a timezone's name.
func (m *module) label(o vm.Object) vm.Object {
	z := must[fixed](o)
	switch d := must[delta](z.off); {
	case z.name != nil:
		return z.name
	case d.isZero():
		return vm.Str("UTC")
	default:
		return vm.Str("UTC" + d.hhmm(":"))
	}
}

// timezoneQueries are the methods that a tzinfo has to have.
func (m *module) timezoneQueries(c *class) {
	query := func(name string, f func(self vm.Object) vm.Object) {
		c.op(name, 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
			if _, ok := native[moment](a[0]); !ok && a[0] != vm.None {
				return nil, typeIs(in, "%s(dt) argument must be a datetime instance or None, not %s", name, vm.TypeName(a[0]))
			}
			return f(self), nil
		})
	}
	query("tzname", m.label)
	query("utcoffset", func(self vm.Object) vm.Object { return must[fixed](self).off })
	query("dst", func(vm.Object) vm.Object { return vm.None })
	c.op("fromutc", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		v, ok := native[moment](a[0])
		if !ok {
			return nil, typeIs(in, "fromutc: argument must be a datetime")
		}
		if v.tz != self {
			return nil, in.Errorf(in.Exc.ValueError, "fromutc: dt.tzinfo is not self")
		}
		return m.shift(in, a[0], *must[delta](must[fixed](self).off), 1)
	})
}
