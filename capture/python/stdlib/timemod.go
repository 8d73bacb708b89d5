package stdlib

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// clocks are the clocks of the system that a program can name.
var clocks = map[string]int{"CLOCK_REALTIME": unix.CLOCK_REALTIME, "CLOCK_MONOTONIC": unix.CLOCK_MONOTONIC, "CLOCK_PROCESS_CPUTIME_ID": unix.CLOCK_PROCESS_CPUTIME_ID,
	"CLOCK_THREAD_CPUTIME_ID": unix.CLOCK_THREAD_CPUTIME_ID, "CLOCK_MONOTONIC_RAW": unix.CLOCK_MONOTONIC_RAW, "CLOCK_BOOTTIME": unix.CLOCK_BOOTTIME, "CLOCK_TAI": unix.CLOCK_TAI}

// start is a moment, and started what CLOCK_MONOTONIC showed then, 0 where the system has none: Go reads both clocks without a call of the system.
var start, started = func() (time.Time, int64) {
	var t unix.Timespec
	now := time.Now()
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return now, 0
	}
	return now, t.Nano()
}()

// readClock is what a clock of the system shows, in nanoseconds.
func readClock(id int) (int64, error) {
	switch id {
	case unix.CLOCK_REALTIME:
		return time.Now().UnixNano(), nil
	case unix.CLOCK_MONOTONIC:
		if started != 0 {
			return started + int64(time.Since(start)), nil
		}
	}
	var t unix.Timespec
	err := unix.ClockGettime(int32(id), &t)
	return t.Nano(), err
}

// timeMod is module time while it is made.
type timeMod struct {
	*vm.Module
	tm *vm.Type
}

// timeModule is module time.
func timeModule(in *vm.Interp) (*vm.Module, error) {
	m := &timeMod{Module: in.NewModule("time", "")}
	m.tm = vm.NewStructSequence(in, "time", "struct_time", "", 9, "tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst", "tm_zone", "tm_gmtoff")
	m.Set("struct_time", m.tm)
	m.Set("_STRUCT_TM_ITEMS", vm.Int(11))
	for n, v := range clocks {
		m.Set(n, vm.MakeInt(int64(v)))
	}
	m.clocks(in)
	m.calendar()
	m.zone()
	return m.Module, nil
}

// clocks are the functions that read clocks, and sleep.
func (m *timeMod) clocks(in *vm.Interp) {
	type row struct {
		clock               string
		monotonic, adjusted bool
	}
	rows := map[string]row{"time": {"CLOCK_REALTIME", false, true}, "monotonic": {"CLOCK_MONOTONIC", true, false}, "perf_counter": {"CLOCK_MONOTONIC", true, false},
		"process_time": {"CLOCK_PROCESS_CPUTIME_ID", true, false}, "thread_time": {"CLOCK_THREAD_CPUTIME_ID", true, false}}
	for name, r := range rows {
		id := clocks[r.clock]
		clinic.Def(m.Module, name, "", func(c *clinic.Call) (vm.Object, error) {
			n, err := readClock(id)
			if err != nil {
				return nil, c.OSErr(err)
			}
			return vm.Float(float64(n) / 1e9), nil
		})
		clinic.Def(m.Module, name+"_ns", "", func(c *clinic.Call) (vm.Object, error) {
			n, err := readClock(id)
			if err != nil {
				return nil, c.OSErr(err)
			}
			return vm.MakeInt(n), nil
		})
	}
	clinic.Def(m.Module, "get_clock_info", "name:str", func(c *clinic.Call) (vm.Object, error) {
		r, ok := rows[c.Str(0)]
		if !ok {
			return nil, c.Errorf(c.Exc.ValueError, "unknown clock")
		}
		return newNamespace(c.Interp, "implementation", vm.Str("clock_gettime("+r.clock+")"), "monotonic", vm.MakeBool(r.monotonic), "adjustable", vm.MakeBool(r.adjusted),
			"resolution", vm.Float(1e-9)), nil
	})
	clockOf := func(c *clinic.Call, f func(int64) vm.Object) (vm.Object, error) {
		n, err := readClock(int(c.Int(0)))
		if err != nil {
			return nil, c.OSErr(err)
		}
		return f(n), nil
	}
	seconds := func(n int64) vm.Object { return vm.Float(float64(n) / 1e9) }
	clinic.Def(m.Module, "clock_gettime", "clk_id:int, /", func(c *clinic.Call) (vm.Object, error) { return clockOf(c, seconds) })
	clinic.Def(m.Module, "clock_gettime_ns", "clk_id:int, /", func(c *clinic.Call) (vm.Object, error) { return clockOf(c, vm.MakeInt) })
	clinic.Def(m.Module, "clock_getres", "clk_id:int, /", func(c *clinic.Call) (vm.Object, error) {
		var t unix.Timespec
		if err := unix.ClockGetres(int32(c.Int(0)), &t); err != nil {
			return nil, c.OSErr(err)
		}
		return seconds(t.Nano()), nil
	})
	clinic.Def(m.Module, "clock_settime", "clk_id:int, time:float, /", func(c *clinic.Call) (vm.Object, error) {
		t := unix.NsecToTimespec(int64(c.Float(1) * 1e9))
		return c.Do(unix.ClockSettime(int32(c.Int(0)), &t))
	})
	clinic.Def(m.Module, "sleep", "secs, /", func(c *clinic.Call) (vm.Object, error) {
		s, err := c.Interp.Float(c.Args[0])
		switch {
		case err != nil && c.Matches(err, c.Exc.TypeError):
			return nil, c.Errorf(c.Exc.TypeError, "'%s' object cannot be interpreted as an integer", vm.TypeName(c.Args[0]))
		case err != nil:
			return nil, err
		case s < 0:
			return nil, c.Errorf(c.Exc.ValueError, "sleep length must be non-negative")
		case s != s:
			return nil, c.Errorf(c.Exc.ValueError, "Invalid value NaN (not a number)")
		case s > float64(math.MaxInt64/1e9):
			return nil, c.Errorf(c.Exc.OverflowError, "timestamp too large to convert to C _PyTime_t")
		}
		_ = c.Flush()
		return vm.None, signalsOf(c.Interp).pause(time.Duration(s * float64(time.Second)))
	})
}

