package audioop

import (
	"math"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// apart is how far two samples are from each other.
func apart(a, b int32) int64 { return max(int64(a)-int64(b), int64(b)-int64(a)) }

// measures adds the functions that give a number for a fragment.
func (m *module) measures() {
	m.def("getsample", "index:int, ", func(c *clinic.Call, s sound) (vm.Object, error) {
		i := c.Int(2)
		if i < 0 || i >= int64(s.len()) {
			return nil, m.fail(c, "Index out of range")
		}
		return vm.MakeInt(int64(s.at(int(i)))), nil
	})
	number := func(name string, f func(s sound) int64) {
		m.def(name, "", func(_ *clinic.Call, s sound) (vm.Object, error) { return vm.MakeInt(f(s)), nil })
	}
	number("max", func(s sound) (most int64) {
		for i := range s.len() {
			most = max(most, apart(s.at(i), 0))
		}
		return most
	})
	number("avg", func(s sound) int64 {
		sum := 0.0
		for i := range s.len() {
			sum += float64(s.at(i))
		}
		return int64(math.Floor(sum / float64(max(s.len(), 1))))
	})
	number("rms", func(s sound) int64 {
		sum := 0.0
		for i := range s.len() {
			sum += float64(s.at(i)) * float64(s.at(i))
		}
		return int64(math.Sqrt(sum / float64(max(s.len(), 1))))
	})
	number("avgpp", func(s sound) int64 {
		sum, n := 0.0, 0
		s.swings(func(height int64) {
			sum += float64(height)
			n++
		})
		return int64(sum / float64(max(n, 1)))
	})
	number("maxpp", func(s sound) (most int64) {
		s.swings(func(height int64) { most = max(most, height) })
		return most
	})
	number("cross", func(s sound) int64 {
		n := int64(-1)
		for i := range s.len() {
			if i == 0 || (s.at(i) < 0) != (s.at(i-1) < 0) {
				n++
			}
		}
		return n
	})
	m.def("minmax", "", func(_ *clinic.Call, s sound) (vm.Object, error) {
		least, most := int32(math.MaxInt32), int32(math.MinInt32)
		for i := range s.len() {
			least, most = min(least, s.at(i)), max(most, s.at(i))
		}
		return vm.NewTuple(vm.MakeInt(int64(least)), vm.MakeInt(int64(most))), nil
	})
}

// swings calls f with the heights between the turning points that follow one another: where what rose begins to fall, or the other way round.
func (s sound) swings(f func(height int64)) {
	var last, turn int32
	turned, going := false, 0 // going is 1 up, -1 down
	for i := range s.len() {
		v := s.at(i)
		if i > 0 && v != last {
			now := 1
			if v < last {
				now = -1
			}
			if going == -now {
				if turned {
					f(apart(last, turn))
				}
				turned, turn = true, last
			}
			going = now
		}
		last = v
	}
}

// product is the sum of the products of n samples of a, from i on, and those of b.
func product(a sound, i int, b sound, n int) (sum float64) {
	for k := range n {
		sum += float64(a.at(i+k)) * float64(b.at(k))
	}
	return sum
}

// fits adds the functions that look for a fragment of two-byte samples in another.
func (m *module) fits() {
	pairs := func(c *clinic.Call, odd string, args ...int) ([]sound, error) {
		var out []sound
		for _, i := range args {
			if len(c.Bytes(i))%2 != 0 {
				return nil, m.fail(c, odd)
			}
			out = append(out, sound{c.Bytes(i), 2})
		}
		return out, nil
	}
	const odd = "Strings should be even-sized"
	clinic.Def(m.Module, "findfit", "fragment:bytes, reference:bytes, /", func(c *clinic.Call) (vm.Object, error) {
		x, err := pairs(c, odd, 0, 1)
		if err != nil {
			return nil, err
		}
		a, r := x[0], x[1]
		n := r.len()
		if a.len() < n {
			return nil, m.fail(c, "First sample should be longer")
		}
		// The distance that the best factor leaves, which is least where the two fit.
		rr, aa := product(r, 0, r, n), product(a, 0, a, n)
		distance := func(ar float64) float64 { return (rr*aa - ar*ar) / aa }
		least, best := distance(product(a, 0, r, n)), 0
		for j := 1; j <= a.len()-n; j++ {
			in, out := float64(a.at(j+n-1)), float64(a.at(j-1))
			aa += in*in - out*out
			if d := distance(product(a, j, r, n)); d < least {
				least, best = d, j
			}
		}
		return vm.NewTuple(vm.MakeInt(int64(best)), vm.Float(product(a, best, r, n)/rr)), nil
	})
	clinic.Def(m.Module, "findfactor", "fragment:bytes, reference:bytes, /", func(c *clinic.Call) (vm.Object, error) {
		x, err := pairs(c, odd, 0, 1)
		if err != nil {
			return nil, err
		}
		a, r := x[0], x[1]
		if a.len() != r.len() {
			return nil, m.fail(c, "Samples should be same size")
		}
		return vm.Float(product(a, 0, r, r.len()) / product(r, 0, r, r.len())), nil
	})
	clinic.Def(m.Module, "findmax", "fragment:bytes, length:int, /", func(c *clinic.Call) (vm.Object, error) {
		x, err := pairs(c, odd, 0)
		if err != nil {
			return nil, err
		}
		a, n := x[0], c.Int(1)
		if n < 0 || n > int64(a.len()) {
			return nil, m.fail(c, "Input sample should be longer")
		}
		power := product(a, 0, a, int(n))
		most, best := power, 0
		for j := 1; j <= a.len()-int(n); j++ {
			in, out := float64(a.at(j+int(n)-1)), float64(a.at(j-1))
			power += in*in - out*out
			if power > most {
				most, best = power, j
			}
		}
		return vm.MakeInt(int64(best)), nil
	})
}
