package pydatetime

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"whittle/capture/python/vm"
	"whittle/capture/python/wtf8"
)

// moment is a datetime.
type moment struct {
	day
	clock
}

const momentParams = "year=nil, month=nil, day=nil, hour=nil, minute=nil, second=nil, microsecond=nil, tzinfo=nil, *, fold=nil"

// give makes a datetime of a class by its constructor.
func (m *module) give(in *vm.Interp, cls *vm.Type, v moment) (vm.Object, error) {
	if cls == m.datetime {
		if err := v.day.check(in); err != nil {
			return nil, err
		}
		return vm.NewInstance(cls, &v), m.checked(in, &v.clock)
	}
	o, err := in.Call(cls, []vm.Object{integer(v.y), integer(v.m), integer(v.d), integer(v.h), integer(v.mi), integer(v.s), integer(v.us), v.tz}, nil)
	if err != nil {
		return nil, err
	}
	if n, ok := native[moment](o); ok && v.fold != 0 {
		n.fold = v.fold
	}
	return o, nil
}

// shift is o plus a duration, or minus it.
func (m *module) shift(in *vm.Interp, o vm.Object, d delta, sign int) (vm.Object, error) {
	v := *must[moment](o)
	sum := normal(v.ordinal()+sign*d.days, v.h*3600+v.mi*60+v.s+sign*d.secs, v.us+sign*d.micros)
	if sum.days < 1 || sum.days > maxOrdinal {
		return nil, in.Errorf(in.Exc.OverflowError, "date value out of range")
	}
	return m.give(in, o.Type(), moment{dayAt(sum.days), clock{h: sum.secs / 3600, mi: sum.secs / 60 % 60, s: sum.secs % 60, us: sum.micros, tz: v.tz}})
}

// since is the duration from w to v as their clocks show it.
func (v moment) since(w moment) delta {
	return normal(v.ordinal()-w.ordinal(), v.h*3600+v.mi*60+v.s-(w.h*3600+w.mi*60+w.s), v.us-w.us)
}

// state is the datetime in a pickle, without its tzinfo.
func (v moment) state() string { return v.day.state() + v.clock.state() }

// datetimeClass describes datetime.
func (m *module) datetimeClass() *class {
	c := newClass("datetime", "datetime(year, month, day[, hour[, minute[, second[, microsecond[,tzinfo]]]]])\n\nThe year, month and day arguments are required. tzinfo may be None, or an\ninstance of a tzinfo subclass. The remaining arguments may be ints.")
	c.Bases = []*vm.Type{m.date}
	p := vm.NewParams("", "year, month, day"+momentParams[len("year=nil, month=nil, day=nil"):])
	c.New = func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		s, fold, tz, ok, err := m.unpickle(in, args, kw, 10, 2, "datetime", func(b byte) bool { return b >= 1 && b <= 12 })
		if err != nil {
			return nil, err
		}
		if ok {
			v := moment{dayFromState(s), clockFromState(s[4:])}
			v.fold, v.tz = fold, tz
			return vm.NewInstance(cls, &v), nil
		}
		a, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		return m.build(in, cls, moment{clock: clock{tz: vm.None}}, a)
	}
	of := func(o vm.Object) *clock { return &must[moment](o).clock }
	m.clockQueries(c, of, func(o vm.Object) vm.Object { return o })
	reduces(c, 2, func(o vm.Object) (string, int, vm.Object) { return must[moment](o).state(), of(o).fold, of(o).tz })
	c.def("replace", momentParams, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		return m.build(in, self.Type(), *must[moment](self), a)
	})
	m.datetimeMakers(c)
	m.datetimeParts(c)
	m.datetimeTexts(c)
	m.datetimeZones(c)
	m.datetimeArithmetic(c)
	return c
}

