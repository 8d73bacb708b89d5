package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Scale is how two values of a figure are compared.
type Scale int

// The scales.
const (
	Ratio Scale = iota // by their ratio: times, sizes, errors; above 0
	Whole              // numbers that are the same every night: graph breaks
)

// Point is a figure in one night.
type Point struct {
	Value  float64 // the median of its samples, in the figure's own unit
	Spread float64 // their median absolute deviation, likewise
	Count  int     // how many there were
}

// NewPoint is the point of some samples, of which there is at least one.
func NewPoint(samples []float64) Point {
	m := median(samples)
	off := make([]float64, len(samples))
	for i, x := range samples {
		off[i] = math.Abs(x - m)
	}
	return Point{m, median(off), len(samples)}
}

// Options say how sure a change has to be. The zero value is what package documentation describes, for one series.
type Options struct {
	Scale    Scale
	Alarms   float64 // false alarms that are expected in a night, over all series; 0 => 0.005
	Series   int     // that share Alarms; 0 => 1
	Prior    float64 // standard deviation between quiet nights, as a share of the value, before nights say; 0 => 0.02
	Smallest float64 // a ratio nearer to 1 than this is no change; 0 => 0.03
	Floor    float64 // values below are taken for this one: zero has no ratio; 0 => 1e-12
	Tail     float64 // degrees of freedom of the noise between nights, above 2; 0 => 5
}

func (o Options) filled() Options {
	def := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Alarms, 0.005)
	def(&o.Prior, 0.02)
	def(&o.Smallest, 0.03)
	def(&o.Floor, 1e-12)
	def(&o.Tail, 5)
	o.Series = max(o.Series, 1)
	return o
}

// Change is a place where a figure went to another level.
type Change struct {
	At     int     // the first point of the new level
	Found  int     // the point that showed it: At, or a later one
	Before float64 // the level before: a median
	After  float64 // the level since, as far as it was seen when it was found
	Low    float64 // of a 95 % confidence interval for After/Before; NaN where Before is 0
	High   float64
	P      float64 // that noise alone would look like this, in this night and this series
}

// windows are how many nights at the end are held against those before, and what share of a series' false alarms each may spend.
var windows = []struct {
	nights int
	share  float64
}{{1, 0.3}, {2, 0.45}, {4, 0.1}, {8, 0.1}, {16, 0.05}}

const (
	fewest = 3  // nights before anything can be said to differ from them
	most   = 60 // nights of a level that are looked at: older ones say little about tonight
)

// Scan finds the changes of a series, whose points are in the order of the nights. What it says of a night depends on that night and those
// before, and on nothing later.
func Scan(points []Point, o Options) []Change {
	o = o.filled()
	var out []Change
	begin, noise := 0, carried{o.Prior, 2}
	for t := range points {
		c, ok := o.look(points, begin, t, noise, 1)
		if !ok {
			continue
		}
		if b, ok := o.level(points[max(begin, c.At-most):c.At], noise); ok {
			noise = carried{b.sd, min(b.free, 10)}
		}
		out = append(out, c)
		begin = c.At
	}
	return out
}

// Doubtful reports whether the last point of a series looks enough like a change for it to be measured again before it counts: twenty times as
// readily as Scan says that it is one.
func Doubtful(points []Point, o Options) bool {
	o = o.filled()
	if len(points) == 0 {
		return false
	}
	begin, noise := lastLevel(points[:len(points)-1], o)
	_, ok := o.look(points, begin, len(points)-1, noise, 20)
	return ok
}

// Nearest is the measurement that counts for a night that was measured more than once: the one nearest to the level of the nights before. A
// change has to show in each of them. Without nights before it is the one in the middle.
func Nearest(before []Point, measured []Point, o Options) int {
	o = o.filled()
	begin, _ := lastLevel(before, o)
	values := o.values(before[begin:])
	if len(values) == 0 {
		values = o.values(measured)
	}
	at := median(values)
	best := 0
	for i, m := range measured {
		if math.Abs(o.value(m)-at) < math.Abs(o.value(measured[best])-at) {
			best = i
		}
	}
	return best
}

// lastLevel is where the last level of a series begins, and the noise that was seen before.
func lastLevel(points []Point, o Options) (begin int, noise carried) {
	noise = carried{o.Prior, 2}
	for t := range points {
		if c, ok := o.look(points, begin, t, noise, 1); ok {
			if b, ok := o.level(points[max(begin, c.At-most):c.At], noise); ok {
				noise = carried{b.sd, min(b.free, 10)}
			}
			begin = c.At
		}
	}
	return begin, noise
}

// carried is what is taken to be known of the noise before a level has nights of its own.
type carried struct {
	sd     float64
	weight float64 // in nights
}

// value is a point on the scale on which noise adds up.
func (o Options) value(p Point) float64 {
	if o.Scale == Whole {
		return p.Value
	}
	return math.Log(max(p.Value, o.Floor))
}

func (o Options) values(points []Point) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = o.value(p)
	}
	return out
}

