package pydatetime

import (
	"fmt"
	"math"
	"math/big"

	"whittle/capture/python/vm"
)

const maxDays = 999999999

// delta is a duration: seconds from 0 to a day, microseconds from 0 to a second, and days of either sign.
type delta struct{ days, secs, micros int }

var (
	million  = big.NewInt(1000000)
	dayMicro = big.NewInt(daySeconds * 1000000)
)

// big is the duration in microseconds.
func (d delta) big() *big.Int {
	n := new(big.Int).Mul(big.NewInt(int64(d.days)), dayMicro)
	return n.Add(n, big.NewInt(int64(d.secs)*1000000+int64(d.micros)))
}

// small is the duration in microseconds, which is less than some thousands of years.
func (d delta) small() int64 {
	return (int64(d.days)*daySeconds+int64(d.secs))*1000000 + int64(d.micros)
}

func (d delta) isZero() bool { return d == delta{} }

func (d delta) cmp(o delta) int {
	for _, p := range [][2]int{{d.days, o.days}, {d.secs, o.secs}, {d.micros, o.micros}} {
		if p[0] != p[1] {
			return map[bool]int{true: -1, false: 1}[p[0] < p[1]]
		}
	}
	return 0
}

// normal is a duration whose parts are in their ranges.
func normal(days, secs, micros int) delta {
	s, us := floorDiv(micros, 1000000)
	dd, ss := floorDiv(secs+s, daySeconds)
	return delta{days + dd, ss, us}
}

// floorDiv is Python's divmod by a positive number.
func floorDiv(a, b int) (q, r int) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

func (d delta) add(o delta, sign int) delta {
	return normal(d.days+sign*o.days, d.secs+sign*o.secs, d.micros+sign*o.micros)
}

// fromMicros is a duration of any number of microseconds.
func fromMicros(in *vm.Interp, n *big.Int) (delta, error) {
	rest := new(big.Int)
	days, rest := new(big.Int).DivMod(n, dayMicro, rest)
	if !days.IsInt64() || days.Int64() != int64(int32(days.Int64())) {
		return delta{}, in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C int")
	}
	us := rest.Int64()
	d := delta{int(days.Int64()), int(us / 1000000), int(us % 1000000)}
	return d, d.check(in)
}

func (d delta) check(in *vm.Interp) error {
	if d.days < -maxDays || d.days > maxDays {
		return in.Errorf(in.Exc.OverflowError, "days=%d; must have magnitude <= %d", d.days, maxDays)
	}
	return nil
}

func (m *module) newDelta(d delta) *vm.Instance { return vm.NewInstance(m.delta, &d) }

// giveDelta is the result of arithmetic.
func (m *module) giveDelta(in *vm.Interp, d delta) (vm.Object, error) {
	if err := d.check(in); err != nil {
		return nil, err
	}
	return m.newDelta(d), nil
}

func (m *module) giveMicros(in *vm.Interp, n *big.Int) (vm.Object, error) {
	d, err := fromMicros(in, n)
	if err != nil {
		return nil, err
	}
	return m.newDelta(d), nil
}

// units are the constructor's parameters and how many microseconds each counts for, in the order in which they are added up.
var units = []struct {
	name  string
	param int
	size  int64
}{{"microseconds", 2, 1}, {"milliseconds", 3, 1000}, {"seconds", 1, 1e6}, {"minutes", 4, 60e6}, {"hours", 5, 3600e6}, {"days", 0, daySeconds * 1e6}, {"weeks", 6, 7 * daySeconds * 1e6}}

// sum adds up a constructor's arguments. What floats leave of a microsecond is rounded once, at the end.
func (m *module) sum(in *vm.Interp, a []vm.Object) (delta, error) {
	total, rest := new(big.Int), 0.0
	for _, u := range units {
		v := a[u.param]
		if v == nil {
			continue
		}
		if n, ok := vm.AsBig(v); ok {
			total.Add(total, new(big.Int).Mul(n, big.NewInt(u.size)))
			continue
		}
		f, ok := vm.AsFloat(v)
		if !ok || !isFloat(v) {
			return delta{}, typeIs(in, "unsupported type for timedelta %s component: %s", u.name, vm.TypeName(v))
		}
		whole, frac := math.Modf(f)
		n, err := floatInt(in, whole)
		if err != nil {
			return delta{}, err
		}
		total.Add(total, n.Mul(n, big.NewInt(u.size)))
		if frac != 0 {
			whole, frac = math.Modf(float64(u.size) * frac)
			total.Add(total, big.NewInt(int64(whole)))
			rest += frac
		}
	}
	if rest != 0 {
		near := math.Round(rest)
		if math.Abs(near-rest) == 0.5 { // to even, of the whole sum
			odd := float64(total.Bit(0))
			near = 2*math.Round((rest+odd)*0.5) - odd
		}
		total.Add(total, big.NewInt(int64(near)))
	}
	return fromMicros(in, total)
}

