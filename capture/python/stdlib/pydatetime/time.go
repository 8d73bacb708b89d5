package pydatetime

import (
	"fmt"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// clock is a time of day. Its tzinfo is None for a naive one.
type clock struct {
	h, mi, s, us, fold int
	tz                 vm.Object
}

// check refuses a time that there is not.
func (c clock) check(in *vm.Interp) error {
	for _, p := range []struct {
		n, most int
		what    string
	}{{c.h, 23, "hour must be in 0..23"}, {c.mi, 59, "minute must be in 0..59"}, {c.s, 59, "second must be in 0..59"}, {c.us, 999999, "microsecond must be in 0..999999"},
		{c.fold, 1, "fold must be either 0 or 1"}} {
		if p.n < 0 || p.n > p.most {
			return in.Errorf(in.Exc.ValueError, "%s", p.what)
		}
	}
	return nil
}

// state is the time in a pickle, without its tzinfo.
func (c clock) state() string {
	return string([]byte{byte(c.h), byte(c.mi), byte(c.s), byte(c.us >> 16), byte(c.us >> 8), byte(c.us)})
}

func clockFromState(s string) clock {
	return clock{h: int(s[0]), mi: int(s[1]), s: int(s[2]), us: int(s[3])<<16 | int(s[4])<<8 | int(s[5]), tz: vm.None}
}

// micros is the time of day in microseconds.
func (c clock) micros() int64 {
	return (int64(c.h)*3600+int64(c.mi)*60+int64(c.s))*1000000 + int64(c.us)
}

// sinceMidnight is the same as a duration.
func (c clock) sinceMidnight() delta { return delta{0, c.h*3600 + c.mi*60 + c.s, c.us} }

// timeParams are those of time, and of its replace.
const timeParams = "hour=nil, minute=nil, second=nil, microsecond=nil, tzinfo=nil, *, fold=nil"

// fill takes over those arguments that were given.
func (m *module) fill(in *vm.Interp, c *clock, a []vm.Object) error {
	if err := cInts(in, a, &c.h, &c.mi, &c.s, &c.us); err != nil {
		return err
	}
	if a[4] != nil {
		c.tz = a[4]
	}
	if err := cInts(in, a[5:], &c.fold); err != nil {
		return err
	}
	return nil
}

// checked is fill's end.
func (m *module) checked(in *vm.Interp, c *clock) error {
	if err := c.check(in); err != nil {
		return err
	}
	return m.checkZone(in, c.tz)
}

// unpickle is what was pickled of a time or datetime, of which byte i has fold as its highest bit. ok is false where the arguments are others.
func (m *module) unpickle(in *vm.Interp, args []vm.Object, kw []vm.KwArg, n, i int, class string, good func(b byte) bool) (s string, fold int, tz vm.Object, ok bool, err error) {
	if len(args) < 1 || len(args) > 2 || len(kw) > 0 {
		return "", 0, nil, false, nil
	}
	s, ok, err = pickled(in, args[0], n, class, func(s string) bool { return good(s[i] & 0x7f) })
	if !ok || err != nil {
		return "", 0, nil, false, err
	}
	tz = vm.None
	if len(args) == 2 {
		if tz = args[1]; tz != vm.None && !tz.Type().IsSubtype(m.tzinfo) {
			return "", 0, nil, false, typeIs(in, "bad tzinfo state arg")
		}
	}
	return s[:i] + string([]byte{s[i] & 0x7f}) + s[i+1:], int(s[i] >> 7), tz, true, nil
}

// reduces adds __reduce__ and __reduce_ex__, by which fold comes into pickles of protocol 4 and later: as the highest bit of byte i.
func reduces(c *class, i int, state func(o vm.Object) (s string, fold int, tz vm.Object)) {
	give := func(self vm.Object, proto int) vm.Object {
		s, fold, tz := state(self)
		if proto > 3 && fold != 0 {
			s = s[:i] + string([]byte{s[i] | 0x80}) + s[i+1:]
		}
		args := vm.NewTuple(vm.Bytes(s))
		if tz != vm.None {
			args = vm.NewTuple(vm.Bytes(s), tz)
		}
		return vm.NewTuple(self.Type(), args)
	}
	c.op("__reduce__", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) { return give(self, 2), nil })
	c.op("__reduce_ex__", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		n, err := cInt(in, a[0])
		return give(self, n), err
	})
}

// clockQueries are the attributes and methods that time and datetime share. arg is what a tzinfo is asked about.
func (m *module) clockQueries(c *class, of func(o vm.Object) *clock, arg func(o vm.Object) vm.Object) {
	for name, f := range map[string]func(c *clock) int{"hour": func(c *clock) int { return c.h }, "minute": func(c *clock) int { return c.mi }, "second": func(c *clock) int { return c.s },
		"microsecond": func(c *clock) int { return c.us }, "fold": func(c *clock) int { return c.fold }} {
		c.get(name, func(o vm.Object) vm.Object { return integer(f(of(o))) })
	}
	c.get("tzinfo", func(o vm.Object) vm.Object { return of(o).tz })
	for _, n := range []string{"utcoffset", "dst"} {
		c.op(n, 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
			return m.offsetObj(in, of(self).tz, n, arg(self))
		})
	}
	c.op("tzname", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return m.zoneName(in, of(self).tz, arg(self))
	})
}