// build makes a datetime of a class of v with some parts replaced.
func (m *module) build(in *vm.Interp, cls *vm.Type, v moment, a []vm.Object) (vm.Object, error) {
	if err := cInts(in, a, &v.y, &v.m, &v.d); err != nil {
		return nil, err
	}
	if err := m.fill(in, &v.clock, a[3:]); err != nil {
		return nil, err
	}
	if err := v.day.check(in); err != nil {
		return nil, err
	}
	return vm.NewInstance(cls, &v), m.checked(in, &v.clock)
}

// at makes the datetime of a time of Unix: local without a zone, else in UTC for the zone's fromutc to convert.
func (m *module) at(in *vm.Interp, cls *vm.Type, secs int64, us int, tz vm.Object) (vm.Object, error) {
	if err := m.checkZone(in, tz); err != nil {
		return nil, err
	}
	if tz == vm.None {
		_, v, _, _ := localAt(secs)
		if err := v.day.check(in); err != nil {
			return nil, err
		}
		v.us, v.tz, v.fold = us, vm.None, foldAt(secs)
		return m.give(in, cls, v)
	}
	o, err := m.utcAt(in, cls, secs, us, tz)
	if err != nil {
		return nil, err
	}
	return in.CallMethod(tz, "fromutc", o)
}

// utcAt makes the datetime that clocks in UTC show.
func (m *module) utcAt(in *vm.Interp, cls *vm.Type, secs int64, us int, tz vm.Object) (vm.Object, error) {
	v := brokenDown(time.Unix(secs, 0).UTC())
	v.us, v.tz = us, tz
	if err := v.day.check(in); err != nil {
		return nil, err
	}
	return m.give(in, cls, v)
}

// datetimeMakers are the class methods.
func (m *module) datetimeMakers(c *class) {
	now := func() (int64, int) { t := time.Now(); return t.Unix(), t.Nanosecond() / 1000 }
	c.make("now", "tz=None", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		secs, us := now()
		return m.at(in, cls, secs, us, a[0])
	})
	c.make("utcnow", "", func(in *vm.Interp, cls *vm.Type, _ []vm.Object) (vm.Object, error) {
		secs, us := now()
		return m.utcAt(in, cls, secs, us, vm.None)
	})
	c.make("fromtimestamp", "timestamp, tz=None", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		if err := m.checkZone(in, a[1]); err != nil {
			return nil, err
		}
		secs, us, err := stamp(in, a[0], math.RoundToEven)
		if err != nil {
			return nil, err
		}
		return m.at(in, cls, secs, us, a[1])
	})
	c.make("utcfromtimestamp", "timestamp, /", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		secs, us, err := stamp(in, a[0], math.RoundToEven)
		if err != nil {
			return nil, err
		}
		return m.utcAt(in, cls, secs, us, vm.None)
	})
	c.make("strptime", "date_string, format, /", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		for i, o := range a {
			if _, ok := vm.AsStr(o); !ok {
				return nil, typeIs(in, "strptime() argument %d must be str, not %s", i+1, vm.ArgName(o))
			}
		}
		lib, err := in.Import("_strptime")
		if err != nil {
			return nil, err
		}
		return in.CallMethod(lib, "_strptime_datetime", cls, a[0], a[1])
	})
	c.make("combine", "date, time, tzinfo=nil", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		d, ok := dayOf(a[0])
		if !ok {
			return nil, typeIs(in, "combine() argument 1 must be datetime.date, not %s", vm.ArgName(a[0]))
		}
		t, ok := native[clock](a[1])
		if !ok {
			return nil, typeIs(in, "combine() argument 2 must be datetime.time, not %s", vm.ArgName(a[1]))
		}
		v := moment{d, *t}
		if a[2] != nil {
			v.tz = a[2]
		}
		return m.give(in, cls, v)
	})
	c.make("fromisoformat", "string, /", func(in *vm.Interp, cls *vm.Type, a []vm.Object) (vm.Object, error) {
		s, ok := vm.AsStr(a[0])
		if !ok {
			return nil, typeIs(in, "fromisoformat: argument must be str")
		}
		d, t, ok := parseMoment(s)
		if !ok {
			return nil, badISO(in, a[0])
		}
		tz, err := m.parsedZone(in, t)
		if err != nil {
			return nil, err
		}
		t.clock.tz = tz
		return m.give(in, cls, moment{d, t.clock})
	})
}

