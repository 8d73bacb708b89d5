package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine is noise as measurements on real machines have it: repeats with a long right tail, whole processes that are disturbed, and nights whose
// differences are heavy-tailed and correlated.
type machine struct {
	r     *rand.Rand
	night float64 // the present night's, as a logarithm
	sd    float64 // of nights
	rep   float64 // of repeats
}

func newMachine(seed uint64, sd, rep float64) *machine {
	return &machine{r: rand.New(rand.NewPCG(seed, 1)), sd: sd, rep: rep}
}

// student is Student's t with 5 degrees of freedom and a standard deviation of 1.
func (m *machine) student() float64 {
	sum := 0.0
	for range 5 {
		x := m.r.NormFloat64()
		sum += x * x
	}
	return m.r.NormFloat64() / math.Sqrt(sum/5) / math.Sqrt(5.0/3)
}

func (m *machine) next() { m.night = 0.5*m.night + math.Sqrt(1-0.25)*m.sd*m.student() }

// measure is one process with nine repeats of a figure.
func (m *machine) measure(value float64) Point {
	off := m.night + m.rep/4*m.r.NormFloat64()
	if m.r.IntN(30) == 0 {
		off += 0.15 * m.r.Float64() // something else ran
	}
	s := make([]float64, 9)
	for i := range s {
		s[i] = value * math.Exp(off+m.rep*m.r.NormFloat64())
		if m.r.IntN(20) == 0 {
			s[i] *= 1.3
		}
	}
	return NewPoint(s)
}

// add measures a night as the bot does: what is doubtful twice more, and then the nearest counts.
func (m *machine) add(points []Point, value float64, o Options) []Point {
	m.next()
	p := m.measure(value)
	if Doubtful(append(slices.Clip(points), p), o) {
		all := []Point{p, m.measure(value), m.measure(value)}
		p = all[Nearest(points, all, o)]
	}
	return append(points, p)
}

// TestQuiet: a hundred quiet nights of fifty series give at most one false alarm.
func TestQuiet(t *testing.T) {
	const series, nights = 50, 100
	o := Options{Series: series}
	total := 0
	seeds := uint64(2)
	for seed := range seeds {
		alarms := 0
		for s := range uint64(series) {
			m := newMachine(seed*1000+s, 0.008, 0.02)
			var points []Point
			for range nights {
				points = m.add(points, 1.7, o)
			}
			alarms += len(Scan(points, o))
			if tr, ok := FindTrend(points, 1e3, o); ok {
				t.Logf("a trend where there is none: %+v", tr)
				alarms++
			}
		}
		if alarms > 1 {
			t.Errorf("%d false alarms in %d quiet nights of %d series, seed %d", alarms, nights, series, seed)
		}
		total += alarms
	}
	t.Logf("%d false alarms in %d nights of %d series", total, nights*int(seeds), series)
}

// TestSlower: a slowdown of 8 % with repeats that vary by 2 % is found on the night when it arrives, or the next, nine times in ten.
func TestSlower(t *testing.T) {
	o := Options{Series: 50}
	var late, inTime, within int
	const runs = 200
	for seed := range uint64(runs) {
		m := newMachine(7000+seed, 0.004, 0.02)
		var points []Point
		for range 30 {
			points = m.add(points, 1.7, o)
		}
		for range 2 {
			points = m.add(points, 1.7*1.08, o)
		}
		all := Scan(points, o)
		switch {
		case len(all) == 1 && all[0].Found >= 30:
			inTime++
			if all[0].Low < 1.08 && 1.08 < all[0].High {
				within++
			}
			if all[0].At < 29 {
				t.Errorf("seed %d: placed at %d", seed, all[0].At)
			}
		default:
			late++
		}
	}
	t.Logf("found in time: %d of %d; the interval has the truth in %d", inTime, runs, within)
	if inTime < runs*9/10 || within < inTime*9/10 {
		t.Errorf("found in time: %d of %d; the interval has the truth in %d", inTime, runs, within)
	}
}

func quiet(n int, value float64) []Point {
	var out []Point
	for i := range n {
		out = append(out, Point{value * (1 + 0.004*float64(i%3-1)), 0.01 * value, 9})
	}
	return out
}

