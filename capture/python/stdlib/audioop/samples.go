package audioop

import (
	"math"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// sound is a fragment as its samples of a width in bytes, in the machine's order: the lowest byte first.
type sound struct {
	data  []byte
	width int
}

func (s sound) len() int { return len(s.data) / s.width }

// at is a sample.
func (s sound) at(i int) int32 {
	b := s.data[i*s.width:]
	switch s.width {
	case 1:
		return int32(int8(b[0]))
	case 2:
		return int32(int16(uint16(b[0]) | uint16(b[1])<<8))
	case 3:
		return int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24) >> 8
	default:
		return int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	}
}

// put sets a sample, by its lowest bits.
func (s sound) put(i int, v int32) {
	for k := range s.width {
		s.data[i*s.width+k] = byte(v >> (8 * k))
	}
}

// wide is a sample as one of 32 bits that is as loud.
func (s sound) wide(i int) int32 { return s.at(i) << (32 - 8*s.width) }

// putWide sets a sample to one that is as loud as one of 32 bits.
func (s sound) putWide(i int, v int32) { s.put(i, v>>(32-8*s.width)) }

// make makes silence of n samples as wide.
func (s sound) make(n int) sound { return sound{make([]byte, n*s.width), s.width} }

// least and most bound the samples.
func (s sound) least() float64 { return -float64(uint32(1) << (8*s.width - 1)) }
func (s sound) most() float64  { return -s.least() - 1 }

// bound is a sample for a number that may be too large, or lie between two.
func (s sound) bound(v float64) int32 {
	switch {
	case v > s.most():
		v = s.most()
	case v < s.least()+1:
		v = s.least()
	case math.IsNaN(v):
		return math.MinInt32 // as the processor converts it
	}
	return int32(math.Floor(v))
}

// module is audioop.
type module struct {
	*vm.Module
	err *vm.Type
}

// fail raises audioop.error.
func (m *module) fail(c *clinic.Call, text string) error { return c.Errorf(m.err, "%s", text) }

// width reads a width of samples.
func (m *module) width(c *clinic.Call, i int) (int, error) {
	if w := c.Int(i); w >= 1 && w <= 4 {
		return int(w), nil
	}
	return 0, m.fail(c, "Size should be 1, 2, 3 or 4")
}

// sound reads a fragment, the first argument, and the width that follows it. It has whole frames of so many samples.
func (m *module) sound(c *clinic.Call, channels int) (sound, error) {
	w, err := m.width(c, 1)
	if err != nil {
		return sound{}, err
	}
	if len(c.Bytes(0))%(w*channels) != 0 {
		return sound{}, m.fail(c, "not a whole number of frames")
	}
	return sound{c.Bytes(0), w}, nil
}

// def adds a function of a fragment, a width and what rest names.
func (m *module) def(name, rest string, f func(c *clinic.Call, s sound) (vm.Object, error)) {
	clinic.Def(m.Module, name, "fragment:bytes, width:int, "+rest+"/", func(c *clinic.Call) (vm.Object, error) {
		s, err := m.sound(c, 1)
		if err != nil {
			return nil, err
		}
		return f(c, s)
	})
}

// each adds a function that makes one sample of each.
func (m *module) each(name, rest string, f func(c *clinic.Call, s sound) func(v int32) int32) {
	m.def(name, rest, func(c *clinic.Call, s sound) (vm.Object, error) {
		out, g := s.make(s.len()), f(c, s)
		for i := range s.len() {
			out.put(i, g(s.at(i)))
		}
		return vm.Bytes(out.data), nil
	})
}

// Module makes audioop.
func Module(in *vm.Interp) (*vm.Module, error) {
	m := &module{Module: in.NewModule("audioop", "")}
	var err error
	if m.err, err = in.MakeClass(vm.TypeType, "error", []*vm.Type{in.Exc.Exception}, vm.StrDict("__module__", vm.Str("audioop"))); err != nil {
		return nil, err
	}
	m.Set("error", m.err)
	m.measures()
	m.fits()
	m.changes()
	m.rates()
	m.companding()
	m.adpcm()
	return m.Module, nil
}
