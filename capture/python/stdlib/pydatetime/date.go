package pydatetime

import (
	"fmt"
	"math"
	"math/big"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// check refuses a date that there is not.
func (d day) check(in *vm.Interp) error {
	switch {
	case d.y < minYear || d.y > maxYear:
		return in.Errorf(in.Exc.ValueError, "year %d is out of range", d.y)
	case d.m < 1 || d.m > 12:
		return in.Errorf(in.Exc.ValueError, "month must be in 1..12")
	case d.d < 1 || d.d > daysInMonth(d.y, d.m):
		return in.Errorf(in.Exc.ValueError, "day is out of range for month")
	}
	return nil
}

// state is the date in a pickle.
func (d day) state() string { return string([]byte{byte(d.y >> 8), byte(d.y), byte(d.m), byte(d.d)}) }

func dayFromState(s string) day { return day{int(s[0])<<8 | int(s[1]), int(s[2]), int(s[3])} }

// pickled is the state that a constructor was given instead of numbers: n bytes, or what Python 2 wrote of them as text. good says whether
// the bytes can be one.
func pickled(in *vm.Interp, o vm.Object, n int, class string, good func(s string) bool) (string, bool, error) {
	if b, ok := o.(vm.Bytes); ok {
		return string(b), len(b) == n && good(string(b)), nil
	}
	t, ok := vm.AsStr(o)
	if !ok {
		return "", false, nil
	}
	rs := wtf8.Runes(t)
	if len(rs) != n {
		return "", false, nil
	}
	b := make([]byte, n)
	for i, r := range rs {
		if r > 255 {
			if i == 0 && !good(string(b)) || good(string(b)) {
				return "", false, in.Errorf(in.Exc.ValueError, "Failed to encode latin1 string when unpickling a %s object. pickle.load(data, encoding='latin1') is assumed.", class)
			}
			r = 0
		}
		b[i] = byte(r)
	}
	return string(b), good(string(b)), nil
}

// newDate makes a date of a class without asking its constructor.
func (m *module) newDate(cls *vm.Type, d day) *vm.Instance { return vm.NewInstance(cls, &d) }

// giveDate makes a date of a class by its constructor.
func (m *module) giveDate(in *vm.Interp, cls *vm.Type, d day) (vm.Object, error) {
	if cls != m.date {
		return in.Call(cls, []vm.Object{integer(d.y), integer(d.m), integer(d.d)}, nil)
	}
	return m.newDate(cls, d), d.check(in)
}

// dateClass describes date.
func (m *module) dateClass() *class {
	c := newClass("date", "date(year, month, day) --> date object")
	p := vm.NewParams("", "year, month, day")
	c.New = func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if len(args) == 1 && len(kw) == 0 {
			s, ok, err := pickled(in, args[0], 4, "date", func(s string) bool { return s[2] >= 1 && s[2] <= 12 })
			if err != nil {
				return nil, err
			}
			if ok {
				return m.newDate(cls, dayFromState(s)), nil
			}
		}
		a, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		var d day
		if err := cInts(in, a, &d.y, &d.m, &d.d); err != nil {
			return nil, err
		}
		return m.newDate(cls, d), d.check(in)
	}
	m.dateMakers(c)
	m.dayQueries(c)
	m.dateArithmetic(c)
	c.def("replace", "year=nil, month=nil, day=nil", func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		d := *must[day](self)
		if err := cInts(in, a, &d.y, &d.m, &d.d); err != nil {
			return nil, err
		}
		return m.newDate(self.Type(), d), d.check(in)
	})
	c.op("timetuple", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return timeTuple(in, moment{day: *must[day](self)}, -1)
	})
	c.op("ctime", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.Str(moment{day: *must[day](self)}.ctime()), nil
	})
	c.op("isoformat", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.Str(must[day](self).text()), nil
	})
	c.op("__str__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return in.CallMethod(self, "isoformat")
	})
	c.op("__repr__", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		d := must[day](self)
		return vm.Str(fmt.Sprintf("%s(%d, %d, %d)", m.name(self), d.y, d.m, d.d)), nil
	})
	c.op("__hash__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return hashOf(in, vm.Bytes(must[day](self).state()))
	})
	c.op("__reduce__", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.NewTuple(self.Type(), vm.NewTuple(vm.Bytes(must[day](self).state()))), nil
	})
	formats(c, func(in *vm.Interp, self vm.Object, f string) (vm.Object, error) {
		t, err := in.CallMethod(self, "timetuple")
		if err != nil {
			return nil, err
		}
		return m.strftime(in, self, nil, f, t, self)
	})
	return c
}