// tail are the arguments of a repr behind the numbers.
func (c *clock) tail(in *vm.Interp) (string, error) {
	s := ""
	if c.tz != vm.None {
		z, err := in.Repr(c.tz)
		if err != nil {
			return "", err
		}
		s = ", tzinfo=" + z
	}
	if c.fold != 0 {
		s += fmt.Sprintf(", fold=%d", c.fold)
	}
	return s, nil
}

// timeClass describes time.
func (m *module) timeClass() *class {
	c := newClass("time", "time([hour[, minute[, second[, microsecond[, tzinfo]]]]]) --> a time object\n\nAll arguments are optional. tzinfo may be None, or an instance of\na tzinfo subclass. The remaining arguments may be ints.")
	of := must[clock]
	p := vm.NewParams("", timeParams)
	c.New = func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		s, fold, tz, ok, err := m.unpickle(in, args, kw, 6, 0, "time", func(b byte) bool { return b < 24 })
		if err != nil {
			return nil, err
		}
		if ok {
			v := clockFromState(s)
			v.fold, v.tz = fold, tz
			return vm.NewInstance(cls, &v), nil
		}
		a, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		v := clock{tz: vm.None}
		if err := m.fill(in, &v, a); err != nil {
			return nil, err
		}
		return vm.NewInstance(cls, &v), m.checked(in, &v)
	}
	m.clockQueries(c, of, func(vm.Object) vm.Object { return vm.None })
	reduces(c, 0, func(o vm.Object) (string, int, vm.Object) { return of(o).state(), of(o).fold, of(o).tz })
	c.def("replace", timeParams, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		v := *of(self)
		if err := m.fill(in, &v, a); err != nil {
			return nil, err
		}
		return vm.NewInstance(self.Type(), &v), m.checked(in, &v)
	})
	c.make("fromisoformat", "string, /", m.timeFromISO)
	m.timeTexts(c)
	c.compare(m.compareTimes)
	c.op("__hash__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := of(self)
		off, err := m.offset(in, v.tz, "utcoffset", vm.None)
		if err != nil {
			return nil, err
		}
		if off == nil {
			return hashOf(in, vm.Bytes(v.state()))
		}
		return hashOf(in, m.newDelta(v.sinceMidnight().add(*off, -1)))
	})
	return c
}

// timeFromISO is time.fromisoformat.
func (m *module) timeFromISO(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
	s, ok := vm.AsStr(a[0])
	if !ok {
		return nil, typeIs(in, "fromisoformat: argument must be str")
	}
	rs := wtf8.Runes(s)
	if len(rs) > 0 && rs[0] == 'T' {
		rs = rs[1:]
	}
	p, ok := parseTime(rs)
	if !ok {
		return nil, badISO(in, a[0])
	}
	tz, err := m.parsedZone(in, p)
	if err != nil {
		return nil, err
	}
	p.clock.tz = tz
	if cls != m.time {
		return in.Call(cls, []vm.Object{integer(p.h), integer(p.mi), integer(p.s), integer(p.us), tz}, nil)
	}
	return vm.NewInstance(cls, &p.clock), p.clock.check(in)
}

// parsedZone is the tzinfo of a parsed offset.
func (m *module) parsedZone(in *vm.Interp, p parsedTime) (vm.Object, error) {
	if !p.zoned {
		return vm.None, nil
	}
	return m.newZone(in, m.newDelta(p.off), nil)
}

// timeTexts are the methods of time that give texts.
func (m *module) timeTexts(c *class) {
	of := must[clock]
	c.def("isoformat", "timespec=nil", func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		s, err := m.isoTime(in, of(self), a[0], vm.None)
		return vm.Str(s), err
	})
	c.op("__str__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return in.CallMethod(self, "isoformat")
	})
	c.op("__repr__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := of(self)
		s := fmt.Sprintf("%s(%d, %d", m.name(self), v.h, v.mi)
		if v.us != 0 {
			s += fmt.Sprintf(", %d, %d", v.s, v.us)
		} else if v.s != 0 {
			s += fmt.Sprintf(", %d", v.s)
		}
		t, err := v.tail(in)
		return vm.Str(s + t + ")"), err
	})
	formats(c, func(in *vm.Interp, self vm.Object, f string) (vm.Object, error) {
		v := of(self)
		t := vm.NewTuple(integer(1900), integer(1), integer(1), integer(v.h), integer(v.mi), integer(v.s), integer(0), integer(1), integer(-1))
		return m.strftime(in, self, v, f, t, vm.None)
	})
}

// compareTimes compares two times of day, by UTC if their offsets differ.
func (m *module) compareTimes(in *vm.Interp, self, o vm.Object, op string) (vm.Object, error) {
	a, b := must[clock](self), must[clock](o)
	if b == nil {
		return vm.NotImplemented, nil
	}
	byClock := func(x, y int64) (vm.Object, error) {
		return ordered(op, map[bool]int{true: 1}[x > y]-map[bool]int{true: 1}[x < y]), nil
	}
	if a.tz == b.tz {
		return byClock(a.micros(), b.micros())
	}
	x, err := m.offset(in, a.tz, "utcoffset", vm.None)
	if err != nil {
		return nil, err
	}
	y, err := m.offset(in, b.tz, "utcoffset", vm.None)
	if err != nil {
		return nil, err
	}
	switch {
	case x == nil && y == nil:
		return byClock(a.micros(), b.micros())
	case x != nil && y != nil:
		return byClock(a.micros()-x.small(), b.micros()-y.small())
	case op == "==" || op == "!=":
		return vm.MakeBool(op == "!="), nil
	}
	return nil, typeIs(in, "can't compare offset-naive and offset-aware times")
}