func isFloat(o vm.Object) bool {
	if i, ok := o.(*vm.Instance); ok {
		_, ok = i.Native.(vm.Float)
		return ok
	}
	_, ok := o.(vm.Float)
	return ok
}

// floatInt is int(f).
func floatInt(in *vm.Interp, f float64) (*big.Int, error) {
	switch {
	case math.IsNaN(f):
		return nil, in.Errorf(in.Exc.ValueError, "cannot convert float NaN to integer")
	case math.IsInf(f, 0):
		return nil, in.Errorf(in.Exc.OverflowError, "cannot convert float infinity to integer")
	}
	n, _ := big.NewFloat(f).Int(nil)
	return n, nil
}

// nearest is a/b, rounded to the nearest integer, to the even one of two.
func nearest(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	twice := new(big.Int).Abs(r)
	twice.Lsh(twice, 1)
	if c := twice.CmpAbs(b); c > 0 || c == 0 && q.Bit(0) == 1 {
		if (a.Sign() < 0) == (b.Sign() < 0) {
			return q.Add(q, big.NewInt(1))
		}
		return q.Sub(q, big.NewInt(1))
	}
	return q
}

func floorBig(a, b *big.Int) (q, r *big.Int) {
	q, r = new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() != 0 && (r.Sign() < 0) != (b.Sign() < 0) {
		q.Sub(q, big.NewInt(1))
		r.Add(r, b)
	}
	return q, r
}

// deltaClass describes timedelta.
func (m *module) deltaClass() *class {
	c := newClass("timedelta", "Difference between two datetime values.\n\ntimedelta(days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0)\n\n"+
		"All arguments are optional and default to 0.\nArguments may be integers or floats, and may be positive or negative.")
	p := vm.NewParams("__new__", "days=nil, seconds=nil, microseconds=nil, milliseconds=nil, minutes=nil, hours=nil, weeks=nil")
	c.New = func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		d, err := m.sum(in, a)
		if err != nil {
			return nil, err
		}
		return vm.NewInstance(cls, &d), nil
	}
	c.get("days", func(o vm.Object) vm.Object { return integer(must[delta](o).days) })
	c.get("seconds", func(o vm.Object) vm.Object { return integer(must[delta](o).secs) })
	c.get("microseconds", func(o vm.Object) vm.Object { return integer(must[delta](o).micros) })
	c.compare(func(_ *vm.Interp, self, o vm.Object, op string) (vm.Object, error) {
		d, ok := native[delta](o)
		if !ok {
			return vm.NotImplemented, nil
		}
		return ordered(op, must[delta](self).cmp(*d)), nil
	})
	state := func(d *delta) *vm.Tuple { return vm.NewTuple(integer(d.days), integer(d.secs), integer(d.micros)) }
	c.op("__hash__", 0, func(in *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		return hashOf(in, state(must[delta](o)))
	})
	c.op("__reduce__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.NewTuple(o.Type(), state(must[delta](o))), nil
	})
	c.op("__bool__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.MakeBool(!must[delta](o).isZero()), nil
	})
	c.op("__str__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.Str(must[delta](o).text()), nil
	})
	c.op("__repr__", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		return vm.Str(m.name(o) + "(" + must[delta](o).args() + ")"), nil
	})
	c.op("total_seconds", 0, func(_ *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
		f, _ := new(big.Rat).SetFrac(must[delta](o).big(), million).Float64()
		return vm.Float(f), nil
	})
	m.deltaSums(c)
	m.deltaProducts(c)
	return c
}

// text is str(d).
func (d *delta) text() string {
	s := fmt.Sprintf("%d:%02d:%02d", d.secs/3600, d.secs/60%60, d.secs%60)
	if d.micros != 0 {
		s += fmt.Sprintf(".%06d", d.micros)
	}
	switch d.days {
	case 0:
		return s
	case 1, -1:
		return fmt.Sprintf("%d day, %s", d.days, s)
	}
	return fmt.Sprintf("%d days, %s", d.days, s)
}

// args are the arguments in a repr.
func (d *delta) args() string {
	s := ""
	for _, p := range []struct {
		name string
		n    int
	}{{"days", d.days}, {"seconds", d.secs}, {"microseconds", d.micros}} {
		if p.n != 0 {
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("%s=%d", p.name, p.n)
		}
	}
	if s == "" {
		return "0"
	}
	return s
}