// dateMakers are the class methods of date, which datetime has as well.
func (m *module) dateMakers(c *class) {
	c.make("today", "", func(in *vm.Interp, cls *vm.Type, _ []vm.Object) (vm.Object, error) {
		lib, err := in.Import("time")
		if err != nil {
			return nil, err
		}
		now, err := in.CallMethod(lib, "time")
		if err != nil {
			return nil, err
		}
		return in.CallMethod(cls, "fromtimestamp", now)
	})
	c.make("fromtimestamp", "timestamp, /", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		secs, _, err := stamp(in, a[0], math.Floor)
		if err != nil {
			return nil, err
		}
		_, v, _, _ := localAt(secs)
		return m.giveDate(in, cls, v.day)
	})
	c.make("fromordinal", "ordinal, /", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		n, err := cInt(in, a[0])
		if err != nil {
			return nil, err
		}
		if n < 1 {
			return nil, in.Errorf(in.Exc.ValueError, "ordinal must be >= 1")
		}
		return m.giveDate(in, cls, dayAt(n))
	})
	c.make("fromisoformat", "string, /", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		s, ok := vm.AsStr(a[0])
		if !ok {
			return nil, typeIs(in, "fromisoformat: argument must be str")
		}
		d, ok := parseDay(wtf8.Runes(s))
		if !ok {
			return nil, badISO(in, a[0])
		}
		return m.giveDate(in, cls, d)
	})
	c.make("fromisocalendar", "year, week, day", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		var y, w, d int
		if err := cInts(in, a, &y, &w, &d); err != nil {
			if in.Matches(err, in.Exc.OverflowError) {
				return nil, in.Errorf(in.Exc.ValueError, "ISO calendar component out of range")
			}
			return nil, err
		}
		v, fault := fromISO(y, w, d)
		switch fault {
		case isoYear:
			return nil, in.Errorf(in.Exc.ValueError, "Year is out of range: %d", y)
		case isoWeek:
			return nil, in.Errorf(in.Exc.ValueError, "Invalid week: %d", w)
		case isoWeekday:
			return nil, in.Errorf(in.Exc.ValueError, "Invalid day: %d (range is [1, 7])", d)
		}
		return m.giveDate(in, cls, v)
	})
}

func badISO(in *vm.Interp, o vm.Object) error {
	s, err := in.Repr(o)
	if err != nil {
		return err
	}
	return in.Errorf(in.Exc.ValueError, "Invalid isoformat string: %s", s)
}

// stamp is a number of seconds as whole seconds and microseconds, rounded by round.
func stamp(in *vm.Interp, o vm.Object, round func(float64) float64) (secs int64, us int, err error) {
	tooLarge := func() error { return in.Errorf(in.Exc.OverflowError, "timestamp out of range for platform time_t") }
	if !isFloat(o) {
		var b *big.Int
		if b, err = in.IndexBig(o); err != nil {
			return 0, 0, err
		}
		if !b.IsInt64() {
			return 0, 0, tooLarge()
		}
		if secs = b.Int64(); secs > 1<<55 || secs < -1<<55 {
			return 0, 0, in.Errorf(in.Exc.OverflowError, "Value too large to be stored in data type")
		}
		return secs, 0, nil
	}
	f, _ := vm.AsFloat(o)
	if math.IsNaN(f) {
		return 0, 0, in.Errorf(in.Exc.ValueError, "Invalid value NaN (not a number)")
	}
	whole, frac := math.Modf(f)
	micros := round(frac * 1e6)
	if micros >= 1e6 {
		micros, whole = micros-1e6, whole+1
	} else if micros < 0 {
		micros, whole = micros+1e6, whole-1
	}
	if math.Abs(whole) >= 1<<63 {
		return 0, 0, tooLarge()
	}
	if math.Abs(whole) > 1<<55 {
		return 0, 0, in.Errorf(in.Exc.OverflowError, "Value too large to be stored in data type")
	}
	return int64(whole), int(micros), nil
}