// tmValue is a struct_time.
func (m *timeMod) tmValue(t time.Time) vm.Object {
	zone, off := t.Zone()
	dst := int64(0)
	if t.IsDST() {
		dst = 1
	}
	n := func(i int) vm.Object { return vm.MakeInt(int64(i)) }
	return vm.NewStructValue(m.tm, n(t.Year()), n(int(t.Month())), n(t.Day()), n(t.Hour()), n(t.Minute()), n(t.Second()), n((int(t.Weekday())+6)%7), n(t.YearDay()), vm.MakeInt(dst),
		vm.Str(zone), n(off))
}

// moment is an optional argument of seconds: now for None.
func moment(c *clinic.Call, i int) (time.Time, error) {
	if c.None(i) {
		return time.Now(), nil
	}
	if b, ok := vm.AsBig(c.Args[i]); ok {
		if !b.IsInt64() || new(big.Int).Abs(b).BitLen() > 55 {
			return time.Time{}, c.Errorf(c.Exc.OverflowError, "timestamp out of range for platform time_t")
		}
		return time.Unix(b.Int64(), 0), nil
	}
	f, err := c.Interp.Float(c.Args[i])
	if err != nil {
		return time.Time{}, err
	}
	if f != f {
		return time.Time{}, c.Errorf(c.Exc.ValueError, "Invalid value NaN (not a number)")
	}
	if math.Abs(f) > 1<<55 {
		return time.Time{}, c.Errorf(c.Exc.OverflowError, "timestamp out of range for platform time_t")
	}
	return time.Unix(int64(math.Floor(f)), 0), nil
}

// tm is a broken-down time as C has it: years from 1900 aside, the numbers that a struct_time shows.
type tm struct {
	year, mon, day, hour, min, sec, wday, yday, isdst int64
	zone                                              string
	off                                               int64
}

// tmOf reads a tuple of nine numbers.
func (m *timeMod) tmOf(c *clinic.Call, i int, fn string) (tm, error) {
	t, ok := vm.AsTuple(c.Args[i])
	if !ok {
		return tm{}, c.Errorf(c.Exc.TypeError, "Tuple or struct_time argument required")
	}
	if len(t.Items) != 9 {
		return tm{}, c.Errorf(c.Exc.TypeError, "%s(): illegal time tuple argument", fn)
	}
	var v [9]int64
	for k, o := range t.Items {
		n, err := c.Index(o)
		if err != nil {
			return tm{}, err
		}
		if n != int64(int32(n)) {
			return tm{}, c.Errorf(c.Exc.OverflowError, "signed integer is greater than maximum")
		}
		v[k] = n
	}
	out := tm{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], "", 0}
	at := out.time()
	out.zone = at.Format("MST")
	_, off := at.Zone()
	out.off = int64(off)
	if c.Args[i].Type() == m.tm {
		if z, err := c.GetAttr(c.Args[i], "tm_zone"); err == nil && z != vm.None {
			out.zone = str(z)
		}
		if z, err := c.GetAttr(c.Args[i], "tm_gmtoff"); err == nil {
			if n, ok := vm.AsInt(z); ok {
				out.off = n
			}
		}
	}
	return out, nil
}

// time is the moment in local time.
func (t tm) time() time.Time {
	return time.Date(int(t.year), time.Month(t.mon), int(t.day), int(t.hour), int(t.min), int(t.sec), 0, time.Local)
}