func TestScan(t *testing.T) {
	flat := quiet(20, 2)
	for _, c := range []struct {
		name   string
		points []Point
		o      Options
		want   [][2]int // At and Found
	}{
		{"nothing", nil, Options{}, nil},
		{"one", quiet(1, 1), Options{}, nil},
		{"quiet", quiet(60, 3), Options{}, nil},
		{"doubled", slices.Concat(flat, quiet(5, 4)), Options{}, [][2]int{{20, 20}}},
		{"doubled and back", slices.Concat(flat, quiet(6, 4), quiet(6, 2)), Options{}, [][2]int{{20, 20}, {26, 26}}},
		{"an outlier and back is two changes: each night was measured three times", slices.Concat(flat, quiet(1, 8), flat), Options{}, [][2]int{{20, 20}, {21, 21}}},
		{"too small to matter", slices.Concat(quiet(60, 2), quiet(60, 2.01)), Options{}, nil},
		{"small and lasting", slices.Concat(quiet(60, 2), quiet(16, 2.08)), Options{Series: 50}, [][2]int{{60, 61}}},
		{"counts", []Point{{Value: 2}, {Value: 2}, {Value: 3}, {Value: 3}, {Value: 0}}, Options{Scale: Whole}, [][2]int{{2, 2}, {4, 4}}},
		{"counts that vary", []Point{{Value: 2}, {Value: 4}, {Value: 3}, {Value: 2}, {Value: 4}}, Options{Scale: Whole}, [][2]int{{1, 1}, {2, 2}, {3, 3}, {4, 4}}},
		{"zero", slices.Concat(quiet(20, 0), quiet(3, 1e-3)), Options{}, [][2]int{{20, 20}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got [][2]int
			for _, x := range Scan(c.points, c.o) {
				got = append(got, [2]int{x.At, x.Found})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestScanNeverLooksAhead: what is said of a night does not change when more nights come.
func TestScanNeverLooksAhead(t *testing.T) {
	m := newMachine(5, 0.01, 0.02)
	var points []Point
	for i := range 60 {
		points = m.add(points, 1+0.2*float64(i/20), Options{})
	}
	whole := Scan(points, Options{})
	if len(whole) < 2 {
		t.Fatalf("found %v of two changes", whole)
	}
	for n := range points {
		var want []Change
		for _, c := range whole {
			if c.Found < n {
				want = append(want, c)
			}
		}
		if d := cmp.Diff(want, Scan(points[:n], Options{})); d != "" {
			t.Fatalf("after %d nights: %s", n, d)
		}
	}
}

func TestFindTrend(t *testing.T) {
	grow := func(n int, from, by float64) []Point {
		var out []Point
		for range n {
			out = append(out, Point{from, 0, 1})
			from *= by
		}
		return out
	}
	for _, c := range []struct {
		name   string
		points []Point
		limit  float64
		want   Trend
		ok     bool
	}{
		{"steady", grow(6, 0.2, 1.08), 1, Trend{Since: 0, Nightly: 1.08, Nights: 16}, true},
		{"after quiet nights", slices.Concat(quiet(20, 0.2), grow(6, 0.2*1.08, 1.08)), 1, Trend{Since: 20, Nightly: 1.08, Nights: 15}, true},
		{"flat", quiet(20, 0.2), 1, Trend{}, false},
		{"down", grow(10, 0.5, 0.9), 1, Trend{}, false},
		{"a step", slices.Concat(quiet(6, 0.2), quiet(6, 0.4)), 1, Trend{}, false},
		{"past the limit", grow(6, 1.2, 1.08), 1, Trend{}, false},
		{"too slow to matter", grow(30, 1e-6, 1.02), 1, Trend{}, false},
		{"too few", grow(5, 0.2, 1.08), 1, Trend{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := FindTrend(c.points, c.limit, Options{Series: 50})
			if got.Nightly = math.Round(got.Nightly*1000) / 1000; ok != c.ok {
				t.Fatalf("%v: %+v", ok, got)
			}
			got.P = 0
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// FuzzScan: no series of figures makes it fail, and what it says is in order.
func FuzzScan(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 200, 200, 200}, true)
	f.Add([]byte{0, 0, 0, 9, 9}, false)
	f.Fuzz(func(t *testing.T, b []byte, whole bool) {
		var points []Point
		for _, x := range b {
			points = append(points, Point{float64(x) * float64(x), float64(x % 7), int(x % 5)})
		}
		o := Options{}
		if whole {
			o.Scale = Whole
		}
		last := -1
		for _, c := range Scan(points, o) {
			if c.Found <= last || c.At > c.Found || c.P < 0 || c.P > 1 {
				t.Fatalf("%+v after %d", c, last)
			}
			last = c.Found
		}
		Doubtful(points, o)
		FindTrend(points, 1, o)
	})
}

func BenchmarkScan(b *testing.B) {
	m := newMachine(1, 0.01, 0.02)
	var points []Point
	for range 365 {
		points = append(points, m.measure(1))
	}
	b.ResetTimer()
	for b.Loop() {
		Scan(points, Options{Series: 50})
	}
}
