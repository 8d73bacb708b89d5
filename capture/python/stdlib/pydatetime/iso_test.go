package pydatetime

import "testing"

// FuzzISO reads anything without a panic, and days that are there come back from their texts.
func FuzzISO(f *testing.F) {
	for _, s := range []string{"2020-01-02T03:04:05.678+09:00", "2020W012", "20200102", "2020-W01-2T03", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, _, ok := parseMoment(s)
		if !ok || d.m < 1 || d.m > 12 || d.y < minYear || d.d < 1 || d.d > daysInMonth(d.y, d.m) {
			return
		}
		if back, ok := parseDay([]rune(d.text())); !ok || back != d || dayAt(d.ordinal()) != d {
			t.Errorf("%q: %v, back %v", s, d, back)
		}
	})
}
