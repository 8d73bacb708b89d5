package audioop

import (
	"math/bits"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// companding adds the two laws of ITU-T G.711, which put a sample into 8 bits: a sign, three bits for the octave and four for where in it.
func (m *module) companding() {
	law := func(name string, encode func(v int32) byte, decode func(b byte) int32) {
		m.def("lin2"+name, "", func(_ *clinic.Call, s sound) (vm.Object, error) {
			out := make([]byte, s.len())
			for i := range out {
				out[i] = encode(s.wide(i))
			}
			return vm.Bytes(out), nil
		})
		clinic.Def(m.Module, name+"2lin", "fragment:bytes, width:int, /", func(c *clinic.Call) (vm.Object, error) {
			w, err := m.width(c, 1)
			if err != nil {
				return nil, err
			}
			out := sound{make([]byte, len(c.Bytes(0))*w), w}
			for i, b := range c.Bytes(0) {
				out.putWide(i, decode(b)<<16)
			}
			return vm.Bytes(out.data), nil
		})
	}
	law("ulaw", toMuLaw, fromMuLaw)
	law("alaw", toALaw, fromALaw)
}

// muBias is added to samples of 14 bits, so that each octave is as wide as all below it together.
const muBias = 33

// toMuLaw encodes by the 14 highest bits.
func toMuLaw(v int32) byte {
	v >>= 18
	sign := byte(0xff)
	if v < 0 {
		v, sign = -v, 0x7f
	}
	v = min(v+muBias, 0x1fff)
	octave := bits.Len32(uint32(v)) - 6
	return (byte(octave)<<4 | byte(v>>(octave+1))&0xf) ^ sign
}

// fromMuLaw decodes to 16 bits.
func fromMuLaw(b byte) int32 {
	b = ^b
	v := (int32(b&0xf)<<3+4*muBias)<<(b>>4&7) - 4*muBias
	if b&0x80 != 0 {
		return -v
	}
	return v
}

// toALaw encodes by the 13 highest bits.
func toALaw(v int32) byte {
	v >>= 19
	mask := byte(0xd5)
	if v < 0 {
		v, mask = ^v, 0x55
	}
	octave := max(bits.Len32(uint32(v))-5, 0)
	return (byte(octave)<<4 | byte(v>>max(octave, 1))&0xf) ^ mask
}

// fromALaw decodes to 16 bits.
func fromALaw(b byte) int32 {
	b ^= 0x55
	v := int32(b&0xf)<<4 + 8
	if octave := b >> 4 & 7; octave > 0 {
		v = (v + 0x100) << (octave - 1)
	}
	if b&0x80 == 0 {
		return -v
	}
	return v
}
