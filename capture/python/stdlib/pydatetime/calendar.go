package pydatetime

import "time"

// The proleptic Gregorian calendar, day 1 being the first of January of the year 1.
const (
	minYear    = 1
	maxYear    = 9999
	maxOrdinal = 3652059
	daysIn400  = 146097
	daysIn100  = 36524
	daysIn4    = 1461
	daySeconds = 24 * 3600
	unixDay    = 719163 // the day of Unix's epoch
)

// before is how many days of a year lie before each month.
var before = [...]int{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

func isLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

func daysInMonth(y, m int) int {
	n := before[m+1] - before[m]
	if m == 2 && isLeap(y) {
		n++
	}
	return n
}

// day is a date.
type day struct{ y, m, d int }

// yearDay is the day's number within its year, from 1.
func (d day) yearDay() int {
	n := before[d.m] + d.d
	if d.m > 2 && isLeap(d.y) {
		n++
	}
	return n
}

// ordinal is the day's number.
func (d day) ordinal() int {
	y := d.y - 1
	return y*365 + y/4 - y/100 + y/400 + d.yearDay()
}

// weekday is 0 for Monday.
func (d day) weekday() int { return (d.ordinal() + 6) % 7 }

// dayAt is the day of a number of at least 1.
func dayAt(ordinal int) day {
	n := ordinal - 1
	y := n / daysIn400 * 400
	n %= daysIn400
	c := min(n/daysIn100, 3) // the last day of 400 years belongs to the last century
	y, n = y+c*100, n-c*daysIn100
	y, n = y+n/daysIn4*4, n%daysIn4
	k := min(n/365, 3)
	y, n = y+k+1, n-k*365
	m := 1
	for n >= daysInMonth(y, m) {
		n -= daysInMonth(y, m)
		m++
	}
	return day{y, m, n + 1}
}

// isoFirst is the number of the Monday with which a year of ISO 8601 begins: that of the week of the first Thursday.
func isoFirst(y int) int {
	jan1 := day{y, 1, 1}.ordinal()
	w := (jan1 + 6) % 7
	if w > 3 {
		return jan1 - w + 7
	}
	return jan1 - w
}

// iso is the day's year, week and weekday of ISO 8601, weeks and weekdays from 1.
func (d day) iso() (year, week, weekday int) {
	y, n := d.y, d.ordinal()
	switch {
	case n < isoFirst(y):
		y--
	case n >= isoFirst(y+1):
		y++
	}
	n -= isoFirst(y)
	return y, n/7 + 1, n%7 + 1
}

// isoFault says which part of a date of ISO 8601 is not a thing.
type isoFault int

const (
	isoGood isoFault = iota
	isoYear
	isoWeek
	isoWeekday
)

// fromISO is the day of a year, week and weekday.
func fromISO(year, week, weekday int) (day, isoFault) {
	if year < minYear || year > maxYear {
		return day{}, isoYear
	}
	if week < 1 || week > 53 || week == 53 && isoFirst(year)+52*7 >= isoFirst(year+1) {
		return day{}, isoWeek
	}
	if weekday < 1 || weekday > 7 {
		return day{}, isoWeekday
	}
	n := isoFirst(year) + (week-1)*7 + weekday - 1
	if n < 1 || n > maxOrdinal {
		return day{}, isoYear
	}
	return dayAt(n), isoGood
}

// seconds is a moment as seconds since day 0, without a time zone.
func (v moment) seconds() int64 {
	return int64(v.ordinal())*daySeconds + int64(v.h)*3600 + int64(v.mi)*60 + int64(v.s)
}

// localAt is what local clocks show at a time of Unix, and the zone's name and offset.
func localAt(unix int64) (y int, v moment, zone string, off int) {
	t := time.Unix(unix, 0).In(time.Local)
	zone, off = t.Zone()
	return t.Year(), brokenDown(t), zone, off
}

// brokenDown is what a clock shows.
func brokenDown(t time.Time) moment {
	return moment{day{t.Year(), int(t.Month()), t.Day()}, clock{h: t.Hour(), mi: t.Minute(), s: t.Second(), us: t.Nanosecond() / 1000}}
}

// shown is what local clocks show at a time, both as seconds since day 0.
func shown(utc int64) int64 {
	_, off := time.Unix(utc-unixDay*daySeconds, 0).In(time.Local).Zone()
	return utc + int64(off)
}

// fromLocal is when local clocks show t, both as seconds since day 0. Where they do so twice or never, fold decides: PEP 495.
func fromLocal(t int64, fold int) int64 {
	first := shown(t) - t
	u1 := t - first
	near := int64(-daySeconds)
	if fold != 0 {
		near = daySeconds
	}
	var second int64
	if shown(u1) == t {
		if second = shown(u1+near) - (u1 + near); second == first {
			return u1
		}
	} else {
		second = shown(u1) - u1
	}
	u2 := t - second
	switch {
	case shown(u2) == t:
		return u2
	case shown(u1) == t:
		return u1
	case fold != 0:
		return min(u1, u2)
	}
	return max(u1, u2)
}

// foldAt says whether local clocks show what they show at a time of Unix for the second time.
func foldAt(unix int64) int {
	u := unix + unixDay*daySeconds
	now := shown(u)
	jump := now - shown(u-daySeconds) - daySeconds
	if jump < 0 && shown(u+jump) == now {
		return 1
	}
	return 0
}
