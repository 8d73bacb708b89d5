package pydatetime

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
)

var (
	dayNames   = strings.Fields("Mon Tue Wed Thu Fri Sat Sun")
	monthNames = strings.Fields("? Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
)

func (d day) text() string { return fmt.Sprintf("%04d-%02d-%02d", d.y, d.m, d.d) }

// ctime is the moment as C's ctime writes it.
func (v moment) ctime() string {
	return fmt.Sprintf("%s %s %2d %02d:%02d:%02d %04d", dayNames[v.weekday()], monthNames[v.m], v.d, v.h, v.mi, v.s, v.y)
}

// text is the time of day as far as spec says.
func (c clock) text(in *vm.Interp, spec string) (string, error) {
	switch spec {
	case "auto":
		if c.us == 0 {
			return fmt.Sprintf("%02d:%02d:%02d", c.h, c.mi, c.s), nil
		}
		return fmt.Sprintf("%02d:%02d:%02d.%06d", c.h, c.mi, c.s, c.us), nil
	case "hours":
		return fmt.Sprintf("%02d", c.h), nil
	case "minutes":
		return fmt.Sprintf("%02d:%02d", c.h, c.mi), nil
	case "seconds":
		return fmt.Sprintf("%02d:%02d:%02d", c.h, c.mi, c.s), nil
	case "milliseconds":
		return fmt.Sprintf("%02d:%02d:%02d.%03d", c.h, c.mi, c.s, c.us/1000), nil
	case "microseconds":
		return fmt.Sprintf("%02d:%02d:%02d.%06d", c.h, c.mi, c.s, c.us), nil
	}
	return "", in.Errorf(in.Exc.ValueError, "Unknown timespec value")
}

// isoTime is the time of day with its offset.
func (m *module) isoTime(in *vm.Interp, c *clock, spec vm.Object, arg vm.Object) (string, error) {
	name := "auto"
	if spec != nil {
		s, ok := vm.AsStr(spec)
		if !ok {
			return "", typeIs(in, "isoformat() argument 'timespec' must be str, not %s", vm.ArgName(spec))
		}
		name = s
	}
	s, err := c.text(in, name)
	if err != nil {
		return "", err
	}
	off, err := m.offset(in, c.tz, "utcoffset", arg)
	if err == nil && off != nil {
		s += off.hhmm(":")
	}
	return s, err
}

// strftime formats self, whose time tuple is given: %f, %z and %Z here, all else by time.strftime. arg is what a tzinfo is asked about.
func (m *module) strftime(in *vm.Interp, self vm.Object, c *clock, format string, tuple, arg vm.Object) (vm.Object, error) {
	if _, err := in.Encode(format, "utf-8", "strict"); err != nil {
		return nil, err
	}
	var sb strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			sb.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			sb.WriteByte('%')
			break
		}
		switch format[i] {
		case 'f':
			us := 0
			if c != nil {
				us = c.us
			}
			fmt.Fprintf(&sb, "%06d", us)
		case 'z', 'Z':
			s, err := m.zoneText(in, c, format[i], arg)
			if err != nil {
				return nil, err
			}
			sb.WriteString(s)
		default:
			sb.WriteString(format[i-1 : i+1])
		}
	}
	lib, err := in.Import("time")
	if err != nil {
		return nil, err
	}
	return in.CallMethod(lib, "strftime", vm.Str(sb.String()), tuple)
}

// zoneText is what %z and %Z stand for.
func (m *module) zoneText(in *vm.Interp, c *clock, what byte, arg vm.Object) (string, error) {
	if c == nil || c.tz == vm.None {
		return "", nil
	}
	if what == 'z' {
		off, err := m.offset(in, c.tz, "utcoffset", arg)
		if err != nil || off == nil {
			return "", err
		}
		return off.hhmm(""), nil
	}
	n, err := m.zoneName(in, c.tz, arg)
	if err != nil || n == vm.None {
		return "", err
	}
	v, err := in.CallMethod(n, "replace", vm.Str("%"), vm.Str("%%"))
	if err != nil {
		return "", err
	}
	s, ok := vm.AsStr(v)
	if !ok {
		return "", typeIs(in, "tzname.replace() did not return a string")
	}
	_, err = in.Encode(s, "utf-8", "strict")
	return s, err
}

// formats adds strftime and __format__.
func formats(c *class, strftime func(in *vm.Interp, self vm.Object, format string) (vm.Object, error)) {
	c.def("strftime", "format", func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		f, ok := vm.AsStr(a[0])
		if !ok {
			return nil, typeIs(in, "strftime() argument 1 must be str, not %s", vm.ArgName(a[0]))
		}
		return strftime(in, self, f)
	})
	c.op("__format__", 1, func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		f, ok := vm.AsStr(a[0])
		if !ok {
			return nil, typeIs(in, "__format__() argument 1 must be str, not %s", vm.ArgName(a[0]))
		}
		if f == "" {
			s, err := in.Str(self)
			return vm.Str(s), err
		}
		return in.CallMethod(self, "strftime", a[0])
	})
}

// timeTuple is a time.struct_time.
func timeTuple(in *vm.Interp, v moment, dst int) (vm.Object, error) {
	lib, err := in.Import("time")
	if err != nil {
		return nil, err
	}
	var items []vm.Object
	for _, n := range []int{v.y, v.m, v.d, v.h, v.mi, v.s, v.weekday(), v.yearDay(), dst} {
		items = append(items, integer(n))
	}
	return in.CallMethod(lib, "struct_time", vm.NewTuple(items...))
}