// datetimeParts are the methods that give a part of the whole.
func (m *module) datetimeParts(c *class) {
	c.op("date", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return m.newDate(m.date, must[moment](self).day), nil
	})
	c.op("time", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := must[moment](self).clock
		v.tz = vm.None
		return vm.NewInstance(m.time, &v), nil
	})
	c.op("timetz", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := must[moment](self).clock
		return vm.NewInstance(m.time, &v), nil
	})
	c.op("timetuple", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := must[moment](self)
		dst := -1
		d, err := m.offset(in, v.tz, "dst", self)
		if err != nil {
			return nil, err
		}
		if d != nil {
			dst = map[bool]int{false: 1}[d.isZero()]
		}
		return timeTuple(in, *v, dst)
	})
	c.op("utctimetuple", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := *must[moment](self)
		off, err := m.offset(in, v.tz, "utcoffset", self)
		if err != nil {
			return nil, err
		}
		if off != nil {
			sum := v.since(moment{day: day{1, 1, 1}}).add(*off, -1)
			if sum.days < 0 || sum.days >= maxOrdinal {
				return nil, in.Errorf(in.Exc.OverflowError, "date value out of range")
			}
			v.day = dayAt(sum.days + 1)
			v.h, v.mi, v.s = sum.secs/3600, sum.secs/60%60, sum.secs%60
		}
		return timeTuple(in, v, 0)
	})
	c.op("timestamp", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := *must[moment](self)
		if v.tz == vm.None {
			secs := fromLocal(v.seconds(), v.fold) - unixDay*daySeconds
			return vm.Float(float64(secs) + float64(v.us)/1e6), nil
		}
		off, err := m.offset(in, v.tz, "utcoffset", self)
		if err != nil {
			return nil, err
		}
		if off == nil {
			return nil, typeIs(in, "can't subtract offset-naive and offset-aware datetimes")
		}
		d := v.since(moment{day: day{1970, 1, 1}}).add(*off, -1)
		f, _ := new(big.Rat).SetFrac(d.big(), million).Float64()
		return vm.Float(f), nil
	})
}

// datetimeTexts are the methods that give texts.
func (m *module) datetimeTexts(c *class) {
	of := must[moment]
	c.op("ctime", 0, func(_ *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.Str(of(self).ctime()), nil
	})
	c.def("isoformat", "sep=nil, timespec=nil", func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		sep := "T"
		if a[0] != nil {
			s, ok := vm.AsStr(a[0])
			if !ok {
				return nil, typeIs(in, "isoformat() argument 1 must be a unicode character, not %s", vm.ArgName(a[0]))
			}
			if wtf8.RuneCountInString(s) != 1 {
				return nil, typeIs(in, "isoformat() argument 1 must be a unicode character, not str")
			}
			sep = s
		}
		s, err := m.isoTime(in, &of(self).clock, a[1], self)
		return vm.Str(of(self).day.text() + sep + s), err
	})
	c.op("__str__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		return in.CallMethod(self, "isoformat", vm.Str(" "))
	})
	c.op("__repr__", 0, func(in *vm.Interp, self vm.Object, _ []vm.Object) (vm.Object, error) {
		v := of(self)
		s := fmt.Sprintf("%s(%d, %d, %d, %d, %d", m.name(self), v.y, v.m, v.d, v.h, v.mi)
		if v.us != 0 {
			s += fmt.Sprintf(", %d, %d", v.s, v.us)
		} else if v.s != 0 {
			s += fmt.Sprintf(", %d", v.s)
		}
		t, err := v.tail(in)
		return vm.Str(s + t + ")"), err
	})
	formats(c, func(in *vm.Interp, self vm.Object, f string) (vm.Object, error) {
		t, err := in.CallMethod(self, "timetuple")
		if err != nil {
			return nil, err
		}
		return m.strftime(in, self, &of(self).clock, f, t, self)
	})
}
