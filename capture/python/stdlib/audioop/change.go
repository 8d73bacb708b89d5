package audioop

import (
	"math"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// changes adds the functions that make a fragment of one or two.
func (m *module) changes() {
	m.each("mul", "factor:float, ", func(c *clinic.Call, s sound) func(v int32) int32 {
		return func(v int32) int32 { return s.bound(float64(v) * c.Float(2)) }
	})
	m.each("bias", "bias:int, ", func(c *clinic.Call, _ sound) func(v int32) int32 {
		return func(v int32) int32 { return v + int32(c.Int(2)) } // it wraps
	})
	m.def("reverse", "", func(_ *clinic.Call, s sound) (vm.Object, error) {
		out := s.make(s.len())
		for i := range s.len() {
			out.put(s.len()-1-i, s.at(i))
		}
		return vm.Bytes(out.data), nil
	})
	m.def("byteswap", "", func(_ *clinic.Call, s sound) (vm.Object, error) {
		out := s.make(s.len())
		for i := range s.data {
			out.data[i] = s.data[i/s.width*s.width+s.width-1-i%s.width]
		}
		return vm.Bytes(out.data), nil
	})
	clinic.Def(m.Module, "tomono", "fragment:bytes, width:int, lfactor:float, rfactor:float, /", func(c *clinic.Call) (vm.Object, error) {
		s, err := m.sound(c, 2)
		if err != nil {
			return nil, err
		}
		out := s.make(s.len() / 2)
		for i := range out.len() {
			out.put(i, s.bound(float64(s.at(2*i))*c.Float(2)+float64(s.at(2*i+1))*c.Float(3)))
		}
		return vm.Bytes(out.data), nil
	})
	m.def("tostereo", "lfactor:float, rfactor:float, ", func(c *clinic.Call, s sound) (vm.Object, error) {
		out := s.make(2 * s.len())
		for i := range s.len() {
			out.put(2*i, s.bound(float64(s.at(i))*c.Float(2)))
			out.put(2*i+1, s.bound(float64(s.at(i))*c.Float(3)))
		}
		return vm.Bytes(out.data), nil
	})
	clinic.Def(m.Module, "add", "fragment1:bytes, fragment2:bytes, width:int, /", func(c *clinic.Call) (vm.Object, error) {
		w, err := m.width(c, 2)
		if err != nil {
			return nil, err
		}
		a, b := sound{c.Bytes(0), w}, sound{c.Bytes(1), w}
		if len(a.data)%w != 0 {
			return nil, m.fail(c, "not a whole number of frames")
		}
		if len(a.data) != len(b.data) {
			return nil, m.fail(c, "Lengths should be the same")
		}
		out := a.make(a.len())
		for i := range a.len() {
			out.put(i, a.bound(float64(a.at(i))+float64(b.at(i))))
		}
		return vm.Bytes(out.data), nil
	})
	m.def("lin2lin", "newwidth:int, ", func(c *clinic.Call, s sound) (vm.Object, error) {
		w, err := m.width(c, 2)
		if err != nil {
			return nil, err
		}
		out := sound{make([]byte, s.len()*w), w}
		for i := range s.len() {
			out.putWide(i, s.wide(i))
		}
		return vm.Bytes(out.data), nil
	})
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// heard is what a conversion of rates knows of a channel: the two samples between which it is.
type heard struct{ before, now int32 }

// conversion is a conversion of rates.
type conversion struct {
	*module
	in, out  int64 // rates, without a common factor
	ahead    int64 // how much of the time between the two samples, which is as long as out, the next one that goes out lies before the end
	channels []heard
}

// rates adds ratecv.
func (m *module) rates() {
	const params = "fragment:bytes, width:int, nchannels:int, inrate:int, outrate:int, state, weightA:int=1, weightB:int=0, /"
	clinic.Def(m.Module, "ratecv", params, func(c *clinic.Call) (vm.Object, error) {
		width, err := m.width(c, 1)
		if err != nil {
			return nil, err
		}
		n, a, b := c.Int(2), c.Int(6), c.Int(7)
		switch {
		case n < 1:
			return nil, m.fail(c, "# of channels should be >= 1")
		case int64(width) > math.MaxInt32/n:
			return nil, c.Errorf(c.Exc.OverflowError, "width * nchannels too big for a C int")
		case a < 1 || b < 0:
			return nil, m.fail(c, "weightA should be >= 1, weightB should be >= 0")
		case int64(len(c.Bytes(0)))%(int64(width)*n) != 0:
			return nil, m.fail(c, "not a whole number of frames")
		case c.Int(3) <= 0 || c.Int(4) <= 0:
			return nil, m.fail(c, "sampling rate not > 0")
		}
		d := gcd(c.Int(3), c.Int(4))
		r := &conversion{module: m, in: c.Int(3) / d, out: c.Int(4) / d, channels: make([]heard, n)}
		if err := r.resume(c, c.Args[5]); err != nil {
			return nil, err
		}
		out := r.convert(sound{c.Bytes(0), width}, float64(a), float64(b))
		pairs := make([]vm.Object, n)
		for i, h := range r.channels {
			pairs[i] = vm.NewTuple(vm.MakeInt(int64(h.before)), vm.MakeInt(int64(h.now)))
		}
		return vm.NewTuple(vm.Bytes(out), vm.NewTuple(vm.MakeInt(r.ahead), vm.NewTuple(pairs...))), nil
	})
}

// resume takes the state of the fragment before up; None is the beginning.
func (r *conversion) resume(c *clinic.Call, state vm.Object) error {
	if state == vm.None {
		r.ahead = -r.out
		return nil
	}
	t, ok := vm.AsTuple(state)
	if !ok {
		return c.Errorf(c.Exc.TypeError, "state must be a tuple or None")
	}
	illegal := func() error { return c.Errorf(c.Exc.TypeError, "ratecv(): illegal state argument") }
	if len(t.Items) != 2 {
		return illegal()
	}
	ahead, err := c.Index(t.Items[0])
	if err != nil {
		return err
	}
	pairs, ok := vm.AsTuple(t.Items[1])
	if !ok {
		return illegal()
	}
	if len(pairs.Items) != len(r.channels) {
		return r.fail(c, "illegal state argument")
	}
	r.ahead = ahead
	for i, p := range pairs.Items {
		pair, ok := vm.AsTuple(p)
		if !ok || len(pair.Items) != 2 {
			return illegal()
		}
		for k, v := range []*int32{&r.channels[i].before, &r.channels[i].now} {
			x, err := c.Index(pair.Items[k])
			if err != nil {
				return err
			}
			*v = int32(x)
		}
	}
	return nil
}

// convert gives the samples at the new rate that lie before the last that came in. Each that comes in is weighted by a, and the one before by b.
func (r *conversion) convert(s sound, a, b float64) []byte {
	var out []byte
	one := s.make(1)
	for i := 0; ; {
		for r.ahead < 0 {
			if i == s.len() {
				return out
			}
			for k := range r.channels {
				h := &r.channels[k]
				h.before, h.now = h.now, s.wide(i+k)
				h.now = int32((a*float64(h.now) + b*float64(h.before)) / (a + b))
			}
			i += len(r.channels)
			r.ahead += r.out
		}
		for r.ahead >= 0 {
			for _, h := range r.channels {
				v := (float64(h.before)*float64(r.ahead) + float64(h.now)*(float64(r.out)-float64(r.ahead))) / float64(r.out)
				one.putWide(0, int32(v))
				out = append(out, one.data...)
			}
			r.ahead -= r.in
		}
	}
}