// level is what the quiet nights of one level say.
type level struct {
	at   float64 // their median, on the scale of Options.value
	sd   float64 // of one night
	free float64 // degrees of freedom of sd
	next float64 // correlation of a night with the next
	n    float64 // nights
}

// level estimates a level. The standard deviation is that of deviations from the median, cut off at three times what their own median says
// (winsorised: Huber, Robust Statistics, 1981, 1.7), joined with what was known before as by an inverse gamma prior.
func (o Options) level(points []Point, known carried) (level, bool) {
	if len(points) == 0 || len(points) < fewest && known.weight < fewest {
		return level{}, false
	}
	values := o.values(points)
	l := level{at: median(values), n: float64(len(values))}
	off, within := make([]float64, len(values)), 0.0
	for i, v := range values {
		off[i] = math.Abs(v - l.at)
		within += o.within(points[i])
	}
	cut := 3 * max(1.4826*median(off), known.sd/4)
	sum, cross := known.weight*known.sd*known.sd, 0.0
	for i, v := range values {
		v = min(max(v-l.at, -cut), cut)
		off[i] = v
		sum += v * v
		if i > 0 {
			cross += v * off[i-1]
		}
	}
	l.free = known.weight + l.n - 1
	l.sd = max(math.Sqrt(sum/l.free), math.Sqrt(within/l.n))
	// The correlation is drawn to 0.5 with the weight of twenty nights: few nights say nothing about it.
	r := 0.0
	if own := sum - known.weight*known.sd*known.sd; own > 0 {
		r = cross / own
	}
	l.next = min(max((l.n*r+20*0.5)/(l.n+20), 0.2), 0.9)
	return l, true
}

// within is the variance of a night's median by its own repeats: 1.4826 MAD for the standard deviation of a repeat, and pi/2 for what a median
// loses against a mean.
func (o Options) within(p Point) float64 {
	if p.Count < 2 || p.Value <= 0 {
		return 0
	}
	sd := 1.4826 * p.Spread / max(p.Value, o.Floor)
	return sd * sd * math.Pi / 2 / float64(p.Count)
}

// inflation is how much more the mean of n nights varies than if they were independent, for a correlation of r from night to night.
func inflation(n, r float64) float64 {
	f := 1.0
	for k := 1.0; k < n && k < most; k++ {
		f += 2 * (1 - k/n) * math.Pow(r, k)
	}
	return f
}

// look holds the points that end with t against those of the level before them. leniency multiplies the false alarms that may be spent.
func (o Options) look(points []Point, begin, t int, known carried, leniency float64) (Change, bool) {
	if o.Scale == Whole {
		return o.lookWhole(points, begin, t)
	}
	best, found := Change{P: 1}, false
	budget := leniency * o.Alarms / float64(o.Series)
	for _, w := range windows {
		from := t + 1 - w.nights
		l, ok := o.level(points[min(max(begin, from-most), max(from, 0)):max(from, 0)], known)
		if from < begin || !ok {
			break
		}
		p, shift := o.compare(l, points[from:t+1])
		if p < w.share*budget && p < best.P && math.Abs(shift) >= math.Log1p(o.Smallest)*0.999 {
			best, found = o.change(l, points, from, t, p), true
		}
	}
	return best, found
}

// compare is the probability that the last nights differ as they do from a level that has not changed, and by how much they do. Of one or two
// nights that is the one nearest to the level, so that an outlier does not carry its neighbour; of more it is the mean, of which an outlier moves
// no more than three standard deviations.
func (o Options) compare(l level, last []Point) (p, shift float64) {
	n := float64(len(last))
	tail := distuv.StudentsT{Sigma: 1, Nu: min(o.Tail, l.free)}
	unit := math.Sqrt(tail.Nu / max(tail.Nu-2, 0.5)) // from standard deviations to the distribution's own unit
	bulk := distuv.StudentsT{Sigma: 1, Nu: l.free}
	base := inflation(l.n, l.next) / l.n
	if len(last) <= 2 {
		shift = o.value(last[0]) - l.at
		for _, q := range last[1:] {
			d := o.value(q) - l.at
			if d*shift <= 0 {
				return 1, 0
			}
			if math.Abs(d) < math.Abs(shift) {
				shift = d
			}
		}
		sd := math.Sqrt(max(l.sd*l.sd, o.within(last[len(last)-1])) + l.sd*l.sd*base)
		z := math.Abs(shift) / sd
		if len(last) == 1 {
			return 2 * tail.Survival(z*unit), shift
		}
		// Either one disturbance that lasts, of which the second night has only a part; or two nights that are both off.
		return 2 * (tail.Survival(z/l.next*unit) + bulk.Survival(z/math.Sqrt((1+l.next)/2))), shift
	}
	sum := 0.0
	for _, q := range last {
		d := o.value(q) - l.at
		shift += d / n
		sum += min(max(d, -3*l.sd), 3*l.sd)
	}
	sd := l.sd * math.Sqrt(inflation(n, l.next)/n+base)
	return 2 * bulk.Survival(math.Abs(sum/n)/sd), shift
}