// check refuses what C's functions do not define, and takes 0 for the first month, day and day of the year.
func (t *tm) check(c *clinic.Call) error {
	for _, f := range []*int64{&t.mon, &t.day, &t.yday} {
		if *f == 0 {
			*f = 1
		}
	}
	t.wday = (t.wday + 1) % 7
	for _, r := range []struct {
		v, lo, hi int64
		what      string
	}{{t.mon, 1, 12, "month out of range"}, {t.day, 1, 31, "day of month out of range"}, {t.hour, 0, 23, "hour out of range"}, {t.min, 0, 59, "minute out of range"},
		{t.sec, 0, 61, "seconds out of range"}, {t.wday, 0, math.MaxInt32, "day of week out of range"}, {t.yday, 1, 366, "day of year out of range"}} {
		if r.v < r.lo || r.v > r.hi {
			return c.Errorf(c.Exc.ValueError, "%s", r.what)
		}
	}
	t.isdst = max(-1, min(1, t.isdst))
	return nil
}

var (
	dayNames   = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")
	monthNames = strings.Fields("January February March April May June July August September October November December")
)

func (t tm) asctime() string {
	return fmt.Sprintf("%s %s%3d %.2d:%.2d:%.2d %d", dayNames[t.wday][:3], monthNames[t.mon-1][:3], t.day, t.hour, t.min, t.sec, t.year)
}

// calendar are the functions between seconds, broken-down times and texts.
func (m *timeMod) calendar() {
	clinic.Def(m.Module, "localtime", "secs=None, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := moment(c, 0)
		if err != nil {
			return nil, err
		}
		return m.tmValue(t.Local()), nil
	})
	clinic.Def(m.Module, "gmtime", "secs=None, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := moment(c, 0)
		if err != nil {
			return nil, err
		}
		return m.tmValue(t.In(time.FixedZone("GMT", 0))), nil
	})
	clinic.Def(m.Module, "mktime", "tuple, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := m.tmOf(c, 0, "mktime")
		if err != nil {
			return nil, err
		}
		return vm.Float(t.time().Unix()), nil
	})
	given := func(c *clinic.Call, i int, fn string) (tm, error) {
		if c.None(i) {
			now := time.Now()
			zone, off := now.Zone()
			return tm{int64(now.Year()), int64(now.Month()), int64(now.Day()), int64(now.Hour()), int64(now.Minute()), int64(now.Second()), int64(now.Weekday()),
				int64(now.YearDay()), 0, zone, int64(off)}, nil
		}
		t, err := m.tmOf(c, i, fn)
		if err == nil {
			err = t.check(c)
		}
		return t, err
	}
	clinic.Def(m.Module, "asctime", "tuple=None, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := given(c, 0, "asctime")
		if err != nil {
			return nil, err
		}
		return vm.Str(t.asctime()), nil
	})
	clinic.Def(m.Module, "ctime", "secs=None, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := moment(c, 0)
		if err != nil {
			return nil, err
		}
		t = t.Local()
		return vm.Str(tm{int64(t.Year()), int64(t.Month()), int64(t.Day()), int64(t.Hour()), int64(t.Minute()), int64(t.Second()), int64(t.Weekday()), 1, 0, "", 0}.asctime()), nil
	})
	clinic.Def(m.Module, "strftime", "format:str, tuple=None, /", func(c *clinic.Call) (vm.Object, error) {
		t, err := given(c, 1, "strftime")
		if err != nil {
			return nil, err
		}
		if strings.IndexByte(c.Str(0), 0) >= 0 {
			return nil, c.Errorf(c.Exc.ValueError, "embedded null character")
		}
		return vm.Str(t.strftime(c.Str(0))), nil
	})
	clinic.Def(m.Module, "strptime", "string, format=\"%a %b %d %H:%M:%S %Y\", /", func(c *clinic.Call) (vm.Object, error) {
		lib, err := c.Import("_strptime")
		if err != nil {
			return nil, err
		}
		return c.CallMethod(lib, "_strptime_time", c.Args...)
	})
}

// strftime formats as the C library does in the locale C.
func (t tm) strftime(format string) string {
	var sb strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 >= len(format) {
			sb.WriteByte(format[i])
			continue
		}
		start := i
		i++
		pad := byte(0)
		for i < len(format) && strings.IndexByte("-_0^#", format[i]) >= 0 {
			pad = format[i]
			i++
		}
		for i+1 < len(format) && (format[i] == 'E' || format[i] == 'O') {
			i++
		}
		if i >= len(format) {
			sb.WriteString(format[start:])
			break
		}
		s, ok := t.directive(format[i])
		if !ok {
			sb.WriteString(format[start : i+1])
			continue
		}
		switch pad {
		case '-':
			if trimmed := strings.TrimLeft(s, "0 "); trimmed != "" {
				s = trimmed
			} else {
				s = "0"
			}
		case '_':
			n := len(s) - len(strings.TrimLeft(s, "0"))
			s = strings.Repeat(" ", min(n, len(s)-1)) + s[min(n, len(s)-1):]
		case '^':
			s = strings.ToUpper(s)
		}
		sb.WriteString(s)
	}
	return sb.String()
}

