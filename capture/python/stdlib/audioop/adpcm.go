package audioop

import (
	"math"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// The tables of the IMA's Recommended Practices for Enhancing Digital Audio Compatibility in Multimedia Systems (1992): how far a code of
// three bits moves the place among the steps, and the steps.
var (
	indexSteps = [8]int{-1, -1, -1, -1, 2, 4, 6, 8}
	stepSizes  = [89]int32{
		7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143, 157, 173,
		190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066,
		2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818,
		18500, 20350, 22385, 24623, 27086, 29794, 32767,
	}
)

// predictor is the state of the encoding: the value that is expected, and the place among the steps.
type predictor struct {
	value int32
	index int
}

// state reads the third argument; None is the beginning.
func (p *predictor) state(c *clinic.Call) error {
	if c.None(2) {
		return nil
	}
	t, ok := vm.AsTuple(c.Args[2])
	if !ok {
		return c.Errorf(c.Exc.TypeError, "state must be a tuple or None")
	}
	if len(t.Items) != 2 {
		return c.Errorf(c.Exc.TypeError, "function takes exactly 2 arguments (%d given)", len(t.Items))
	}
	value, err := c.Index(t.Items[0])
	if err != nil {
		return err
	}
	index, err := c.Index(t.Items[1])
	if err != nil {
		return err
	}
	if value < math.MinInt16 || value > math.MaxInt16 || index < 0 || index >= int64(len(stepSizes)) {
		return c.Errorf(c.Exc.ValueError, "bad state")
	}
	p.value, p.index = int32(value), int(index)
	return nil
}

func (p *predictor) object() vm.Object {
	return vm.NewTuple(vm.MakeInt(int64(p.value)), vm.MakeInt(int64(p.index)))
}

// take goes on by a code: three bits that say how far the value moves, in steps, halves and quarters, and one for down.
func (p *predictor) take(code byte) {
	step := stepSizes[p.index]
	move := step >> 3
	for k := range 3 {
		if code&(4>>k) != 0 {
			move += step >> k
		}
	}
	if code&8 != 0 {
		move = -move
	}
	p.value = min(max(p.value+move, math.MinInt16), math.MaxInt16)
	p.index = min(max(p.index+indexSteps[code&7], 0), len(stepSizes)-1)
}

// encode gives the code of a sample, and goes on by it.
func (p *predictor) encode(v int32) byte {
	code, left, step := byte(0), v-p.value, stepSizes[p.index]
	if left < 0 {
		code, left = 8, -left
	}
	for k := range 3 {
		if left >= step>>k {
			code |= 4 >> k
			left -= step >> k
		}
	}
	p.take(code)
	return code
}

// adpcm adds the functions of the encoding that puts the change from one sample to the next into four bits.
func (m *module) adpcm() {
	m.def("lin2adpcm", "state, ", func(c *clinic.Call, s sound) (vm.Object, error) {
		var p predictor
		if err := p.state(c); err != nil {
			return nil, err
		}
		out := make([]byte, s.len()/2)
		for i := range s.len() {
			code := p.encode(s.wide(i) >> 16)
			if i/2 < len(out) {
				out[i/2] = out[i/2]<<4 | code
			}
		}
		return vm.NewTuple(vm.Bytes(out), p.object()), nil
	})
	clinic.Def(m.Module, "adpcm2lin", "fragment:bytes, width:int, state, /", func(c *clinic.Call) (vm.Object, error) {
		w, err := m.width(c, 1)
		if err != nil {
			return nil, err
		}
		var p predictor
		if err := p.state(c); err != nil {
			return nil, err
		}
		in := c.Bytes(0)
		out := sound{make([]byte, 2*len(in)*w), w}
		for i := range 2 * len(in) {
			code := in[i/2] >> 4
			if i%2 == 1 {
				code = in[i/2] & 0xf
			}
			p.take(code)
			out.putWide(i, p.value<<16)
		}
		return vm.NewTuple(vm.Bytes(out.data), p.object()), nil
	})
}