// change describes a change whose new level begins at from, or after it where its first points are still nearer to the old one.
func (o Options) change(l level, points []Point, from, t int, p float64) Change {
	after := median(o.values(points[from : t+1]))
	for from < t && math.Abs(o.value(points[from])-l.at) < math.Abs(o.value(points[from])-after) {
		from++
	}
	after = median(o.values(points[from : t+1]))
	n := float64(t + 1 - from)
	sd := l.sd * math.Sqrt(inflation(n, l.next)/n+inflation(l.n, l.next)/l.n)
	half := distuv.StudentsT{Sigma: 1, Nu: l.free}.Quantile(0.975) * sd
	return Change{At: from, Found: t, Before: math.Exp(l.at), After: math.Exp(after), Low: math.Exp(after - l.at - half), High: math.Exp(after - l.at + half), P: p}
}

// lookWhole compares numbers that do not vary: one that the level never had is a change. Its probability is that of a new extreme among so many
// nights if all orders are equally likely (conformal prediction: Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005).
func (o Options) lookWhole(points []Point, begin, t int) (Change, bool) {
	level := points[max(begin, t-most):t]
	if len(level) == 0 {
		return Change{}, false
	}
	v := points[t].Value
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range level {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	if v >= low && v <= high {
		return Change{}, false
	}
	before := median(o.values(level))
	c := Change{At: t, Found: t, Before: before, After: v, Low: v / before, High: v / before, P: 1 / float64(len(level)+1)}
	if before == 0 {
		c.Low, c.High = math.NaN(), math.NaN()
	}
	return c, true
}

// median is the median of a list that is not empty, which it leaves as it is.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Trend is a figure that moves steadily towards a limit.
type Trend struct {
	Since   int     // the first point that shows it
	Nightly float64 // by which the figure is multiplied each night
	Nights  int     // from the last point until it crosses the limit, by extrapolation
	P       float64 // that noise alone would look like this
}

// lengths are the numbers of nights over which a trend is looked for.
var lengths = []int{6, 8, 12, 20, 30, 60}

// horizon is how many nights ahead a crossing is worth a word.
const horizon = 60

// FindTrend finds a trend of the last points of a series, if the last of all has not reached limit. It is a line through the logarithms: the test of its
// slope is that of least squares with the variance inflated for the correlation of nights (0.5) and joined with
// the noise of the nights before, or Prior; besides, Kendall's rank
// correlation with time has to be at least 0.8, which no single outlier gives, and a line has to fit better than one step does. The shortest
// sure trend counts.
func FindTrend(points []Point, limit float64, o Options) (Trend, bool) {
	o = o.filled()
	n := len(points)
	if n == 0 || points[n-1].Value >= limit {
		return Trend{}, false
	}
	for _, length := range lengths {
		if length > n {
			break
		}
		y := o.values(points[n-length:])
		x := make([]float64, length)
		for i := range x {
			x[i] = float64(i)
		}
		if rank(y) < 0.8 {
			continue
		}
		a, b := stat.LinearRegression(x, y, nil, false)
		rest := 0.0
		for i := range y {
			d := y[i] - a - b*x[i]
			rest += d * d
		}
		if b <= 0 || rest >= step(y) {
			continue
		}
		noise := carried{o.Prior, 2}
		if l, ok := o.level(points[max(n-length-most, 0):n-length], noise); ok {
			noise = carried{l.sd, min(l.free, 10)}
		}
		free := float64(length) - 2 + noise.weight
		variance := inflation(float64(length), 0.5) * (rest + noise.weight*noise.sd*noise.sd) / free
		spread := stat.Variance(x, nil) * float64(length-1)
		p := distuv.StudentsT{Sigma: 1, Nu: free}.Survival(b / math.Sqrt(variance/spread))
		nights := math.Ceil((math.Log(limit) - a - b*x[length-1]) / b)
		if p < o.Alarms/float64(o.Series)/float64(len(lengths)) && nights <= horizon {
			return Trend{Since: n - length, Nightly: math.Exp(b), Nights: max(int(nights), 1), P: p}, true
		}
	}
	return Trend{}, false
}

// rank is Kendall's tau of a list with its order.
func rank(y []float64) float64 {
	s := 0
	for i := range y {
		for _, later := range y[i+1:] {
			switch {
			case later > y[i]:
				s++
			case later < y[i]:
				s--
			}
		}
	}
	return float64(s) / float64(len(y)*(len(y)-1)/2)
}

// step is the sum of squares that the best single step leaves.
func step(y []float64) float64 {
	best := math.Inf(1)
	for at := 1; at < len(y); at++ {
		sum := 0.0
		for _, part := range [][]float64{y[:at], y[at:]} {
			m := stat.Mean(part, nil)
			for _, v := range part {
				sum += (v - m) * (v - m)
			}
		}
		best = min(best, sum)
	}
	return best
}
