package stdlib

import (
	"encoding/binary"
	"os"
	"strings"
	"time"
)

// zoneOf is the time zone that a value of TZ names: a file of the system's, or a rule as POSIX has it ("EST+05EDT,M3.2.0,M11.1.0"). What is
// neither is UTC.
func zoneOf(tz string) *time.Location {
	name := strings.TrimPrefix(tz, ":")
	if loc, err := time.LoadLocation(name); err == nil {
		return loc
	}
	if loc, err := time.LoadLocationFromTZData(name, ruleFile(name)); err == nil {
		return loc
	}
	return time.UTC
}

// ruleFile is a file of a time zone that has nothing but a rule: RFC 8536, with an empty first part and a second one that names one type of
// local time and no transition. The rule, which stands at the end, holds for all time.
func ruleFile(rule string) []byte {
	if !strings.Contains(rule, ",") && hasSummer(rule) {
		rule += ",M3.2.0,M11.1.0" // what the C library takes it to mean
	}
	header := func(types, chars uint32) []byte {
		b := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range []uint32{0, 0, 0, 0, types, chars} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	b := append(header(1, 4), 0, 0, 0, 0, 0, 0, 'U', 'T', 'C', 0)
	b = append(append(b, header(1, 4)...), 0, 0, 0, 0, 0, 0, 'U', 'T', 'C', 0)
	return append(b, "\n"+rule+"\n"...)
}

// hasSummer says whether a rule names a second zone, behind the first one and its offset.
func hasSummer(rule string) bool {
	rest := strings.TrimLeft(rule, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return strings.TrimLeft(rest, "+-0123456789:") != ""
}

// readZone makes what TZ says the local time zone; without it, that of the system.
func readZone() {
	tz, ok := os.LookupEnv("TZ")
	if !ok {
		if loc, err := time.LoadLocation("/etc/localtime"); err == nil {
			time.Local = loc
			return
		}
		b, err := os.ReadFile("/etc/localtime")
		if err == nil {
			if loc, err := time.LoadLocationFromTZData("Local", b); err == nil {
				time.Local = loc
				return
			}
		}
	}
	time.Local = zoneOf(tz)
}