// deltaSums are the operations between durations that keep their unit.
func (m *module) deltaSums(c *class) {
	pair := func(f func(in *vm.Interp, a, b delta) (vm.Object, error)) (there, back method) {
		run := func(in *vm.Interp, x, y vm.Object) (vm.Object, error) {
			a, ok := native[delta](x)
			b, ok2 := native[delta](y)
			if !ok || !ok2 {
				return vm.NotImplemented, nil
			}
			return f(in, *a, *b)
		}
		return func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) { return run(in, self, a[0]) },
			func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) { return run(in, a[0], self) }
	}
	add := func(name string, f func(in *vm.Interp, a, b delta) (vm.Object, error)) {
		there, back := pair(f)
		c.op("__"+name+"__", 1, there)
		c.op("__r"+name+"__", 1, back)
	}
	add("add", func(in *vm.Interp, a, b delta) (vm.Object, error) { return m.giveDelta(in, a.add(b, 1)) })
	add("sub", func(in *vm.Interp, a, b delta) (vm.Object, error) { return m.giveDelta(in, a.add(b, -1)) })
	zero := func(in *vm.Interp, b delta) error {
		if b.isZero() {
			return in.Errorf(in.Exc.ZeroDivisionError, "integer division or modulo by zero")
		}
		return nil
	}
	add("mod", func(in *vm.Interp, a, b delta) (vm.Object, error) {
		if err := zero(in, b); err != nil {
			return nil, err
		}
		_, r := floorBig(a.big(), b.big())
		return m.giveMicros(in, r)
	})
	add("divmod", func(in *vm.Interp, a, b delta) (vm.Object, error) {
		if err := zero(in, b); err != nil {
			return nil, err
		}
		q, r := floorBig(a.big(), b.big())
		d, err := m.giveMicros(in, r)
		return vm.NewTuple(vm.MakeBig(q), d), err
	})
	sign := func(name string, f func(d delta) int) {
		c.op(name, 0, func(in *vm.Interp, o vm.Object, _ []vm.Object) (vm.Object, error) {
			d := *must[delta](o)
			return m.giveDelta(in, delta{}.add(d, f(d)))
		})
	}
	sign("__neg__", func(delta) int { return -1 })
	sign("__pos__", func(delta) int { return 1 })
	sign("__abs__", func(d delta) int { return map[bool]int{true: -1, false: 1}[d.days < 0] })
}

// deltaProducts are multiplication and division.
func (m *module) deltaProducts(c *class) {
	// ratio is a float as a fraction.
	ratio := func(in *vm.Interp, v vm.Object) (*big.Int, *big.Int, error) {
		r, err := in.CallMethod(v, "as_integer_ratio")
		if err != nil {
			return nil, nil, err
		}
		t, ok := vm.AsTuple(r)
		if !ok {
			return nil, nil, typeIs(in, "unexpected return type from as_integer_ratio(): expected tuple, got '%s'", vm.TypeName(r))
		}
		if len(t.Items) != 2 {
			return nil, nil, in.Errorf(in.Exc.ValueError, "as_integer_ratio() must return a 2-tuple")
		}
		n, err := in.IndexBig(t.Items[0])
		if err != nil {
			return nil, nil, err
		}
		d, err := in.IndexBig(t.Items[1])
		return n, d, err
	}
	mul := func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		us := must[delta](self).big()
		if n, ok := vm.AsBig(a[0]); ok {
			return m.giveMicros(in, us.Mul(us, n))
		}
		if !isFloat(a[0]) {
			return vm.NotImplemented, nil
		}
		n, d, err := ratio(in, a[0])
		if err != nil {
			return nil, err
		}
		return m.giveMicros(in, nearest(us.Mul(us, n), d))
	}
	c.op("__mul__", 1, mul)
	c.op("__rmul__", 1, mul)
	floordiv := func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		d, isDelta := native[delta](a[0])
		n, isInt := vm.AsBig(a[0])
		if isDelta {
			n = d.big()
		} else if !isInt {
			return vm.NotImplemented, nil
		}
		if n.Sign() == 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "integer division or modulo by zero")
		}
		q, _ := floorBig(must[delta](self).big(), n)
		if isDelta {
			return vm.MakeBig(q), nil
		}
		return m.giveMicros(in, q)
	}
	c.op("__floordiv__", 1, floordiv)
	c.op("__rfloordiv__", 1, swapped(floordiv))
	truediv := func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		us := must[delta](self).big()
		if d, ok := native[delta](a[0]); ok {
			return in.BinaryOp("/", vm.MakeBig(us), vm.MakeBig(d.big()))
		}
		num, den := new(big.Int), big.NewInt(1)
		if n, ok := vm.AsBig(a[0]); ok {
			num = n
		} else if isFloat(a[0]) {
			var err error
			if num, den, err = ratio(in, a[0]); err != nil {
				return nil, err
			}
		} else {
			return vm.NotImplemented, nil
		}
		if num.Sign() == 0 {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "integer division or modulo by zero")
		}
		if den.Sign() < 0 {
			num, den = new(big.Int).Neg(num), new(big.Int).Neg(den)
		}
		return m.giveMicros(in, nearest(us.Mul(us, den), num))
	}
	c.op("__truediv__", 1, truediv)
	c.op("__rtruediv__", 1, swapped(truediv))
}

// swapped is an operator with its operands exchanged: what is on the left has to be a timedelta.
func swapped(op func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error)) func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
	return func(in *vm.Interp, self vm.Object, a []vm.Object) (vm.Object, error) {
		if _, ok := native[delta](a[0]); !ok {
			return vm.NotImplemented, nil
		}
		return op(in, a[0], []vm.Object{self})
	}
}
