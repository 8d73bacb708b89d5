// Package pydatetime is Python's module _datetime: date, time, datetime, timedelta, tzinfo and timezone.
//
// Values are instances whose Native is one of the structs delta, day, clock and moment; a class derived in Python holds the same. Local time
// is Go's time.Local. What needs a calendar alone is in calendar.go, texts are read in iso.go and written in format.go.
package pydatetime