// week is the number of the week of the year, whose first day of the week is 0 for Sunday and 1 for Monday.
func (t tm) week(first int64) int64 { return (t.yday - 1 + 7 - (t.wday-first+7)%7) / 7 }

// directive is what one letter stands for.
func (t tm) directive(d byte) (string, bool) {
	two := func(n int64) (string, bool) { return fmt.Sprintf("%02d", n), true }
	hour12 := (t.hour+11)%12 + 1
	isoYear, isoWeek := time.Date(int(t.year), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(t.yday-1)).ISOWeek()
	switch d {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'a':
		return dayNames[t.wday][:3], true
	case 'A':
		return dayNames[t.wday], true
	case 'b', 'h':
		return monthNames[t.mon-1][:3], true
	case 'B':
		return monthNames[t.mon-1], true
	case 'c':
		return fmt.Sprintf("%s %s %2d %02d:%02d:%02d %d", dayNames[t.wday][:3], monthNames[t.mon-1][:3], t.day, t.hour, t.min, t.sec, t.year), true
	case 'C':
		return two(t.year / 100)
	case 'd':
		return two(t.day)
	case 'D', 'x':
		return fmt.Sprintf("%02d/%02d/%02d", t.mon, t.day, ((t.year%100)+100)%100), true
	case 'e':
		return fmt.Sprintf("%2d", t.day), true
	case 'F':
		return fmt.Sprintf("%d-%02d-%02d", t.year, t.mon, t.day), true
	case 'g':
		return two(int64(isoYear % 100))
	case 'G':
		return fmt.Sprint(isoYear), true
	case 'H':
		return two(t.hour)
	case 'I':
		return two(hour12)
	case 'j':
		return fmt.Sprintf("%03d", t.yday), true
	case 'k':
		return fmt.Sprintf("%2d", t.hour), true
	case 'l':
		return fmt.Sprintf("%2d", hour12), true
	case 'm':
		return two(t.mon)
	case 'M':
		return two(t.min)
	case 'p':
		return map[bool]string{false: "AM", true: "PM"}[t.hour >= 12], true
	case 'P':
		return map[bool]string{false: "am", true: "pm"}[t.hour >= 12], true
	case 'r':
		return fmt.Sprintf("%02d:%02d:%02d %s", hour12, t.min, t.sec, map[bool]string{false: "AM", true: "PM"}[t.hour >= 12]), true
	case 'R':
		return fmt.Sprintf("%02d:%02d", t.hour, t.min), true
	case 's':
		return fmt.Sprint(t.time().Unix()), true
	case 'S':
		return two(t.sec)
	case 'T', 'X':
		return fmt.Sprintf("%02d:%02d:%02d", t.hour, t.min, t.sec), true
	case 'u':
		return fmt.Sprint((t.wday+6)%7 + 1), true
	case 'w':
		return fmt.Sprint(t.wday), true
	case 'U':
		return two(t.week(0))
	case 'W':
		return two(t.week(1))
	case 'V':
		return two(int64(isoWeek))
	case 'y':
		return two(((t.year % 100) + 100) % 100)
	case 'Y':
		return fmt.Sprint(t.year), true
	case 'z':
		sign, off := '+', t.off
		if off < 0 {
			sign, off = '-', -off
		}
		return fmt.Sprintf("%c%02d%02d", sign, off/3600, off/60%60), true
	case 'Z':
		return t.zone, true
	}
	return "", false
}

// zone sets what the module says of the time zone, and tzset, which reads TZ anew.
func (m *timeMod) zone() {
	set := func() {
		year := time.Now().Year()
		winter, summer := time.Date(year, 1, 1, 0, 0, 0, 0, time.Local), time.Date(year, 7, 1, 0, 0, 0, 0, time.Local)
		if winter.IsDST() {
			winter, summer = summer, winter
		}
		wz, wo := winter.Zone()
		sz, so := summer.Zone()
		m.Set("timezone", vm.MakeInt(int64(-wo)))
		m.Set("altzone", vm.MakeInt(int64(-so)))
		m.Set("daylight", vm.MakeInt(map[bool]int64{true: 1}[wo != so]))
		m.Set("tzname", vm.NewTuple(vm.Str(wz), vm.Str(sz)))
	}
	set()
	clinic.Def(m.Module, "tzset", "", func(*clinic.Call) (vm.Object, error) {
		readZone()
		set()
		return vm.None, nil
	})
}