// dayQueries are the methods that date and datetime share as they are.
func (m *module) dayQueries(c *class) {
	of := func(o vm.Object) day { d, _ := dayOf(o); return d }
	c.get("year", func(o vm.Object) vm.Object { return integer(of(o).y) })
	c.get("month", func(o vm.Object) vm.Object { return integer(of(o).m) })
	c.get("day", func(o vm.Object) vm.Object { return integer(of(o).d) })
	number := func(name string, f func(d day) int) {
		c.op(name, 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) { return integer(f(of(self))), nil })
	}
	number("toordinal", day.ordinal)
	number("weekday", day.weekday)
	number("isoweekday", func(d day) int { return d.weekday() + 1 })
	c.op("isocalendar", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		y, w, d := of(self).iso()
		return vm.NewInstance(m.isoDate, vm.NewTuple(integer(y), integer(w), integer(d))), nil
	})
}

// isoClass is the class of what isocalendar gives: a tuple with names.
func (m *module) isoClass(in *vm.Interp) *vm.Type {
	c := newClass("IsoCalendarDate", "The result of date.isocalendar() or datetime.isocalendar()\n\nThis object may be accessed either as a tuple of\n  ((year, week, weekday))\nor via the object attributes as named in the above tuple.")
	c.Bases = []*vm.Type{vm.TupleType}
	p := vm.NewParams("IsoCalendarDate", "year, week, weekday")
	c.New = func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		var y, w, d int
		if err := cInts(in, a, &y, &w, &d); err != nil {
			return nil, err
		}
		return vm.NewInstance(cls, vm.NewTuple(integer(y), integer(w), integer(d))), nil
	}
	items := func(o vm.Object) *vm.Tuple { t, _ := vm.AsTuple(o); return t }
	for i, n := range []string{"year", "week", "weekday"} {
		c.get(n, func(o vm.Object) vm.Object { return items(o).Items[i] })
	}
	c.op("__repr__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		t := items(o).Items
		n := func(i int) int64 { v, _ := vm.AsInt(t[i]); return v }
		return vm.Str(fmt.Sprintf("datetime.IsoCalendarDate(year=%d, week=%d, weekday=%d)", n(0), n(1), n(2))), nil
	})
	c.op("__reduce__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.NewTuple(vm.TupleType, vm.NewTuple(vm.NewTuple(items(o).Items...))), nil
	})
	return in.NewNativeType(c.Spec)
}

// dateArithmetic are the operators of date.
func (m *module) dateArithmetic(c *class) {
	moved := func(in *vm.Interp, self vm.Object, days int) (vm.Object, error) {
		n := must[day](self).ordinal() + days
		if n < 1 || n > maxOrdinal {
			return nil, in.Errorf(in.Exc.OverflowError, "date value out of range")
		}
		return m.giveDate(in, self.Type(), dayAt(n))
	}
	add := func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if d, ok := native[delta](a[0]); ok {
			return moved(in, self, d.days)
		}
		return vm.NotImplemented, nil
	}
	c.op("__add__", 1, add)
	c.op("__radd__", 1, add)
	c.op("__sub__", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if d, ok := native[delta](a[0]); ok {
			return moved(in, self, -d.days)
		}
		if d, ok := native[day](a[0]); ok { // a datetime knows of no dates
			return m.newDelta(delta{days: must[day](self).ordinal() - d.ordinal()}), nil
		}
		return vm.NotImplemented, nil
	})
	c.op("__rsub__", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if d, ok := native[day](a[0]); ok {
			return m.newDelta(delta{days: d.ordinal() - must[day](self).ordinal()}), nil
		}
		return vm.NotImplemented, nil
	})
	c.compare(func(_ *vm.Interp, self, o vm.Object, op string) (vm.Object, error) {
		d, ok := dayOf(o)
		if !ok {
			return vm.NotImplemented, nil
		}
		return ordered(op, must[day](self).ordinal()-d.ordinal()), nil
	})
}
