package pydatetime

import (
	"whittle/capture/python/vm"
)

// datetimeZones is astimezone.
func (m *module) datetimeZones(c *class) {
	c.def("astimezone", "tz=None", func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		v := *must[moment](self)
		target := a[0]
		if target != vm.None && !target.Type().IsSubtype(m.tzinfo) {
			return nil, typeIs(in, "tzinfo argument must be None or of a tzinfo subclass, not type '%s'", vm.TypeName(target))
		}
		source := v.tz
		if source == target && source != vm.None {
			return self, nil
		}
		off, err := m.offset(in, source, "utcoffset", self)
		if err != nil {
			return nil, err
		}
		if off == nil { // naive: local time
			zone, err := m.localZone(in, fromLocal(v.seconds(), v.fold)-unixDay*daySeconds)
			if err != nil {
				return nil, err
			}
			if source == vm.None && target == zone {
				return self, nil
			}
			off = must[delta](must[fixed](zone).off)
		}
		utc, err := m.shift(in, vm.NewInstance(self.Type(), &moment{v.day, clock{h: v.h, mi: v.mi, s: v.s, us: v.us, tz: m.utc}}), *off, -1)
		if err != nil {
			return nil, err
		}
		if target == vm.None {
			w := must[moment](utc)
			if target, err = m.localZone(in, w.seconds()-unixDay*daySeconds); err != nil {
				return nil, err
			}
		}
		w := *must[moment](utc)
		w.tz = target
		return in.CallMethod(target, "fromutc", vm.NewInstance(self.Type(), &w))
	})
}

// localZone is the timezone that local clocks are in at a time of Unix.
func (m *module) localZone(in *vm.Interp, unix int64) (vm.Object, error) {
	_, _, name, off := localAt(unix)
	return m.newZone(in, m.newDelta(normal(0, off, 0)), vm.Str(name))
}

// datetimeArithmetic are the operators of datetime, and its hash.
func (m *module) datetimeArithmetic(c *class) {
	add := func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if d, ok := native[delta](a[0]); ok {
			return m.shift(in, self, *d, 1)
		}
		return vm.NotImplemented, nil
	}
	c.op("__add__", 1, add)
	c.op("__radd__", 1, add)
	c.op("__sub__", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if d, ok := native[delta](a[0]); ok {
			return m.shift(in, self, *d, -1)
		}
		if _, ok := native[moment](a[0]); ok {
			return m.between(in, self, a[0])
		}
		return vm.NotImplemented, nil
	})
	c.op("__rsub__", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if _, ok := native[moment](a[0]); ok {
			return m.between(in, a[0], self)
		}
		return vm.NotImplemented, nil
	})
	c.compare(m.compareMoments)
	c.op("__hash__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := *must[moment](self)
		asked := self
		if v.fold != 0 { // both readings of a clock have one hash
			v.fold = 0
			asked = vm.NewInstance(self.Type(), &v)
		}
		off, err := m.offset(in, v.tz, "utcoffset", asked)
		if err != nil {
			return nil, err
		}
		if off == nil {
			return hashOf(in, vm.Bytes(v.state()))
		}
		return hashOf(in, m.newDelta(v.since(moment{day: day{1, 1, 1}}).add(*off, -1)))
	})
}

// offsets are what the zones of two datetimes say; both nil where they have one zone, whatever it says.
func (m *module) offsets(in *vm.Interp, a, b vm.Object) (x, y *delta, err error) {
	v, w := must[moment](a), must[moment](b)
	if v.tz == w.tz {
		return nil, nil, nil
	}
	if x, err = m.offset(in, v.tz, "utcoffset", a); err != nil {
		return nil, nil, err
	}
	y, err = m.offset(in, w.tz, "utcoffset", b)
	return x, y, err
}

// between is a - b of two datetimes.
func (m *module) between(in *vm.Interp, a, b vm.Object) (vm.Object, error) {
	x, y, err := m.offsets(in, a, b)
	if err != nil {
		return nil, err
	}
	d := must[moment](a).since(*must[moment](b))
	switch {
	case (x == nil) != (y == nil):
		return nil, typeIs(in, "can't subtract offset-naive and offset-aware datetimes")
	case x != nil:
		d = d.add(*x, -1).add(*y, 1)
	}
	return m.newDelta(d), nil
}

// compareMoments compares two datetimes. Times that a zone shows twice or never are equal to none in another zone: PEP 495.
func (m *module) compareMoments(in *vm.Interp, self, o vm.Object, op string) (vm.Object, error) {
	equality := op == "==" || op == "!="
	w, ok := native[moment](o)
	if !ok {
		if _, isDate := native[day](o); !isDate {
			return vm.NotImplemented, nil
		}
		if equality {
			return vm.MakeBool(op == "!="), nil
		}
		return nil, typeIs(in, "can't compare %s to %s", m.name(self), m.name(o))
	}
	v := must[moment](self)
	x, y, err := m.offsets(in, self, o)
	if err != nil {
		return nil, err
	}
	if (x == nil) != (y == nil) {
		if equality {
			return vm.MakeBool(op == "!="), nil
		}
		return nil, typeIs(in, "can't compare offset-naive and offset-aware datetimes")
	}
	d := v.since(*w)
	if x != nil {
		d = d.add(*x, -1).add(*y, 1)
	}
	c := d.cmp(delta{})
	if equality && c == 0 && v.tz != w.tz {
		for _, p := range []struct {
			o   vm.Object
			off *delta
		}{{self, x}, {o, y}} {
			odd, err := m.foldMatters(in, p.o, p.off)
			if err != nil {
				return nil, err
			}
			if odd {
				c = 1
			}
		}
	}
	return ordered(op, c), nil
}

// foldMatters says whether a datetime's offset would be another if its fold were.
func (m *module) foldMatters(in *vm.Interp, o vm.Object, off *delta) (bool, error) {
	v := *must[moment](o)
	v.fold = 1 - v.fold
	other, err := m.offset(in, v.tz, "utcoffset", vm.NewInstance(o.Type(), &v))
	if err != nil {
		return false, err
	}
	if other == nil || off == nil {
		return other != off, nil
	}
	return *other != *off, nil
}
